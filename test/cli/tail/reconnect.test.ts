import { describe, expect, test } from 'vitest'
import { reconnecting } from '../../../src/cli/tail/reconnect.ts'
import { ApiError, createClient, Unreachable } from '../../../src/client.ts'

const client = createClient({ url: 'http://127.0.0.1:1' })
const refusal = new ApiError(401, { code: 'unauthorized', message: 'No.' }, null)
const gone = new Unreachable('Unreachable.')

/** Returns the messages, and the error, if any, when the connections end like this. */
async function followed(ends: readonly ('there' | Error)[]): Promise<unknown[]> {
  const over = new AbortController()
  const left = [...ends]
  const messages: unknown[] = []
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
    wait: { first: 0, longest: 0 },
  })
  try {
    for await (const message of connections) messages.push(message)
  } catch (error) {
    messages.push(error)
  }
  return messages
}

describe('a command that follows a service', () => {
  test('ends when its first connection fails', async () => {
    expect(await followed([gone, 'there'])).toEqual([gone])
    expect(await followed([refusal, 'there'])).toEqual([refusal])
  })

  test('waits after a disconnect, reports it once, and continues after the reconnect', async () => {
    expect(await followed(['there', gone, gone, 'there'])).toEqual([
      { again: false },
      { type: 'disconnected' },
      { again: true },
    ])
  })

  test('tries again when another or a starting service refuses the key', async () => {
    expect(await followed(['there', refusal, 'there'])).toEqual([
      { again: false },
      { type: 'disconnected' },
      { again: true },
    ])
  })

  test('counts refusals in a row, without failed connections between them', async () => {
    const tries = Array.from({ length: 12 }, () => gone)
    expect(await followed(['there', ...tries, refusal, 'there'])).toHaveLength(3)
    const refusals = Array.from({ length: 9 }, () => refusal)
    expect((await followed(['there', ...refusals, 'there'])).at(-1)).toBe(refusal)
    const some = refusals.slice(0, 5)
    expect((await followed(['there', ...some, 'there', ...some, 'there'])).at(-1)).toEqual({ again: true })
  })

  test.each([
    [502, {}],
    [504, {}],
    [429, { code: 'rate_limited' }],
    [404, {}],
    [503, { code: 'shutting_down' }],
  ])('waits as long as a proxy answers %s for it', async (status, body) => {
    const away = Array.from({ length: 20 }, () => new ApiError(status, body, null))
    expect((await followed(['there', ...away, 'there'])).at(-1)).toEqual({ again: true })
  })

  test('ends at once on any other error', async () => {
    const other = new ApiError(500, { code: 'internal_error', message: 'No.' }, null)
    for (const error of [other, new TypeError('A bug.')])
      expect(await followed(['there', error, 'there'])).toEqual([
        { again: false },
        { type: 'disconnected' },
        error,
      ])
  })
})
