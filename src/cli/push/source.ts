import { basename } from 'node:path'
import { usageError } from '../errors.ts'
import { readInput } from '../files/input.ts'
import { ApiError, type Client } from '../../client.ts'

/** @throws CommandError (usage) when the source of the push is missing or ambiguous. */
export function requireSource(
  files: readonly string[],
  flags: { watch: boolean; 'from-log': boolean },
): void {
  const wrong = (message: string) => usageError(message)
  if (flags.watch && files.includes('-'))
    throw wrong('--watch needs files. Standard input cannot be watched.')
  if (flags['from-log'] && files.length > 0) throw wrong('Pass files or --from-log, not both.')
  if (!flags['from-log'] && files.length === 0) throw wrong('FILE is missing. Pass files or --from-log.')
}

/**
 * Returns the external id for a file: its name.
 * @throws CommandError (usage) for standard input.
 */
export function idOf(file: string): string {
  if (file === '-') throw usageError('--id is missing. A check from standard input has no file name.')
  return basename(file).replace(/\.json$/i, '')
}

/** Makes a reader that keeps standard input, which can be read once, for repeated pushes. */
export function createInputReader() {
  let held: Promise<Buffer> | undefined
  return (file: string): Promise<Buffer> => (file === '-' ? (held ??= readInput('-')) : readInput(file))
}

/** Returns the simulator's report of a push; `null` at another service, or without the scope. */
export async function reportOf(client: Client, requestId: string) {
  try {
    return (await client.requests.get(requestId)).push
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
