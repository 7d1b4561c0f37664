import { withoutByteOrderMark } from './input.ts'
import { readFile, stat } from 'node:fs/promises'
import { Errors } from '@oclif/core'
import { usageError, CommandError } from '../errors.ts'
import { openOutput } from './output.ts'
import { variableOf } from '../../model/text/shell-command.ts'

/** Secrets that `--<name>-file` reads from a file, when a command has both flags. */
const secrets = ['api-key', 'read-key', 'secret', 'store-key'] as const

/** Limit of a secret's file, in bytes. */
const MOST_BYTES = 8_192

/**
 * Reads the secrets whose files the command line or the environment names; returns them as environment variables.
 * Other users can list arguments, and shells and debug output keep them; files and variables stay with their owner.
 * @throws CLIError when the secret itself is typed, too; CommandError when the file holds no secret.
 */
export async function secretsFromFiles(
  argv: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const read: Record<string, string> = {}
  for (const name of secrets) {
    const file = `${name}-file`
    if (!(name in flags) || !(file in flags)) continue
    const variable = variableOf(name)
    const [typed, typedFile] = [typedValue(argv, name), typedValue(argv, file)]
    if (typed !== undefined && typedFile !== undefined)
      throw new Errors.CLIError(`Pass --${name} or --${file}, not both.`)
    const isGiven = typed !== undefined || (environment[variable] ?? '') !== ''
    const path = typedFile ?? (isGiven ? '' : (environment[`${variable}_FILE`] ?? ''))
    if (path !== '')
      read[variable] = await readSecret(path, typedFile === undefined ? `${variable}_FILE` : `--${file}`)
  }
  return read
}

/**
 * Opens a file for a secret, readable by its owner alone. It is opened before the secret exists: a secret that is
 * shown once and cannot be written would be lost.
 * @throws CommandError when it cannot be written, or is a symbolic link to a file.
 */
export async function openSecretFile(file: string) {
  try {
    const isReplaced = await stat(file).then(
      (found) => found.isFile() && found.size > 0,
      () => false,
    )
    const draft = await openOutput(file, 0o600)
    return {
      /** True when the file has a text, which the secret replaces. */
      isReplaced,
      write: (secret: string) => draft.replace(`${secret}\n`),
      close: () => draft.discard(),
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('unwritable_file', `Cannot write ${file} (${code}). Choose another file.`)
  }
}

/** @throws CommandError (usage) for a secret of white space alone. */
export function requireSecret(secret: string | undefined): void {
  if (secret?.trim() === '') throw usageError('--secret must not be empty. Pass the signing secret, whsec_….')
}

/**
 * Returns the secret of a command that cannot work without one.
 * @throws CommandError (usage) when it is missing or of white space alone.
 */
export function givenSecret(secret: string | undefined): string {
  if (secret === undefined) throw noSecret()
  requireSecret(secret)
  return secret
}

/** Makes the error of a command that got no signing secret. */
export function noSecret(): CommandError {
  return usageError('No signing secret. Pass --secret-file FILE or --secret SECRET, or set TABWIRE_SECRET.')
}

/** Help of a flag that has two substitutes. */
export const SECRET_REQUIRED = 'One of --secret, --secret-file and TABWIRE_SECRET is required.'

/** Returns the value of a flag, `--flag VALUE` or `--flag=VALUE`. Words after `--` are operands. */
export function typedValue(argv: readonly string[], name: string): string | undefined {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  const at = words.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`))
  if (at === -1) return undefined
  const word = words[at] ?? ''
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : words[at + 1]
}

/** Reads the one line of a file. An error never repeats the content, which may be a secret with a typing mistake. */
async function readSecret(path: string, flag: string): Promise<string> {
  let text: string
  try {
    text = withoutByteOrderMark(await readFile(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw usageError(
      `${flag}: cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : (code ?? message)}.`,
    )
  }
  const line = text.replace(/\r?\n$/, '')
  if (/^[\x21-\x7e]+$/.test(line) && text.length <= MOST_BYTES) return line
  throw usageError(`${flag}: ${path} must contain only the secret, on one line of visible ASCII characters.`)
}
