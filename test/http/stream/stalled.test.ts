import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRequestLog } from '../../support/request-log.ts'
import type { RequestEntry } from '../../../src/http/request-context.ts'
import { createStream } from '../../../src/http/stream/stream.ts'
import { createSubscriber } from '../../../src/http/stream/subscriber.ts'
import { createTableStream } from '../../../src/http/guest-table/stream.ts'
import type { Check } from '../../../src/model/check.ts'
import { put } from '../../../src/model/records.ts'
import type { CommitListener } from '../../../src/store/store.ts'
import { check as storedCheck } from '../../store/records.ts'

const MIB = 2 ** 20
/** The buffer of one subscriber, plus one message. */
const MOST = 4 * MIB + 1.1 * MIB

type Source = Parameters<typeof createStream>[0]

/** A stream about a log and a store that the test fills. */
function openStream(get: Source['get'] = async () => undefined) {
  const log = openRequestLog()
  const listeners: CommitListener[] = []
  const stream = createStream(
    {
      onCommit: (listener) => {
        listeners.push(listener)
        return () => {}
      },
      list: async () => ({ data: [], more: false }),
      get,
      find: async () => [],
      generation: () => 0,
      sequence: () => 0,
      committedAfter: async () => [],
    },
    log,
    { token: 'test', serviceName: 'Acme' },
  )
  onTestFinished(() => stream.close())
  let number = 0
  return {
    stream,
    log,
    /** Makes a request whose message has this size in bytes. */
    ask(bytes = MIB) {
      log.add(entry(`req_${String(++number).padStart(6, '0')}`, bytes))
    },
    reset: () => listeners.forEach((listener) => listener([], 'replacement', 1)),
  }
}

function entry(id: string, bytes: number): RequestEntry {
  const about = {
    id,
    method: 'GET',
    path: '/v1/locations',
    status: 200,
    started_at: '2026-11-21T18:00:00.000Z',
  }
  return { ...about, duration_ms: 1, push: null, request_body: null, response_body: 'x'.repeat(bytes) }
}

interface Told {
  type: string
  data: { id?: string; count?: number }
  bytes: number
}

/** Reads the messages of a stream, without comments. */
function readerOf(body: unknown) {
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const next = async (): Promise<Told> => {
    const { value, done } = await reader.read()
    if (done) throw new Error('The stream has ended.')
    const text = new TextDecoder().decode(value)
    const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(text) ?? []
    return type === '' ? next() : { type, data: JSON.parse(data) as Told['data'], bytes: value.length }
  }
  const until = async (last: (told: Told) => boolean): Promise<Told[]> => {
    const all: Told[] = []
    for (;;) {
      const told = await next()
      all.push(told)
      if (last(told)) return all
    }
  }
  return { next, until }
}

const bytesOf = (all: readonly Told[]) => all.reduce((sum, { bytes }) => sum + bytes, 0)
const missedIn = (all: readonly Told[]) => all.reduce((sum, { data }) => sum + (data.count ?? 0), 0)

describe('a stalled subscriber of the stream', () => {
  it('has four MiB of messages buffered, and is told how many it missed', async () => {
    const { stream, ask } = openStream()
    const { body } = await stream.open()
    for (let n = 0; n < 100; n += 1) ask()
    const reader = readerOf(body)
    const told = await reader.until(({ type }) => type === 'dropped')
    const kept = told.filter(({ type }) => type === 'request')
    expect(bytesOf(kept)).toBeGreaterThan(3 * MIB)
    expect(bytesOf(kept)).toBeLessThan(MOST)
    expect(kept.length + missedIn(told)).toBe(100)
    expect(kept.map(({ data }) => data.id)).toEqual(
      kept.map((_, index) => `req_${String(index + 1).padStart(6, '0')}`),
    )
    ask()
    expect(await reader.next()).toMatchObject({ type: 'request', data: { id: 'req_000101' } })
  })

  it('is told once, in the right place, how many it missed', async () => {
    const { stream, ask } = openStream()
    const { body } = await stream.open()
    const reader = readerOf(body)
    for (let n = 0; n < 10; n += 1) ask()
    const first = await reader.until(({ type }) => type === 'dropped')
    for (let n = 0; n < 10; n += 1) ask()
    const second = await reader.until(({ type }) => type === 'dropped')
    for (const told of [first, second])
      expect(told.filter(({ type }) => type === 'request').length + missedIn(told)).toBe(10)
  })

  it('shares one encoding of a message with all others, and needs none while its buffer is full', async () => {
    const { stream, ask } = openStream()
    for (let n = 0; n < 20; n += 1) await stream.open()
    const encode = vi.spyOn(TextEncoder.prototype, 'encode')
    for (let n = 0; n < 30; n += 1) ask()
    expect(encode).toHaveBeenCalled()
    expect(encode.mock.calls.length).toBeLessThanOrEqual(5)
  })

  it('never misses the message of a replaced state', async () => {
    const { stream, ask, reset } = openStream()
    const { body } = await stream.open()
    for (let n = 0; n < 10; n += 1) ask()
    reset()
    for (let n = 0; n < 10; n += 1) ask()
    const told = await readerOf(body).until(({ type }) => type === 'dropped')
    expect(told.slice(-2)).toMatchObject([{ type: 'reset' }, { type: 'dropped', data: { count: 10 } }])
  })

  it('misses messages beyond four MiB while its history is read, and is told afterwards', async () => {
    const { stream, ask } = openStream()
    const opening = stream.open({ since: '2026-11-21T18:00:00.000Z' })
    for (let n = 0; n < 100; n += 1) ask(MIB / 2)
    const told = await readerOf((await opening).body).until(({ type }) => type === 'dropped')
    expect(told.map(({ type }) => type)).toContain('live')
    const ids = told.flatMap(({ data }) => data.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length + missedIn(told)).toBeGreaterThanOrEqual(100)
    expect(bytesOf(told)).toBeLessThan(32 * MIB)
  })

  it('has no bodies of its history buffered: requests that the log drops meanwhile are left out', async () => {
    const { stream, ask } = openStream()
    for (let n = 0; n < 15; n += 1) ask()
    const { body } = await stream.open({ since: '2026-11-21T18:00:00.000Z' })
    for (let n = 0; n < 15; n += 1) ask()
    const told = await readerOf(body).until(({ type }) => type === 'dropped')
    const before = told.slice(
      0,
      told.findIndex(({ type }) => type === 'live'),
    )
    expect(before.length).toBeLessThan(5)
    expect(before.length).toBeGreaterThan(0)
  })
})

