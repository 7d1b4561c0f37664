import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { openPrivateFile, writePrivateFile } from '../../private-file.ts'
import { CommandError } from '../errors.ts'
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

/** A file that holds secrets is for its owner alone. */
const OWNER_ONLY = 0o600

const secrets = ['TABWIRE_API_KEY', 'TABWIRE_SIGNING_SECRET'] as const satisfies (keyof EnvVariables)[]

/**
 * A `.env` file that is to get variables. That it can be written is tried before there is anything to write: a secret
 * that is shown once would be lost otherwise.
 * @throws CommandError when it cannot.
 */
export async function openEnvFile(file: string) {
  return telling(file, async () => {
    const path = await followed(file)
    let mode = await modeOf(path)
    await (await openPrivateFile(path)).discard()
    return {
      /**
       * Replaces and adds these variables in one step; nobody sees half a file. With a secret among them, the file becomes
       * its owner's alone. Resolves with what to say about that, if it was not before.
       */
      write: (variables: EnvVariables): Promise<string | undefined> =>
        telling(file, async () => {
          requireOneLine(file, variables)
          const before = mode
          const holdsSecret = secrets.some((name) => variables[name] !== undefined)
          if (holdsSecret && (mode & 0o077) !== 0) mode = OWNER_ONLY
          // Latin-1 gives back every byte, in whatever encoding the other lines are.
          const text = await readFile(path, 'latin1').catch(ifMissing(''))
          const bytes = Buffer.from(withVariables(text, inBytes(variables)), 'latin1')
          await writePrivateFile(path, bytes, { mode })
          // Windows has no such modes.
          if (mode === before || process.platform === 'win32') return undefined
          return `${file} holds a secret now, so it is readable by you alone (mode ${octal(before)} → ${octal(mode)}).`
        }),
    }
  })
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
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
