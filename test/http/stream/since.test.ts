import { describe, expect, it } from 'vitest'
import type { AttemptMessage, StreamMessage } from '../../../src/client.ts'
import { readHistory } from '../../../src/http/stream/history.ts'
import { messagesOf } from '../../../src/http/stream/message.ts'
import { createPositions } from '../../../src/http/stream/position.ts'
import { createStream } from '../../../src/http/stream/stream.ts'
import { openRequestLog, requestEntry } from '../../support/request-log.ts'
import type { Delivery } from '../../../src/model/delivery.ts'
import { put, remove } from '../../../src/model/records.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import { errorOf, openReceiver, openSimulator, type TestSimulator } from '../../support/simulator.ts'

const BEGIN = new Date('2026-11-21T18:00:00.000Z')

/** Reads a stream from its beginning until `last` comes, and leaves. */
async function read(
  { client }: Pick<TestSimulator, 'client'>,
  since: Date,
  last: (message: StreamMessage) => boolean = ({ type }) => type === 'live',
  onOpen?: () => void,
): Promise<StreamMessage[]> {
  const leaving = new AbortController()
  const messages: StreamMessage[] = []
  for await (const message of client.stream(leaving.signal, onOpen, since)) {
    messages.push(message)
    if (last(message)) break
  }
  leaving.abort()
  return messages
}

const attemptsOf = (messages: readonly StreamMessage[]) =>
  messages.flatMap(({ type, data }) => (type === 'attempt' ? [data] : []))
const named = ({ external_check_id, attempt }: AttemptMessage) =>
  `${external_check_id ?? ''} ${attempt.number}`

async function open(clock: ManualClock = createManualClock()) {
  const simulator = await openSimulator({ clock })
  const receiver = await openReceiver(500)
  const { id } = await simulator.client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created'],
  })
  const happen = async (name: string) => {
    await simulator.push(name)
    await simulator.idle()
  }
  return { ...simulator, clock, receiver, endpoint: id, happen }
}