describe('a stream that opens late', () => {
  /** Reads a stream to its end. */
  const textOf = async (body: unknown) => new Response(body as ReadableStream<Uint8Array>).text()

  it('ends at once while the service stops, so that the stop does not wait for it', async () => {
    const { stream } = openStream()
    stream.close()
    expect(await textOf((await stream.open()).body)).toMatch(/^: listening\n/)
  })

  it('ends at once when its key was revoked after the check of the key', async () => {
    const key = { id: 'key_1', revoked_at: '2026-11-21T18:00:00.000Z' }
    const { stream } = openStream((async () => key) as unknown as Source['get'])
    expect(await textOf((await stream.open({ keyId: 'key_1' })).body)).toMatch(/^: listening\n/)
  })

  it('ends at once also at a table', async () => {
    const stream = createTableStream({ onCommit: () => () => {} })
    stream.close()
    expect(await textOf(stream.open({ location_id: 'loc_1', number: '12' }, []).body)).toContain(
      'event: change',
    )
  })
})

describe('a stalled subscriber of the stream of a table', () => {
  it('has a few changes buffered, and gets one more when it continues', async () => {
    const listeners: CommitListener[] = []
    const onCommit = (listener: CommitListener) => {
      listeners.push(listener)
      return () => {}
    }
    const stream = createTableStream({ onCommit })
    const changed: Check = storedCheck(1)
    const { body } = stream.open({ location_id: changed.location_id, number: changed.table.number }, [])
    for (let n = 0; n < 1_000; n += 1)
      for (const listener of listeners) listener([put('checks', changed)], undefined, n + 1)
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    const waiting: string[] = []
    const read = async () => {
      const { value, done } = await reader.read()
      if (!done) waiting.push(new TextDecoder().decode(value))
      return !done
    }
    await read()
    stream.close()
    while (await read());
    expect(waiting.every((text) => text.endsWith('event: change\ndata: {}\n\n'))).toBe(true)
    expect(waiting.length).toBeGreaterThan(2)
    expect(waiting.join('').length).toBeLessThan(1_200)
  })
})

describe('the queue of a subscriber', () => {
  const encoder = new TextEncoder()
  /** Opens a subscriber whose queue is full, after a message of 12 bytes; `ends` counts its ends. */
  const openFull = () => {
    const counts = { ends: 0 }
    const subscriber = createSubscriber({
      greeting: 'hello',
      mostBytes: 10,
      dropped: (count) => `dropped ${count}`,
      onEnd: () => void (counts.ends += 1),
    })
    const reader = subscriber.body.getReader()
    const send = (key: string, text = key) => subscriber.send(key, () => encoder.encode(text))
    const read = async (count: number) => {
      const texts: string[] = []
      while (texts.length < count) texts.push(new TextDecoder().decode((await reader.read()).value))
      return texts
    }
    send('first', 'twelve bytes')
    return { counts, subscriber, reader, send, read }
  }

  it('keeps a reset when it is full, and counts only the messages that it drops after it', async () => {
    const { send, read } = openFull()
    for (const key of ['a', 'b', 'reset', 'c']) send(key)
    expect(await read(4)).toEqual(['hello', 'twelve bytes', 'reset', 'dropped 1'])
    send('d')
    expect(await read(1)).toEqual(['d'])
  })

  it('sends a reset that it kept once, also without dropped messages', async () => {
    const { send, read } = openFull()
    send('reset')
    expect(await read(3)).toEqual(['hello', 'twelve bytes', 'reset'])
    for (const key of ['a', 'b']) send(key)
    expect(await read(2)).toEqual(['a', 'b'])
  })

  it('ends once, when it is closed or its reader leaves, and takes no message after that', async () => {
    const closed = openFull()
    for (const _again of [1, 2]) closed.subscriber.close()
    closed.send('a')
    closed.subscriber.beat(encoder.encode('beat'))
    closed.subscriber.begin([])
    expect(closed.counts.ends).toBe(1)
    const left = openFull()
    await left.reader.cancel()
    left.send('a')
    left.subscriber.close()
    expect(left.counts.ends).toBe(1)
  })
})
