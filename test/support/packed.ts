import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emptyDirectory, spawnProcess } from './cli.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Target of an entry of the exports: a file, or one for each condition. */
export type Target = string | { [condition: string]: Target }

export interface Manifest {
  name: string
  version: string
  exports: Record<string, Target>
  types: string
  typesVersions: { '*': Record<string, string[]> }
  dependencies: Record<string, string>
  peerDependencies?: Record<string, string>
}

export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
}

export interface Tarball {
  path: string
  /** Bytes of the compressed file. */
  size: number
  unpackedSize: number
  files: { path: string; size: number }[]
}

/** How npm is called: without a shell, Windows runs no scripts such as `npm.cmd`. */
const npm: [file: string, ...args: string[]] =
  process.platform === 'win32'
    ? [process.execPath, join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js')]
    : ['npm']

/** Packs what `npm run build` has built. */
export async function pack(): Promise<Tarball> {
  const to = await emptyDirectory()
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', to]
  const [file, ...words] = npm
  const { code, stdout, stderr } = await (await spawnProcess(file, [...words, ...args], { cwd: root })).ended
  if (code !== 0) throw new Error(`npm pack ended with ${code}:\n${stderr}`)
  const report = JSON.parse(stdout) as (Omit<Tarball, 'path'> & { filename: string })[]
  const [packed] = Array.isArray(report) ? report : Object.values<(typeof report)[number]>(report)
  if (packed === undefined) throw new Error(`npm pack told of no file:\n${stdout}`)
  return { ...packed, path: join(to, packed.filename) }
}

/**
 * A project with the packed package, and beside it what it declares and nothing else: a package that is used and not
 * declared is missing here, as it would be at its users'.
 */
export async function projectWith({ path }: Tarball): Promise<{ project: string; installed: string }> {
  const project = await emptyDirectory()
  const packages = join(project, 'node_modules')
  const installed = join(packages, 'tabwire')
  await mkdir(installed, { recursive: true })
  const { code } = await (
    await spawnProcess('tar', ['-xzf', path, '--strip-components=1'], { cwd: installed })
  ).ended
  if (code !== 0) throw new Error(`tar ended with ${code}.`)
  const { dependencies, peerDependencies = {} } = await readManifest(installed)
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    await mkdir(dirname(join(packages, name)), { recursive: true })
    await symlink(join(root, 'node_modules', name), join(packages, name), 'junction')
  }
  return { project, installed }
}
