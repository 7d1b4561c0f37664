import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { apiKeyPattern } from './model/api-key.ts'
import { writePrivateFile } from './private-file.ts'
import { ignoreInGit, makeDirectories, readWhenFree, removeWhenFree } from './replace-file.ts'

/** Default data directory, in the working directory (contract section 1). */
export const DEFAULT_DATA_DIRECTORY = '.tabwire'

/** `credentials.json`: the API key of the first start, which commands use (contract section 2). */
export interface Credentials {
  api_key: string
  /** Secret from which table addresses are derived; missing before the first start of a version that has them. */
  table_secret?: string
}

/**
 * `run.json`: the URL and process of the running service. `start` writes it and removes it at the end (contract section
 * 12).
 */
export interface Run {
  url: string
  pid: number
  /** Name of the machine or container of the process; earlier versions did not write it. */
  hostname?: string
  started_at: string
  /** Only for a service in memory, whose key is stored nowhere else. */
  api_key?: string
  /** The authority that issued the service's own certificate, when it runs on HTTPS; PEM. */
  ca?: string
}

/** Reads the credentials by {@link readJsonFile}, or by {@link readReplaceable} before new ones are written. */
export async function readCredentials(
  directory: string,
  read: typeof readJsonFile<Credentials> = readJsonFile,
): Promise<Credentials | undefined> {
  const found = await read(join(directory, 'credentials.json'))
  if (typeof found?.api_key !== 'string' || !apiKeyPattern.test(found.api_key)) return undefined
  const { api_key, table_secret } = found
  return typeof table_secret === 'string' && table_secret !== '' ? { api_key, table_secret } : { api_key }
}

export function writeCredentials(directory: string, credentials: Credentials): Promise<void> {
  return writePrivately(join(directory, 'credentials.json'), credentials)
}

export async function readRun(directory: string): Promise<Run | undefined> {
  const found = await readJsonFile<Run>(join(directory, 'run.json'))
  const whole =
    typeof found?.url === 'string' &&
    URL.canParse(found.url) &&
    Number.isInteger(found.pid) &&
    (found.api_key === undefined || apiKeyPattern.test(found.api_key))
  return whole ? (found as Run) : undefined
}

export function writeRun(directory: string, run: Run): Promise<void> {
  return writePrivately(join(directory, 'run.json'), run)
}

/** Removes the `run.json` of a process of this machine, unless a later service has replaced it. */
export async function removeRun(directory: string, pid: number): Promise<void> {
  const run = await readRun(directory)
  // Containers that share the directory may have equal process ids.
  if (run?.pid === pid && (run.hostname ?? hostname()) === hostname())
    await removeWhenFree(join(directory, 'run.json'))
}

/** Folder of saved states. */
export function statesDirectory(directory: string): string {
  return join(directory, 'states')
}

/** Returns the absolute path of the certificate of the local authority, PEM. */
export function authorityFile(directory: string): string {
  return resolve(directory, 'ca', 'ca.pem')
}

/** Creates the folder of saved states, private to its owner and ignored by git. */
export async function prepareStatesDirectory(directory: string): Promise<void> {
  await preparePrivately(statesDirectory(directory))
}

/** Reads a JSON file. A missing, unreadable or damaged file counts as absent. */
export function readJsonFile<T>(path: string): Promise<Partial<T> | null | undefined> {
  return readReplaceable<T>(path).catch(() => undefined)
}

/**
 * Reads a JSON file that its user replaces when it is missing or damaged.
 * @throws NodeJS.ErrnoException when the file cannot be read: its content may be in use.
 */
export async function readReplaceable<T>(path: string): Promise<Partial<T> | null | undefined> {
  const text = await readWhenFree(() => readFile(path, 'utf8')).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  })
  try {
    return JSON.parse(text) as Partial<T> | null
  } catch {
    return undefined
  }
}

/** Writes indented JSON that only its owner may read, completely or not at all, in a directory that git ignores. */
export async function writePrivately(path: string, content: object): Promise<void> {
  await preparePrivately(dirname(path))
  await writePrivateFile(path, `${JSON.stringify(content, null, 2)}\n`)
}

async function preparePrivately(directory: string): Promise<void> {
  await makeDirectories(directory, 0o700)
  await ignoreInGit(directory).catch(() => undefined)
}
