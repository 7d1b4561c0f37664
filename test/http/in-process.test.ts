import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSimulator, type Simulator } from '../../src/index.ts'
import { check } from '../support/simulator.ts'

let simulator: Simulator
beforeAll(async () => void (simulator = await createSimulator({ bodyLimit: 2_000 })))
afterAll(() => simulator.close())

const headers = () => ({ authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' })

/** Parts of a response that must be equal in process and over the port: no ids, times and connection headers. */
async function comparable(response: Response) {
  // `fetch` over the port asks for a compressed page.
  const ofConnection = [
    'connection',
    'content-encoding',
    'content-length',
    'date',
    'keep-alive',
    'transfer-encoding',
  ]
  const named = [...response.headers].filter(([name]) => !ofConnection.includes(name))
  const own = /\b\w{3}_[0-9A-Z]{26}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g
  const text = (await response.text()).replace(own, '…').replace(/over-port|in-process/, 'any-id')
  return { status: response.status, headers: named.map(([n, v]) => [n, v.replace(own, '…')]), text }
}

describe('in-process calls', () => {
  test.each<[string, RequestInit | (() => RequestInit)]>([
    ['/v1/locations', () => ({ headers: headers() })],
    ['/v1/locations', {}],
    ['/v1/locations', () => ({ headers: headers(), method: 'HEAD' })],
    ['/v1/locations?limit=0', () => ({ headers: headers() })],
    ['/v1/locations', () => ({ headers: headers(), method: 'DELETE' })],
    ['/v1/nothing', () => ({ headers: headers() })],
    ['/v1/checks/external/%E0%A4%A', () => ({ headers: headers() })],
    ['/v1/checks/external/ID', () => put(JSON.stringify(check()))],
    ['/v1/checks/external/ID', () => put('{"table":')],
    ['/v1/checks/external/ID', () => put('{}')],
    ['/v1/checks/external/ID', () => put('x'.repeat(3_000))],
    [
      '/v1/checks/external/ID',
      () => ({ ...put('{}'), headers: { ...headers(), 'content-type': 'text/plain' } }),
    ],
    ['/v1/locations', () => ({ headers: { ...headers(), origin: 'https://evil.example' } })],
    ['/_sim/health', {}],
    ['/', {}],
  ])('answer %s as the port does', async (path, given) => {
    const init = typeof given === 'function' ? given() : given
    const over = await fetch(simulator.url + path.replace('ID', 'over-port'), init)
    const within = await simulator.fetch(path.replace('ID', 'in-process'), init)
    expect(within.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await comparable(within)).toEqual(await comparable(over))
  })

  const put = (body: string) => ({ method: 'PUT', headers: headers(), body })

  test('accept URLs of any origin, paths and requests', async () => {
    const url = 'https://api.example.com/v1/locations?limit=1'
    for (const input of [url, new URL(url), '/v1/locations?limit=1', new Request(url)]) {
      const response = await simulator.fetch(input, { headers: headers() })
      expect(await response.json()).toMatchObject({ data: [{}], next_cursor: expect.any(String) as string })
    }
  })

  test('end by a signal: before the call, and within a stream', async () => {
    const late = simulator.fetch('/_sim/stream', { headers: headers(), signal: AbortSignal.abort() })
    await expect(late).rejects.toMatchObject({ name: 'AbortError' })
    const stop = new AbortController()
    const { body } = await simulator.fetch('/_sim/stream', { headers: headers(), signal: stop.signal })
    const reader = body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value as Uint8Array)).toMatch(
      /^: listening\nid: \S+\n\n$/,
    )
    stop.abort()
    await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('end by a signal while the response is pending', async () => {
    onTestFinished(async () => {
      await simulator.faults.clear()
    })
    await simulator.faults.set({ faults: [{ on: 'api', latency_ms: 60_000 }] })
    const stop = new AbortController()
    const answer = simulator.fetch('/v1/locations', { headers: headers(), signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
  })

  test('whose body breaks off are refused, and are not reported as bugs', async () => {
    const errors: unknown[] = []
    const own = await createSimulator({ port: false, onError: (error) => errors.push(error) })
    onTestFinished(() => own.close())
    async function* half() {
      yield Buffer.from('{')
      throw new Error('EIO: i/o error, read')
    }
    const type = { authorization: `Bearer ${own.apiKey}`, 'content-type': 'application/json' }
    for (const path of ['/v1/checks/external/a', '/_sim/state']) {
      const call = { method: 'PUT', headers: type, body: half(), duplex: 'half' }
      const answer = await own.fetch(path, call as RequestInit)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } })
    }
    expect(errors).toEqual([])
  })

  test('that end by a signal with a reason of its own are not reported as bugs', async () => {
    const errors: unknown[] = []
    const own = await createSimulator({ onError: (error) => errors.push(error) })
    onTestFinished(() => own.close())
    const reached = new Promise<void>((resolve) => {
      own.receive('https://shop.test/', async ({ signal }) => {
        resolve()
        await once(signal, 'abort')
        return new Response()
      })
    })
    await own.endpoints.create({ url: 'https://shop.test/' })
    await own.checks.push('a', check())
    await reached
    const stop = new AbortController()
    const moved = own.clock.advance('1h', { signal: stop.signal })
    await expect.poll(() => own.clock.show()).toMatchObject({ moving: { to: expect.any(String) as string } })
    stop.abort(new Error('enough'))
    await expect(moved).rejects.toThrow('enough')
    await expect.poll(() => own.clock.show()).toMatchObject({ moving: null })
    expect(errors).toEqual([])
  })

  test('finish when the service is closed while they are in flight', async () => {
    const closing = await createSimulator({ port: false })
    const pushes = Array.from({ length: 5 }, (_, index) => closing.checks.push(`late-${index}`, check()))
    const answers = Promise.allSettled(pushes)
    await closing.close()
    for (const answer of await answers)
      expect(answer).toMatchObject(
        answer.status === 'fulfilled' ? { value: { status: 201 } } : { reason: { code: 'shutting_down' } },
      )
  })
})
