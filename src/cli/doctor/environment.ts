import { existsSync, realpathSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { platform } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../package-file.ts'
import { CommandError } from '../errors.ts'
import { openEnvFile } from '../files/env-file.ts'
import { formatTime } from '../../model/text/time.ts'
import { isTabwire } from '../running-service.ts'
import { checkAuthority } from './authority.ts'
import { finding, type Environment, type DoctorFinding } from './finding.ts'
import { diagnoseReceiver } from './receiver.ts'

type Check = (around: Environment) => DoctorFinding | Promise<DoctorFinding> | AsyncIterable<DoctorFinding>

/** Checks, in the order of the report. */
const checks: readonly Check[] = [
  // A version that is too old ends in bin/run.js.
  () => ({ check: 'node', level: 'good', message: `Node.js ${process.versions.node}.` }),
  () => checkInstallation(),
  checkPort,
  checkClock,
  checkEnvFile,
  checkAuthority,
  diagnoseReceiver,
]

/** Checks everything around the data directory. Changes nothing. */
export async function checkEnvironment(around: Environment): Promise<DoctorFinding[]> {
  const found: DoctorFinding[] = []
  for (const check of checks) {
    const result = await check(around)
    if (Symbol.asyncIterator in result) for await (const one of result) found.push(one)
    else found.push(result)
  }
  return found
}

type Where = Pick<Environment, 'host' | 'port'>

/** Checks that `tabwire start` can listen on its port; explains why not. */
export async function checkPort({ host, port, tryPort, running }: Environment): Promise<DoctorFinding> {
  if (running !== undefined)
    return finding('port', 'good', `Tabwire runs here at ${running.url} (pid ${running.pid}) and answers.`)
  const refused = await tryPort({ host, port }).then(
    () => false,
    () => true,
  )
  if (refused) return finding('port', 'bad', await reasonOf({ host, port }), ADVICE)
  return finding(
    'port',
    'good',
    port === 0 ? `A port on ${host} is free.` : `Port ${port} on ${host} is free.`,
  )
}

const ADVICE = 'Choose another with --port (0 = any free port), or another address with --host.'

async function reasonOf(where: Where): Promise<string> {
  const { host, port } = where
  const code = await whyNotFree(where)
  if (code === undefined) return `Browsers block port ${port}, so \`tabwire start\` does not use it.`
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is in use by ${await whoHas(where)}.`
  if (code === 'EACCES')
    return platform() === 'win32'
      ? `Windows has reserved port ${port} on ${host}.`
      : `Port ${port} on ${host} needs more permissions than this user has.`
  if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `Cannot resolve ${host} (${code}).`
  return `Port ${port} on ${host} cannot be opened (${code}).`
}

/** Returns the system's error code for a port that cannot be opened, else `undefined`. */
export function whyNotFree({ host, port }: Where): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function whoHas({ host, port }: Where): Promise<string> {
  const name = host.includes(':') ? `[${host}]` : host
  return (await isTabwire(`http://${name}:${port}`)) ? 'another Tabwire' : 'another program'
}

/** Tolerance for rounding by file systems and for small differences between machines, in milliseconds. */
const TOLERANCE_MS = 60_000

/**
 * Checks the clock against the newest file here: offline there is no other reference. A clock that is ahead cannot be
 * detected in this way, and the message says so.
 */
export async function checkClock({ directory, now }: Environment): Promise<DoctorFinding> {
  const time = `${formatTime(now.toISOString())} UTC`
  const newest = await newestIn(directory)
  if (newest !== undefined && newest.at.getTime() > now.getTime() + TOLERANCE_MS)
    return {
      check: 'clock',
      level: 'note',
      message: `The clock of this machine shows ${time}, but ${newest.name} was written at ${formatTime(newest.at.toISOString())}. The clock is behind now, or was ahead then.`,
      advice: 'Set the clock by NTP. Signatures contain its time, and receivers refuse a wrong time.',
    }
  const compared =
    newest === undefined
      ? 'No file here to compare it with.'
      : 'No file here is more than a minute newer. Whether it is ahead cannot be checked offline.'
  return { check: 'clock', level: 'good', message: `The clock of this machine shows ${time}. ${compared}` }
}

/** Returns the newest file of the data directory. */
async function newestIn(directory: string): Promise<{ name: string; at: Date } | undefined> {
  const names = await readdir(directory).catch((): string[] => [])
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(directory, name)).catch(() => undefined))?.mtime,
    })),
  )
  return files
    .flatMap(({ name, at }) => (at === undefined ? [] : [{ name, at }]))
    .sort((one, other) => other.at.getTime() - one.at.getTime())[0]
}

