import { describe, expect, it } from 'vitest'
import type { AttemptMessage, RequestView } from '../../../src/client.ts'
import type { Envelope } from '../../../src/model/event.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  openReceiver,
  openSimulator,
  openStream,
  totals,
  type TestSimulator,
} from '../../support/simulator.ts'

describe('the stream', () => {
  it('sends requests, events and attempts as they happen, an attempt after its event', async () => {
    const clock = createManualClock()
    const simulator = await openSimulator({ clock })
    const answered = { go: () => {} }
    const receiver = await openReceiver((response) => (answered.go = () => response.writeHead(500).end()))
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    const stream = await openStream(simulator)

    const push = await simulator.push('a')
    const [event, request] = await stream.take(2)
    expect(event).toMatchObject({ type: 'event', data: { type: 'check.created', data: push.json } })
    expect(request).toMatchObject({
      type: 'request',
      data: { id: push.headers.get('x-request-id'), status: 201 },
    })
    await receiver.received(1)
    answered.go()
    const attempt = await stream.next()
    expect(attempt).toMatchObject({
      type: 'attempt',
      data: {
        event_id: (event?.data as Envelope | undefined)?.id,
        status: 'pending',
        attempt: { number: 1, outcome: 'bad_status', response_status: 500 },
      },
    })
    receiver.answer(200)
    clock.advance(60_000)
    const retry = await stream.next()
    expect(retry).toMatchObject({ type: 'attempt', data: { status: 'delivered', attempt: { number: 2 } } })
    expect(Object.keys(retry.data)).not.toContain('attempts')
    expect((retry.data as AttemptMessage).id).toBe((attempt.data as AttemptMessage).id)
  })

  it('sends the events of one push in their order', async () => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const stream = await openStream(simulator)
    await simulator.push('a', { totals: totals(1), status: 'closed' })
    const messages = await stream.take(3)
    expect(
      messages.map(({ type, data }) => [type, (data as Envelope | (RequestView & { type?: string })).type]),
    ).toEqual([
      ['event', 'check.updated'],
      ['event', 'check.closed'],
      ['request', undefined],
    ])
  })

  it('reaches all subscribers, also after one of them leaves', async () => {
    const simulator = await openSimulator()
    const streams = await Promise.all([openStream(simulator), openStream(simulator), openStream(simulator)])
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${simulator.apiKey}` }
    await fetch(`${simulator.url}/_sim/stream`, { headers, signal: leaving.signal })
    leaving.abort()
    await simulator.push('a')
    const [first, ...others] = await Promise.all(streams.map(({ take }) => take(2)))
    for (const messages of others) expect(messages).toEqual(first)
  })

  it('numbers its messages, includes refused requests, and excludes calls of /_sim', async () => {
    const simulator = await openSimulator()
    const headers = { authorization: `Bearer ${simulator.apiKey}` }
    const response = await fetch(`${simulator.url}/_sim/stream`, { headers })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    await simulator.client.events.list()
    let text = ''
    const readTo = async (blocks: number) => {
      while (text.match(/\n\n/g)?.length !== blocks) text += (await reader?.read())?.value ?? ''
    }
    await simulator.call('GET /v1/locations', { key: 'twk_wrong' })
    // With a shared store, the stream tells requests a moment later than commits.
    await readTo(2)
    await simulator.push('a')
    await readTo(4)
    expect(text).toMatch(
      /^: listening\nid: \S+\n\nid: \S+\nevent: request\ndata: \{.*\}\n\nid: \S+\nevent: event\ndata: .*\n\nid: \S+\nevent: request\n/,
    )
    expect(text).not.toContain('/_sim/events')
    expect(text).not.toContain('twk_')
    const ids = Array.from(text.matchAll(/^id: ([\w-]+):0:(\d+):0:(\d+)$/gm), ([, ...parts]) => parts)
    const [[token, commit] = []] = ids
    expect(ids).toEqual([
      [token, commit, '0'],
      [token, commit, '1'],
      [token, String(Number(commit) + 1), '1'],
      [token, String(Number(commit) + 1), '2'],
    ])
    await reader?.cancel()
  })

  it('ends when the service stops, without delaying it', async () => {
    const simulator = await openSimulator()
    const stream = await openStream(simulator)
    await simulator.close()
    await expect(stream.next()).rejects.toThrow(/ended/)
  })

  it('ends when its key is revoked, and others do not', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const made = await client.keys.create({ scopes: ['simulate'] })
    const other = await openStream(simulator)
    const headers = { authorization: `Bearer ${made.api_key}` }
    const { body } = await fetch(`${simulator.url}/_sim/stream?listener=shop`, { headers })
    await client.keys.revoke((await client.keys.create({ scopes: ['read'] })).id)
    await simulator.push('a')
    // A shared store tells requests some time after their answers.
    const first = await other.take(2)
    await client.keys.revoke(made.id)
    await simulator.push('b')
    const text = await new Response(body).text()
    expect(text.match(/^event: .*$/gm)?.toSorted()).toEqual(['event: event', 'event: request'])
    for (const messages of [first, await other.take(2)])
      expect(messages.map(({ type }) => type).toSorted()).toEqual(['event', 'request'])
  })

  /** Reads a stream until `last` is in its text, and leaves. */
  async function readText(simulator: TestSimulator, last: string, headers: Record<string, string> = {}) {
    const leaving = new AbortController()
    const { body } = await fetch(`${simulator.url}/_sim/stream`, {
      headers: { authorization: `Bearer ${simulator.apiKey}`, ...headers },
      signal: leaving.signal,
    })
    const reader = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    return {
      async read() {
        while (!text.includes(last)) text += (await reader.read()).value ?? ''
        leaving.abort()
        const types = Array.from(text.matchAll(/^event: (.*)$/gm), ([, type]) => type)
        return { types, lastId: Array.from(text.matchAll(/^id: (.*)$/gm), ([, id]) => id ?? '').at(-1) ?? '' }
      },
    }
  }

  it('continues after the last message of a client, until the state is replaced', async () => {
    const simulator = await openSimulator()
    const stream = await readText(simulator, 'event: request')
    await simulator.push('a')
    const { lastId } = await stream.read()
    await simulator.push('b')
    await simulator.call('GET /v1/locations')
    const again = await readText(simulator, 'event: live', { 'last-event-id': lastId })
    const missed = await again.read()
    expect(missed.types).toEqual(['event', 'request', 'request', 'live'])
    const nothing = await readText(simulator, 'event: live', { 'last-event-id': missed.lastId })
    expect((await nothing.read()).types).toEqual(['live'])
    await simulator.client.state.reset()
    const reset = await readText(simulator, 'event: live', { 'last-event-id': lastId })
    expect((await reset.read()).types).toEqual(['reset', 'dropped', 'live'])
  })

  it('says that messages were dropped when they are no longer kept', async () => {
    const simulator = await openSimulator()
    const stream = await readText(simulator, 'event: request')
    await simulator.push('a')
    const { lastId } = await stream.read()
    for (let n = 0; n < 1_001; n += 1)
      await simulator.fetch('/v1/locations', { headers: { authorization: 'Bearer twk_wrong' } })
    const again = await readText(simulator, 'event: live', { 'last-event-id': lastId })
    expect((await again.read()).types).toEqual(['dropped', 'live'])
  })

  it('ignores the id of another process', async () => {
    const [one, other] = [await openSimulator(), await openSimulator()]
    const stream = await readText(one, 'event: request')
    await one.push('a')
    const { lastId } = await stream.read()
    const again = await readText(other, 'event: request', { 'last-event-id': lastId })
    await other.push('b')
    expect((await again.read()).types).toEqual(['event', 'request'])
  })
})
