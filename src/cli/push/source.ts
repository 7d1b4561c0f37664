import { basename } from 'node:path'
import { usageError } from '../errors.ts'
import { readInput } from '../files/input.ts'
import { ApiError, type Client } from '../../client.ts'
import type { SummarizedCheck } from '../render/push.ts'

/** @throws CommandError (usage) when the source of the push is missing or ambiguous. */
export function requireSource(
  files: readonly string[],
  flags: { watch: boolean; sample?: string | undefined; 'from-log': boolean },
): void {
  const sources = [files.length > 0, flags.sample !== undefined, flags['from-log']].filter(Boolean).length
  if (sources > 1) throw usageError('Pass one of: files, --sample, --from-log.')
  if (sources === 0) throw usageError('FILE is missing. Pass files, --sample two-top, or --from-log.')
  if (flags.watch && files.includes('-')) throw usageError('--watch cannot watch standard input. Pass files.')
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

/** A push, with its body where it need not be read from its file. */
interface PushSource {
  file: string
  id: string
  body: string | Uint8Array | undefined
}

/**
 * Replaces each file that holds a JSON array by the pushes in it. A file that cannot be read stays: the push of it fails, in
 * its turn.
 */
export async function withArrays(
  pushes: readonly PushSource[],
  read: (file: string) => Promise<Buffer>,
): Promise<PushSource[]> {
  const all = await Promise.all(
    pushes.map(async (push) => {
      const body = push.body ?? (await read(push.file).catch(() => undefined))
      const elements = body === undefined ? undefined : elementsIn(body)
      return elements?.map((element) => ({ ...push, body: JSON.stringify(element) })) ?? [push]
    }),
  )
  return all.flat()
}

/**
 * Returns the body of a push without `$schema`, which is for editors: a service may refuse unknown fields. Any other body
 * stays as it is, byte for byte.
 */
export function withoutSchema(body: string | Uint8Array): string | Uint8Array {
  const text = Buffer.from(body).toString()
  if (!text.includes('"$schema"')) return body
  try {
    const { $schema, ...push } = JSON.parse(text) as Record<string, unknown>
    return typeof $schema === 'string' ? JSON.stringify(push) : body
  } catch {
    return body
  }
}

/** Returns the elements of a JSON array; `undefined` for any other text, and for an empty array, which is no push. */
function elementsIn(body: string | Uint8Array): unknown[] | undefined {
  const text = Buffer.from(body).toString()
  if (!/^\s*\[/.test(text)) return undefined
  try {
    const json: unknown = JSON.parse(text)
    return Array.isArray(json) && json.length > 0 ? json : undefined
  } catch {
    return undefined
  }
}

/** Returns the part of a check that a summary shows, from its accepted body. */
export function sentCheck(external_id: string, body: string | Uint8Array): SummarizedCheck {
  const sent = JSON.parse(Buffer.from(body).toString()) as Omit<SummarizedCheck, 'external_id'>
  return { ...sent, external_id }
}

/** Returns the simulator's report of a push; `null` at another service, or without the scope. */
export async function reportOf(client: Client, requestId: string) {
  try {
    // Another service may have its own resource at this path.
    const { push } = await client.requests.get(requestId)
    return (push as typeof push | undefined) ?? null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