describe('the stream since a time', () => {
  it('sends past messages since then, oldest first, and then live', async () => {
    const { clock, happen, idle, ...simulator } = await open()
    await happen('a')
    clock.advance(30_000)
    await happen('b')
    clock.advance(30_000)
    await idle()
    clock.advance(30_000)
    await idle()
    const all = await read(simulator, BEGIN)
    expect(attemptsOf(all).map(named)).toEqual(['a 1', 'b 1', 'a 2', 'b 2'])
    expect(all.at(-1)).toEqual({ type: 'live', data: {} })
    const requests = all.flatMap(({ type, data }) => (type === 'request' ? [data.path] : []))
    expect(requests).toEqual(['/v1/webhook-endpoints', '/v1/checks/external/a', '/v1/checks/external/b'])
    const later = await read(simulator, new Date(BEGIN.getTime() + 30_000))
    expect(attemptsOf(later).map(named)).toEqual(['b 1', 'a 2', 'b 2'])
    expect(await read(simulator, new Date(clock.now().getTime() + 1))).toEqual([{ type: 'live', data: {} }])
  })

  it('sends each attempt with the state at that time: a retried one was pending, with its next attempt', async () => {
    const { clock, happen, idle, receiver, ...simulator } = await open()
    await happen('a')
    receiver.answer(200)
    clock.advance(60_000)
    await idle()
    const [first, second] = attemptsOf(await read(simulator, BEGIN))
    expect(first).toMatchObject({ status: 'pending', next_attempt_at: '2026-11-21T18:01:00.000Z' })
    expect(second).toMatchObject({ status: 'delivered', next_attempt_at: null, attempt: { number: 2 } })
    expect(first).not.toHaveProperty('attempts')
  })

  it('repeats and omits nothing while other records change', async () => {
    const { receiver, ...simulator } = await open()
    receiver.answer(200)
    for (let n = 0; n < 120; n++) await simulator.push(`before-${n}`)
    const pushes: Promise<unknown>[] = []
    const pushAll = (name: string) => {
      for (let n = 0; n < 60; n++) pushes.push(simulator.push(`${name}-${n}`))
    }
    pushAll('meanwhile')
    const seen = new Set<string>()
    const messages = await read(
      simulator,
      BEGIN,
      (message) => {
        for (const message_ of attemptsOf([message])) seen.add(named(message_))
        return seen.size === 240
      },
      () => pushAll('after'),
    )
    await Promise.all(pushes)
    const told = attemptsOf(messages).map(named)
    expect(told).toHaveLength(240)
    expect(new Set(told).size).toBe(240)
    expect(messages.filter(({ type }) => type === 'live')).toHaveLength(1)
  })

  it('sends deliveries that ended with their endpoint, live and later', async () => {
    const { clock, happen, receiver, ...simulator } = await open()
    await happen('a')
    receiver.answer('hang')
    const live = new AbortController()
    const stream = simulator.client.stream(live.signal, undefined, clock.now())
    const next = async (type: StreamMessage['type']): Promise<StreamMessage> => {
      const result = await stream.next()
      if (result.done === true) throw new Error('The stream has ended.')
      return result.value.type === type ? result.value : next(type)
    }
    await next('live')
    await simulator.client.endpoints.delete(simulator.endpoint)
    const told = await next('delivery')
    expect(told).toMatchObject({
      type: 'delivery',
      data: { external_check_id: 'a', status: 'dead', dead_reason: 'endpoint_disabled' },
    })
    expect((told.data as Delivery).attempts).toHaveLength(1)
    live.abort()
  })

  it('sends deliveries that died with a disabled endpoint after its last attempt', async () => {
    const clock = createManualClock()
    const simulator = await openSimulator({ clock, disableAfter: 2 })
    const receiver = await openReceiver(500)
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('a')
    await simulator.idle()
    clock.advance(1_000)
    await simulator.push('b')
    await simulator.idle()
    const messages = await read(simulator, new Date(BEGIN.getTime() + 1_000))
    const told = messages.flatMap(({ type, data }) =>
      type === 'attempt' || type === 'delivery' ? [`${type} ${(data as Delivery).external_check_id}`] : [],
    )
    expect(told).toEqual(['attempt b', 'delivery a', 'delivery b'])
  })

  it('refuses an invalid time', async () => {
    const simulator = await openSimulator()
    for (const since of ['yesterday', '5', '', '2026-13-01'])
      expect(errorOf(await simulator.call(`GET /_sim/stream?since=${since}`))).toMatchObject({
        code: 'invalid_query',
      })
  })

  it('contains everything stored, also for a slow subscriber', async () => {
    const deliveries = Array.from({ length: 2_500 }, (_, n) => delivery(`dlv_${n}`, 5))
    const stream = createStream(
      {
        onCommit: () => () => {},
        list: async () => ({ data: deliveries as never, more: false }),
        get: async () => undefined,
        find: async () => [],
        generation: () => 0,
        sequence: () => 0,
        committedAfter: async () => [],
      },
      openRequestLog(),
      { token: 'test', serviceName: 'Acme' },
    )
    const { body } = await stream.open({ since: BEGIN.toISOString() })
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let attempts = 0
    for (let text = ''; !text.startsWith('event: live\n');) {
      text = new TextDecoder().decode((await reader.read()).value)
      if (text.startsWith('event: attempt\n')) attempts += 1
    }
    expect(attempts).toBe(12_500)
    stream.close()
  })
})

