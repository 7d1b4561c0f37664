import { describe, expect, it } from 'vitest'
import type { AttemptMessage, RequestView } from '../../../src/client.ts'
import type { Envelope } from '../../../src/model/event.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { openReceiver, openSimulator, openStream, totals } from '../../support/simulator.ts'

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
    await simulator.call('GET /v1/locations', { key: 'twk_wrong' })
    await simulator.push('a')
    let text = ''
    while (text.match(/\n\n/g)?.length !== 4) text += (await reader?.read())?.value ?? ''
    expect(text).toMatch(
      /^: listening\n\nid: (\d+)\nevent: request\ndata: \{.*\}\n\nid: \d+\nevent: event\ndata: .*\n\nid: \d+\nevent: request\n/,
    )
    expect(text).not.toContain('/_sim/events')
    expect(text).not.toContain('twk_')
    const numbers = Array.from(text.matchAll(/^id: (\d+)$/gm), ([, number]) => Number(number))
    expect(numbers.map((number) => number - (numbers[0] ?? 0))).toEqual([0, 1, 2])
    await reader?.cancel()
  })

  it('ends when the service stops, without delaying it', async () => {
    const simulator = await openSimulator()
    const stream = await openStream(simulator)
    await simulator.close()
    await expect(stream.next()).rejects.toThrow(/ended/)
  })
})
