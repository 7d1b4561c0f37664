import { describe, expect, test } from 'vitest'
import { reconnecting } from '../../../src/cli/tail/reconnect.ts'
import { ApiError, createClient, Unreachable } from '../../../src/client.ts'

const client = createClient({ url: 'http://127.0.0.1:1' })
const refusal = new ApiError(401, { code: 'unauthorized', message: 'No.' }, null)
const gone = new Unreachable('Nobody.')

/** What is told when each look at the service ends like this, until the last of them. */
async function told(ends: readonly ('there' | Error)[]): Promise<unknown[]> {
  const over = new AbortController()
  const left = [...ends]
  const happenings: unknown[] = []
  const connections = reconnecting<object>({
    connect: async () => {
      const next = left.shift()
      if (left.length === 0) over.abort()
      if (next instanceof Error) throw next
      return client
    },
    async *messages(_client, again) {
      yield { again }
    },
    signal: over.signal,
  })
  try {
    for await (const happening of connections) happenings.push(happening)
  } catch (error) {
    happenings.push(error)
  }
  return happenings
}

describe('a command that follows a service', () => {
  test('ends when its first connection fails', async () => {
    expect(await told([gone, 'there'])).toEqual([gone])
    expect(await told([refusal, 'there'])).toEqual([refusal])
  })

  test('waits after a disconnect, reports it once, and continues after the reconnect', async () => {
    expect(await told(['there', gone, gone, 'there'])).toEqual([
      { again: false },
      { type: 'disconnected' },
      { again: true },
    ])
  })

  test('tries again when another or a starting service refuses the key', async () => {
    expect(await told(['there', refusal, 'there'])).toEqual([
      { again: false },
      { type: 'disconnected' },
      { again: true },
    ])
  })

  test('counts refusals in a row, without failed connections between them', async () => {
    const tries = Array.from({ length: 12 }, () => gone)
    expect(await told(['there', ...tries, refusal, 'there'])).toHaveLength(3)
    const refusals = Array.from({ length: 9 }, () => refusal)
    expect((await told(['there', ...refusals, 'there'])).at(-1)).toBe(refusal)
  })

  test('ends at once on any other error', async () => {
    const other = new ApiError(500, { code: 'internal_error', message: 'No.' }, null)
    expect(await told(['there', other, 'there'])).toEqual([{ again: false }, { type: 'disconnected' }, other])
  })
})