describe('the history since a time', () => {
  const at = (second: number) => new Date(BEGIN.getTime() + second * 1_000).toISOString()
  const attempted = (id: string, second: number, changes: Partial<Delivery> = {}): Delivery => {
    const one = delivery(id, 1)
    return {
      ...one,
      attempts: one.attempts.map((attempt) => ({ ...attempt, started_at: at(second) })),
      ...changes,
    }
  }
  const retired = { status: 'dead', dead_reason: 'endpoint_disabled' } as const
  const request = (id: string, second: number) => requestEntry({ id, started_at: at(second) })
  /** Returns pages by the id before each of them. */
  const paged = <T>(pages: Readonly<Record<string, readonly T[]>>) => {
    const names = Object.keys(pages)
    const read = new Set<string>()
    return ({ after = 'first' }: { after?: string | undefined }) => {
      const data = pages[after]
      if (data === undefined || read.has(after)) throw new Error(`No further page after ${after}.`)
      read.add(after)
      return { data, more: after !== names.at(-1) }
    }
  }

  it('has all pages, oldest first, causes before effects, and deliveries that ended with their endpoint', async () => {
    const deliveries = paged({
      first: [attempted('d3', 3), attempted('d2', 2, { status: 'dead', dead_reason: 'exhausted' })],
      d2: [
        attempted('d5', 3),
        attempted('d4', 0, { ...retired, endpoint_id: 'we_2' }),
        attempted('d1', 1, retired),
      ],
    })
    const requests = paged({
      first: [request('r3', 4), request('r2', 2)],
      r2: [request('r1', 2), request('r0', 1)],
    })
    const disabledAt: Readonly<Record<string, string>> = { we_1: at(3), we_2: at(1) }
    const history = await readHistory(
      {
        service: {
          list: async (_collection: unknown, query: { after?: string | undefined }) => deliveries(query),
          get: async (_collection: unknown, id: string) => ({ disabled_at: disabledAt[id] }),
        } as never,
        log: { list: requests, get: () => undefined } as never,
      },
      at(2),
    )
    expect(history.map(({ key }) => key)).toEqual(['r1', 'r2', 'd2 1', 'd5 1', 'd3 1', 'd1 dead', 'r3'])
  })
})

it('a write has the message of a new event, an attempt or an end; other writes have none', () => {
  const [one, event] = [delivery('dlv_1', 2), { id: 'evt_1', body: '{}' }]
  const end = { ...put('deliveries', one), retires: true as const }
  expect(
    [
      put('events', event as never),
      put('deliveries', one),
      end as ReturnType<typeof put>,
      put('deliveries', delivery('dlv_2', 0)),
      put('keys', { id: 'key_1' } as never),
      remove('events', 'evt_1'),
      remove('deliveries', 'dlv_1'),
    ].map((write) => messagesOf(write).map(({ type, key }) => `${type} ${key}`)),
  ).toEqual([['event evt_1'], ['attempt dlv_1 2'], ['delivery dlv_1 dead'], [], [], [], []])
})

describe('the id of a message', () => {
  const positions = createPositions('box')
  const now = { generation: 2, sequence: 30, messages: 4, request: 5 }

  it('is read as the position that it was made of, and no other text is', () => {
    const id = positions.textOf(now)
    expect(positions.read(id)).toEqual(now)
    for (const text of [
      `${id}x`,
      `a ${id}`,
      `${id}:1`,
      id.replace('box', 'other'),
      'box',
      '',
      null,
      undefined,
    ])
      expect(positions.read(text)).toBeUndefined()
  })

  it.each([
    [{}, false],
    [{ generation: 3 }, true],
    [{ sequence: 31 }, true],
    [{ generation: 1, sequence: 29 }, false],
  ])('with %j instead is ahead: %s', (changes, isAhead) => {
    expect(positions.isAhead({ ...now, ...changes }, now)).toBe(isAhead)
  })
})

function delivery(id: string, attempts: number): Delivery {
  return {
    id,
    event_id: 'evt_1',
    event_type: 'check.created',
    endpoint_id: 'we_1',
    external_check_id: 'a',
    status: 'pending',
    attempts: Array.from({ length: attempts }, (_, index) => ({
      number: index + 1,
      started_at: BEGIN.toISOString(),
      duration_ms: 1,
      outcome: 'bad_status' as const,
      response_status: 500,
      response_body: null,
      error: null,
    })),
    next_attempt_at: BEGIN.toISOString(),
    dead_reason: null,
  }
}