/** Checks that a start can write the file of `--dotenv`. */
async function* checkEnvFile({ envFile }: Environment): AsyncGenerator<DoctorFinding, void> {
  if (envFile === undefined) return
  try {
    await openEnvFile(envFile)
    yield { check: 'env file', level: 'good', message: `${envFile} is writable.` }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    yield { check: 'env file', level: 'bad', message: error.message }
  }
}

/** Facts from which the way of installation is derived. Paths have the separators of the system. */
interface Installation {
  /** Folder of the package. */
  program: string
  /** File of Node.js, or of the single executable. */
  executable: string
  isSingle: boolean
  /** True in the container image, which sets TABWIRE_IMAGE. */
  isImage: boolean
}

/** Says how Tabwire was installed, and how to update it. */
export function checkInstallation(installation: Installation = thisInstallation()): DoctorFinding {
  const [way, update] = wayOf(installation)
  return { check: 'installation', level: 'good', message: `Tabwire is installed ${way}. Update: ${update}.` }
}

function thisInstallation(): Installation {
  return {
    program: fileURLToPath(packageFile('.')),
    // With the case and the target of links, as Node.js gives the program.
    executable: realpathSync.native(process.execPath),
    isSingle: isSea(),
    // Elsewhere, Compose reads the name of an image from this variable.
    isImage: process.env.TABWIRE_IMAGE === '1',
  }
}

/** Returns the way of installation and the command that updates it. */
function wayOf({ program, executable, isSingle, isImage }: Installation): [way: string, update: string] {
  if (isImage) return ['as a container image', 'pull a newer tag']
  const folder = slashed(program).replace(/\/$/, '')
  const file = slashed(executable)
  const isDownload = isSingle || file === `${dirname(folder)}/node`
  if (isDownload && file.includes('/Cellar/')) return ['by Homebrew', '`brew upgrade tabwire`']
  if (isDownload && /\/scoop\/apps\//i.test(file)) return ['by Scoop', '`scoop update tabwire`']
  if (isDownload && /\/winget\/packages\//i.test(file))
    return ['by winget', '`winget upgrade Tabwire.Tabwire`']
  if (isDownload) return [`as a download, ${executable}`, 'run the install script of a newer release']
  if (folder.includes('/_npx/')) return ['by npx, for this run', '`npx tabwire@latest`']
  if (folder.includes('/pnpm/dlx')) return ['by pnpm, for this run', '`pnpm dlx tabwire@latest`']
  // pnpm and Yarn have folders of their own in the project, in which packages have a node_modules each.
  const [project = '', ...below] = folder.split(/\/(?:node_modules|\.pnpm|\.yarn)\//)
  if (below.length === 0) return [`as a clone in ${program}`, '`git pull && npm ci`']
  const globally = globalManager(project, file)
  if (globally !== undefined)
    return [`by ${globally}, globally`, `\`${updateCommands[globally].global} tabwire@latest\``]
  const manager = projectManager(project, folder)
  return [
    `in the project ${project.replaceAll('/', sep)}`,
    `\`${updateCommands[manager].project} tabwire@latest\` there`,
  ]
}

const updateCommands = {
  npm: { global: 'npm install --global', project: 'npm install --save-dev' },
  pnpm: { global: 'pnpm add --global', project: 'pnpm add --save-dev' },
  yarn: { global: 'yarn global add', project: 'yarn add --dev' },
  bun: { global: 'bun add --global', project: 'bun add --dev' },
} as const
type Manager = keyof typeof updateCommands

/** Returns the package manager whose global folder this is, by its usual place; `undefined` for a project. */
function globalManager(parent: string, executable: string): Manager | undefined {
  if (/\/global\/\d+$/.test(parent)) return 'pnpm'
  if (/\/yarn\/(?:data\/)?global$/i.test(parent)) return 'yarn'
  if (parent.endsWith('/.bun/install/global')) return 'bun'
  // npm's is the folder lib of its prefix; on Windows it is beside Node.js or below the user's data.
  const isPrefix = parent.endsWith('/lib') && !existsSync(`${parent}/package.json`)
  if (isPrefix || parent === dirname(executable) || /\/AppData\/Roaming\/npm$/i.test(parent)) return 'npm'
  return undefined
}

/** Returns the package manager of a project, by its folders and lock files. */
function projectManager(project: string, folder: string): Manager {
  const has = (file: string) => existsSync(`${project}/${file}`)
  if (folder.includes('/.pnpm/')) return 'pnpm'
  if (folder.includes('/.yarn/') || has('yarn.lock')) return 'yarn'
  return has('bun.lock') || has('bun.lockb') ? 'bun' : 'npm'
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/')
}
