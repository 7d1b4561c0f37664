import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { openPrivateFile, writePrivateFile } from '../private-file.ts'
import { CommandError } from './failure.ts'
import { withVariables } from './env-text.ts'

/** What `--env-file` tells the application under test. No name is that of a flag but where the flag means the same. */
export interface EnvVariables {
  /** Of the service: what the commands take for `--url`. */
  TABWIRE_URL?: string
  /** Of the API, with `/v1`. */
  TABWIRE_BASE_URL?: string
  TABWIRE_API_KEY?: string
  TABWIRE_ENDPOINT_ID?: string
  TABWIRE_SIGNING_SECRET?: string
}

/** A new file holds secrets, so it is for its owner alone. */
const OWNER_ONLY = 0o600

/**
 * A `.env` file that is to get variables. That it can be written is tried before there is anything to write: a secret
 * that is shown once would be lost otherwise.
 * @throws CommandError when it cannot.
 */
export async function openEnvFile(file: string) {
  return telling(file, async () => {
    const path = await followed(file)
    const mode = await modeOf(path)
    await (await openPrivateFile(path)).discard()
    return {
      /** Replaces and adds these variables in one step; nobody sees half a file. */
      write: (variables: EnvVariables) =>
        telling(file, async () => {
          requireOneLine(file, variables)
          // Latin-1 gives back every byte, in whatever encoding the other lines are.
          const text = await readFile(path, 'latin1').catch(ifMissing(''))
          const bytes = Buffer.from(withVariables(text, inBytes(variables)), 'latin1')
          await writePrivateFile(path, bytes, { mode })
        }),
    }
  })
}

/** Where a link leads, when that is in its own folder: one that leads elsewhere may be of somebody else's choice. */
async function followed(file: string): Promise<string> {
  const [path, folder] = await Promise.all([
    realpath(file).catch(ifMissing(file)),
    realpath(dirname(file)).catch(ifMissing(dirname(file))),
  ])
  if (path === file || !relative(folder, path).startsWith('..')) return path
  throw Object.assign(new Error(), { code: 'a symbolic link out of its folder' })
}

async function modeOf(path: string): Promise<number> {
  const found = await stat(path).catch(ifMissing(undefined))
  if (found === undefined) return OWNER_ONLY
  if (found.isFile()) return found.mode & 0o777
  throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'no regular file' })
}

/** A line break in a value would be a line of its own, which shells and libraries may run or believe. */
function requireOneLine(file: string, variables: EnvVariables): void {
  for (const [name, value] of Object.entries(variables) as [string, string][])
    if (/\p{Cc}/u.test(value))
      throw new CommandError(
        'unwritable_value',
        `${name} is not written to ${file}, because its value has a control character.`,
      )
}

function inBytes(variables: EnvVariables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]: [string, string]) => [
      name,
      Buffer.from(value).toString('latin1'),
    ]),
  )
}

function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead
    throw error
  }
}

async function telling<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `${file} cannot be written (${code}). Choose another file.`)
  }
}
