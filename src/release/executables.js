import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { builder } from './downloads.js'

/** Declarations and source maps, which nothing reads at run time. */
const unread = /\.(map|d\.[cm]?ts)$/

/** Builds one executable file from Node.js and the program, and returns its path. */
export async function buildExecutable({ target, program, tools, version, directory }) {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const isWindows = target.node.endsWith('.exe')
  let executable = join(tools, target.node)
  if (isWindows) executable = await renamed(executable, tools, version, join(directory, 'node.exe'))
  const main = join(directory, 'main.mjs')
  writeFileSync(main, "import './bin/run.js'\n")
  const output = join(directory, isWindows ? 'tabwire.exe' : 'tabwire')
  const configuration = join(directory, 'configuration.json')
  const settings = {
    main,
    mainFormat: 'module',
    executable,
    output,
    disableExperimentalSEAWarning: true,
    useVfs: true,
    // NODE_OPTIONS is for the user's own Node.js; this one may not know its options.
    execArgvExtension: 'none',
    assets: filesOf(program),
  }
  writeFileSync(configuration, JSON.stringify(settings))
  execFileSync(join(tools, builder), ['--build-sea', configuration], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return output
}

/** Returns the files of a directory by their path below it, with slashes. */
function filesOf(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !unread.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(files.toSorted().map((file) => [file.slice(directory.length + 1), file]))
}

/**
 * Writes a copy of an executable for Windows that says what it is, and returns its path. The signature of Node.js is taken
 * off: with other contents it would be invalid.
 */
async function renamed(executable, tools, version, copy) {
  const { NtExecutable, NtExecutableResource, Resource } = await import(
    pathToFileURL(join(tools, 'resedit/dist/index.js')).href
  )
  const program = NtExecutable.from(readFileSync(executable), { ignoreCert: true })
  const resources = NtExecutableResource.from(program)
  const [information] = Resource.VersionInfo.fromEntries(resources.entries)
  for (const language of information.getAllLanguagesForStringValues())
    information.setStringValues(language, {
      ProductName: 'Tabwire',
      FileDescription: 'Tabwire: a local restaurant table-payment service',
      CompanyName: 'Tabwire',
      InternalName: 'tabwire',
      OriginalFilename: 'tabwire.exe',
      LegalCopyright: 'MIT; Node.js: its contributors, MIT',
      FileVersion: version,
      ProductVersion: version,
    })
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number)
  information.setFileVersion(major, minor, patch, 0)
  information.setProductVersion(major, minor, patch, 0)
  information.outputToResourceEntries(resources.entries)
  resources.outputResource(program)
  writeFileSync(copy, Buffer.from(program.generate()))
  return copy
}
