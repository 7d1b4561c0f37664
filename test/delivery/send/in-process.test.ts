import { describe, expect, test } from 'vitest'
import { createDestinationPolicy } from '../../../src/delivery/destination/policy.ts'
import { createInProcessReceivers, type Receive } from '../../../src/delivery/send/in-process.ts'
import { createSender } from '../../../src/delivery/send/send.ts'

const url = 'https://shop.test/webhooks'
const policy = createDestinationPolicy({
  allowHttpLoopback: false,
  denyPrivate: false,
  own: {},
  resolve: () => Promise.reject(new Error('No name is to be resolved for a receiver in this process.')),
})

function send(
  receive: Receive,
  { signal, bodyTimeoutMs = 1_000 }: { signal?: AbortSignal; bodyTimeoutMs?: number } = {},
) {
  const receivers = createInProcessReceivers()
  receivers.add(url, receive)
  const trust = { ca: [], insecure: false }
  const sender = createSender({ policy, trust, timeoutMs: 50, bodyTimeoutMs, receivers })
  return sender.send({ url, headers: { 'X-Service-Signature': 't=1,v1=2' }, body: '{"ü":1}' }, { signal })
}

describe('a receiver in this process', () => {
  test('gets the request as it would be sent, and its response counts', async () => {
    const seen: unknown[] = []
    const result = await send(async (request) => {
      const { method, url: target, redirect } = request
      seen.push(
        { method, target, redirect, header: request.headers.get('x-service-signature') },
        await request.text(),
      )
      return new Response('fine', { status: 202 })
    })
    expect(seen).toEqual([{ method: 'POST', target: url, redirect: 'manual', header: 't=1,v1=2' }, '{"ü":1}'])
    expect(result).toMatchObject({
      outcome: 'succeeded',
      response_status: 202,
      response_body: 'fine',
      error: null,
    })
  })

  test('that redirects, fails, throws or returns a network error fails the attempt', async () => {
    const moved = await send(() => new Response(null, { status: 302, headers: { location: '/else' } }))
    expect(moved).toMatchObject({
      outcome: 'bad_status',
      error: expect.stringContaining('(302) to /else') as string,
    })
    const threw = await send(() => {
      throw new Error('out of soup')
    })
    expect(threw).toMatchObject({
      outcome: 'connection_reset',
      response_status: null,
      error: 'The in-process receiver of shop.test threw an error: out of soup.',
    })
    expect(await send(() => Response.error())).toMatchObject({
      outcome: 'connection_reset',
      error: 'The in-process receiver of shop.test returned Response.error().',
    })
  })

  test('that throws a coloured error of several lines fails the attempt with one plain line', async () => {
    const { error } = await send(() => {
      throw new Error('Expected:\n\n\u001b[32m+ actual\u001b[39m\n\u001b[31m- expected\u001b[39m\n')
    })
    expect(error).toBe('The in-process receiver of shop.test threw an error: Expected: + actual - expected.')
    const long = await send(() => {
      throw new Error('x'.repeat(10_000))
    })
    expect(long.error).toMatch(/: x{500}…\.$/)
  })

  test('has response headers in lower case, each cookie on its own', async () => {
    const headers = new Headers([
      ['X-Trace', 'caf\u00e9'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ])
    const answered = await send(() => new Response(null, { headers }))
    expect(answered.response_headers).toEqual([
      { name: 'set-cookie', value: 'a=1' },
      { name: 'set-cookie', value: 'b=2' },
      { name: 'x-trace', value: 'caf\u00e9' },
    ])
    const long = await send(() => new Response(null, { headers: { x: 'y'.repeat(9_999) } }))
    expect(long).toMatchObject({ response_headers_cut: true })
    expect(Object.keys(await send(() => Response.error()))).not.toContain('response_headers')
  })

  test('that hangs times out, and the signal of its request aborts', async () => {
    let given: AbortSignal | undefined
    const result = await send((request) => {
      given = request.signal
      return new Promise(() => undefined)
    })
    expect(result).toMatchObject({ outcome: 'timeout', response_status: null })
    expect(given?.aborted).toBe(true)
  })

  test('is aborted with the attempt', async () => {
    const stop = new AbortController()
    const attempt = send(() => new Promise(() => stop.abort(new Error('no more'))), { signal: stop.signal })
    await expect(attempt).rejects.toThrow('no more')
  })

  test('may send a long or endless response: the first 4 KiB are kept, and the rest is cancelled', async () => {
    const long = await send(() => new Response('ü'.repeat(4_000)))
    expect(long).toMatchObject({ outcome: 'succeeded', response_body: 'ü'.repeat(2_048) })
    let isCancelled = false
    const endless = new ReadableStream({
      start: (body) => body.enqueue(new TextEncoder().encode('so far')),
      cancel: () => void (isCancelled = true),
    })
    const cut = await send(() => new Response(endless), { bodyTimeoutMs: 20 })
    expect(cut).toMatchObject({ outcome: 'succeeded', response_body: 'so far' })
    expect(isCancelled).toBe(true)
  })
})

describe('which receiver takes a URL', () => {
  const one: Receive = () => new Response('one')
  const other: Receive = () => new Response('other')

  test.each([
    ['https://shop.test', 'https://shop.test/', true],
    ['https://shop.test', 'https://SHOP.test:443/any/where?x=1', true],
    ['https://shop.test/hooks', 'https://shop.test/hooks', true],
    ['https://shop.test/hooks/', 'https://shop.test/hooks/a', true],
    ['https://shop.test/hooks', 'https://shop.test/hooks?a', true],
    ['https://shop.test/hooks', 'https://shop.test/hooks-of-others', false],
    ['https://shop.test', 'https://shop.test.example/', false],
    ['https://shop.test', 'https://shop.test:8443/', false],
    ['https://shop.test', 'http://shop.test/', false],
    ['https://shop.test', 'not a URL', false],
  ])('%s takes %s: %s', (base, target, taken) => {
    const receivers = createInProcessReceivers()
    receivers.add(base, one)
    expect(receivers.find(target)).toBe(taken ? one : undefined)
  })

  test('the latest one is used until it is removed, which works once', () => {
    const receivers = createInProcessReceivers()
    receivers.add('https://shop.test', one)
    const takeBack = receivers.add('https://shop.test/hooks', other)
    expect(receivers.find(url.replace('webhooks', 'hooks'))).toBe(other)
    takeBack()
    takeBack()
    expect(receivers.find('https://shop.test/hooks')).toBe(one)
  })

  test('a receiver needs a valid URL', () => {
    expect(() => createInProcessReceivers().add('/hooks', one)).toThrow(
      /must be absolute, such as .*, got "\/hooks"\.$/,
    )
  })
})
