import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildExecutable, fetchTools, packArchives, quietly } from './release/pack.js'
import { sha256Of, targets, writeChecksums } from './release/downloads.js'
import { writeInstallers } from './release/installers.js'

/*
 * Builds the downloads of a release on Linux, with GNU tar: `npm run release -- [--out DIRECTORY] [TARGET…]`. All of them
 * contain the file that npm would publish, with the dependencies of package-lock.json. Node.js and the tools come from npm,
 * with the versions and hashes of release/package-lock.json.
 */

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: 'release' } },
  allowPositionals: true,
})
const unknown = positionals.filter((name) => !(name in targets))
if (unknown.length > 0)
  throw new Error(`Unknown target ${unknown[0]}. Targets: ${Object.keys(targets).join(', ')}.`)
const wanted = positionals.length === 0 ? Object.keys(targets) : positionals

const out = resolve(values.out)
const cache = resolve('node_modules/.cache/tabwire-release')
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

const run = (command, args, options = {}) =>
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options })
const say = (text) => process.stdout.write(`${text}\n`)

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const tools = fetchTools(wanted, cache)
const packed = pack()
const program = layOut(packed)
for (const name of wanted) {
  const target = targets[name]
  const binary = target.single
    ? await buildExecutable({ target, program, tools, version, directory: join(cache, name) })
    : undefined
  const archive = await packArchives({
    name,
    target,
    binary,
    program,
    tools,
    version,
    out,
    directory: join(cache, name),
  })
  say(`${sha256Of(join(out, archive))}  ${archive}`)
}
writeInstallers({ out, version, names: wanted })
writeChecksums(out)
say(`Release ${version} is in ${out}.`)

/** Packs the file that npm would publish into the release, and returns its path. */
function pack() {
  run('npm', ['pack', '--silent', '--pack-destination', out])
  return join(out, `tabwire-${version}.tgz`)
}

/** Unpacks the file, adds its dependencies, and returns the directory. */
function layOut(file) {
  const directory = join(cache, 'program')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  run('tar', ['xzf', file, '--strip-components=1', '-C', directory])
  const manifest = readFileSync(join(directory, 'package.json'))
  // npm installs by the lock file of the repository, which is not in the packed file.
  const files = ['package.json', 'package-lock.json'].map((name) => ({
    name,
    content: JSON.parse(readFileSync(name, 'utf8')),
  }))
  addDriver(...files.map(({ content }) => content))
  for (const { name, content } of files) writeFileSync(join(directory, name), JSON.stringify(content))
  run('npm', ['ci', '--omit=dev', ...quietly], { cwd: directory })
  // Only declarations refer to zod. An executable starts slower with each file that it contains.
  rmSync(join(directory, 'node_modules/zod'), { recursive: true })
  rmSync(join(directory, 'package-lock.json'))
  rmSync(join(directory, 'node_modules/.package-lock.json'), { force: true })
  rmSync(join(directory, 'node_modules/.bin'), { recursive: true, force: true })
  writeFileSync(join(directory, 'package.json'), manifest)
  return directory
}

/**
 * Makes the driver of PostgreSQL, an optional peer package, a dependency: downloads carry it. Changes the contents of
 * package.json and package-lock.json.
 */
function addDriver(manifest, lock) {
  const { pg: range } = manifest.devDependencies
  for (const root of [manifest, lock.packages['']]) {
    root.dependencies.pg = range
    delete root.devDependencies.pg
    delete root.peerDependencies.pg
    delete root.peerDependenciesMeta.pg
  }
  const waiting = ['pg']
  for (const name of waiting) {
    const entry = lock.packages[`node_modules/${name}`]
    if (entry === undefined) throw new Error(`package-lock.json has no ${name}, which pg needs.`)
    delete entry.dev
    delete entry.peer
    const needed = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
    waiting.push(...needed.filter((one) => !waiting.includes(one)))
  }
}
