import { describe, expect, test } from 'vitest'
import { watch } from '../../src/cli/tail/watch.ts'
import { listenTo } from '../../src/cli/listen/session.ts'
import { ApiError, type Client, type StreamMessage, type StreamOptions } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { waitForDeliveries } from '../../src/assertions/wait.ts'

const time = '2026-11-21T18:00:00.000Z'
const attempt = {
  number: 1,
  started_at: time,
  duration_ms: 1,
  outcome: 'succeeded',
  response_status: 200,
  response_body: null,
  error: null,
} as const
const delivery: Delivery = {
  id: 'dlv_1',
  event_id: 'evt_1',
  event_type: 'check.created',
  endpoint_id: 'we_1',
  external_check_id: 'a',
  status: 'delivered',
  attempts: [attempt],
  next_attempt_at: null,
  dead_reason: null,
}
/** The next delivery, at the same time of a paused clock. */
const following: Delivery = { ...delivery, id: 'dlv_2', external_check_id: 'b' }
const { attempts: _attempts, ...rest } = delivery
const message: StreamMessage = { type: 'attempt', data: { ...rest, attempt } }
const dropped: StreamMessage = { type: 'dropped', data: { count: 1 } }
const live: StreamMessage = { type: 'live', data: {} }

/** A client whose streams tell these messages, one after the other, and whose list has deliveries from the second look on. */
function clientOf(streams: StreamMessage[][], stored = [delivery]) {
  const asked: StreamOptions['since'][] = []
  let looks = 0
  const look = () => (looks++ === 0 ? [] : stored)
  const client = {
    clock: { show: async () => ({ now: time, frozen: false, offset_ms: 0 }) },
    request: async () => ({
      json: { data: [{ id: 'we_1', url: 'https://localhost:1/' }], next_cursor: null },
    }),
    deliveries: {
      list: async () => ({ data: look(), next_cursor: null }),
      all: async function* () {
        yield* look()
      },
      get: async () => delivery,
    },
    stream: async function* ({ onOpen, since }: StreamOptions) {
      asked.push(since)
      onOpen?.()
      yield* streams.shift() ?? []
    },
  }
  return { client: client as unknown as Client, asked }
}

describe('messages that the service dropped are recovered', () => {
  test('by waiting for deliveries, which reads the list again', async () => {
    const { client } = clientOf([[dropped]])
    const wanted = { status: 'delivered', count: 1, exactly: false, none: false } as const
    const verdict = await waitForDeliveries(client, wanted, AbortSignal.timeout(10_000))
    expect(verdict).toMatchObject({ ok: true, deliveries: [{ id: 'dlv_1' }] })
  })

  test('by tail, which reads the deliveries stored since its newest message', async () => {
    const { client, asked } = clientOf([
      [live, dropped],
      [message, live, message],
    ])
    const { signal } = new AbortController()
    const told = []
    for await (const one of watch({
      connect: async () => client,
      signal,
      since: undefined,
      reconnect: false,
    }))
      told.push(one)
    expect(told).toEqual([{ type: 'listening' }, message])
    expect(asked).toEqual([new Date('2026-11-21T17:59:00.000Z'), new Date('2026-11-21T17:59:00.000Z')])
  })

  test('by listen, which reads the deliveries of its endpoints and prints the oldest first', async () => {
    const { client } = clientOf([[dropped]], [following, delivery])
    const ending = new AbortController()
    const routes = [{ url: 'https://localhost:1/', target: { url: '', events: [] } }] as never
    const told = []
    for await (const one of listenTo({
      connect: async () => client,
      tunnel: { routes },
      secret: '',
      signal: ending.signal,
    })) {
      told.push(one.type === 'attempt' ? one.data.external_check_id : one.type)
      if (told.length === 3) ending.abort()
    }
    expect(told).toEqual(['ready', 'a', 'b'])
  })
})

test('a listen that may not register its endpoints closes its stream', async () => {
  const opened: (AbortSignal | undefined)[] = []
  const refuse = async () => {
    throw new ApiError(503, { code: 'shutting_down', message: '' }, null, '/_sim/webhook-endpoints')
  }
  const client = {
    async *stream({ onOpen, signal }: StreamOptions) {
      opened.push(signal)
      onOpen?.()
      yield live
    },
    request: refuse,
    endpoints: { list: refuse },
  } as unknown as Client
  const routes = [{ url: 'https://localhost:1/', target: { url: '', events: [] } }] as never
  const { signal } = new AbortController()
  const listening = listenTo({ connect: async () => client, tunnel: { routes }, secret: '', signal })
  await expect(listening.next()).rejects.toThrow(ApiError)
  expect(opened.map((one) => one?.aborted)).toEqual([true])
})
