import { describe, expect, it } from 'vitest'
import { createClient } from '../../../src/client.ts'
import type { LoggedRequest } from '../../../src/model/simulator/request-entry.ts'
import { errorOf, openSimulator, rawHeaders, temporaryDirectory } from '../../support/simulator.ts'

const push = 'PUT /v1/checks/*'

describe('PUT /_sim/faults', () => {
  it('replaces all faults: GET shows them with defaults, DELETE ends them', async () => {
    const { client } = await openSimulator()
    const faults = [
      { on: 'api' as const, error_rate: 0.1, times: 4 },
      { on: 'deliveries' as const, delay: 1, reorder: 0.5 },
    ]
    const set = await client.faults.set({ seed: 9, faults })
    expect(set).toEqual({
      seed: 9,
      faults: [
        { on: 'deliveries', delay: 1, delay_ms: 30_000, reorder: 0.5, reorder_ms: 60_000, happened: {} },
        { on: 'api', error_rate: 0.1, error_status: 503, times: 4, left: 4, happened: {} },
      ],
    })
    expect(await client.faults.show()).toEqual(set)
    expect(await client.faults.set(set)).toEqual(set)
    expect(await client.faults.clear()).toEqual({ seed: 1, faults: [] })
    expect(await client.faults.show()).toEqual({ seed: 1, faults: [] })
  })

  it.each<[body: object, path: string, message: string | RegExp]>([
    [{}, 'faults', 'is required'],
    [{ faults: [{}] }, 'faults[0].on', 'must be "deliveries" or "api"'],
    [{ faults: [{ on: 'clock' }] }, 'faults[0].on', 'must be "deliveries" or "api"'],
    [{ faults: [{ on: 'deliveries' }] }, 'faults[0]', /^must have at least one of duplicate, /],
    [{ faults: [{ on: 'api', times: 2 }] }, 'faults[0]', /^must have at least one of latency_ms, /],
    [{ faults: [{ on: 'deliveries', drop: 1.5 }] }, 'faults[0].drop', 'must be at most 1, got 1.5'],
    [{ faults: [{ on: 'deliveries', drip: 1 }] }, 'faults[0]', 'has unknown fields: drip'],
    [{ faults: [{ on: 'deliveries', drop: 1, times: 0 }] }, 'faults[0].times', 'must be at least 1, got 0'],
    [
      { faults: [{ on: 'deliveries', drop: 1, event_types: ['ping'] }] },
      'faults[0].event_types[0]',
      /^must be/,
    ],
    [{ faults: [{ on: 'api', error_rate: 1, error_status: 200 }] }, 'faults[0].error_status', /at least 400/],
    [
      { faults: [{ on: 'api', reset_rate: 1, paths: ['/_sim/*'] }] },
      'faults[0].paths[0]',
      /^must be a path under \/v1/,
    ],
    [{ faults: [], seed: 0.5 }, 'seed', /^must be an integer/],
  ])('refuses %j', async (json, path, message) => {
    const { call, client } = await openSimulator()
    const answer = await call('PUT /_sim/faults', { json })
    expect(answer.status).toBe(422)
    const { issues } = errorOf(answer) as unknown as { issues: { path: string; message: string }[] }
    const { message: told = '' } = issues.find((issue) => issue.path === path) ?? {}
    if (typeof message === 'string') expect(told).toBe(message)
    else expect(told).toMatch(message)
    expect((await client.faults.show()).faults).toEqual([])
  })

  it('lists all issues at once', async () => {
    const { call } = await openSimulator()
    const faults = [
      { on: 'deliveries', drop: 2 },
      { on: 'api', latency_ms: 0, paths: ['checks'] },
    ]
    const { issues } = errorOf(await call('PUT /_sim/faults', { json: { faults } }))
    expect((issues as { path: string }[]).map(({ path }) => path)).toEqual([
      'faults[0].drop',
      'faults[1].latency_ms',
      'faults[1].paths[0]',
    ])
  })
})

describe('faults of the API', () => {
  it('answer with the requested status, in the error shape, and do nothing', async () => {
    const { call, push: send, client } = await openSimulator()
    await client.faults.set({ faults: [{ on: 'api', error_rate: 1, error_status: 502, times: 1 }] })
    const answer = await send('a')
    expect(answer.status).toBe(502)
    expect(errorOf(answer).code).toBe('fault_injected')
    const logged = await client.requests.get(answer.headers.get('x-request-id') ?? '')
    expect(logged).toMatchObject({ status: 502, faults: ['error'], push: null })
    expect((await call('GET /v1/checks/external/a')).status).toBe(404)
    const again = await send('a')
    expect(again.status).toBe(201)
    expect(await client.requests.get(again.headers.get('x-request-id') ?? '')).not.toHaveProperty('faults')
  })

  it.each([
    [push, ['PUT /v1/checks/external/a', 503], ['GET /v1/checks', 200]],
    ['/v1/checks', ['GET /v1/checks?limit=1', 503], ['GET /v1/locations', 200]],
    ['GET /v1/*s', ['GET /v1/locations', 503], ['PUT /v1/checks/external/a', 201]],
    ['/v1*', ['GET /v1/nowhere', 503], ['GET /_sim/health', 200]],
    ['/v1/*/external/*/b', ['GET /v1/checks/external/a/b', 503], ['GET /v1/checks/external/b', 404]],
    ['/v1/a*a', ['GET /v1/aa', 503], ['GET /v1/a', 404]],
  ] as const)('limited to %s apply to %j and not to %j', async (pattern, concerned, other) => {
    const { call, client } = await openSimulator()
    await client.faults.set({ faults: [{ on: 'api', error_rate: 1, paths: [pattern] }] })
    const body = {
      table: { number: '1' },
      status: 'open',
      items: [],
      totals: { subtotal_cents: 0, tax_cents: 0, total_cents: 0 },
    }
    for (const [route, status] of [concerned, other]) {
      const answer = await call(route, route.startsWith('PUT') ? { json: body } : {})
      expect(answer.status).toBe(status)
    }
  })

  it('reset the connection before the request is processed, or after it', async () => {
    const { push: send, client } = await openSimulator()
    const broken = () => expect(send('a')).rejects.toThrow('fetch failed')
    await client.faults.set({ faults: [{ on: 'api', reset_rate: 1, paths: [push] }] })
    await broken()
    expect((await client.checks.get('a').catch((error: unknown) => error)) as object).toMatchObject({
      status: 404,
    })
    await client.faults.set({ faults: [{ on: 'api', lost_answer_rate: 1, paths: [push] }] })
    await broken()
    expect(await client.checks.get('a')).toMatchObject({ external_id: 'a' })
    await client.faults.clear()
    expect((await send('a')).status).toBe(200)
  })

  it('end a connection without a response, also over HTTPS, and the log has the reason', async () => {
    const simulator = await openSimulator()
    await simulator.client.faults.set({ faults: [{ on: 'api', reset_rate: 1 }] })
    const answer = await simulator.raw(`GET /v1/locations HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
    expect(answer.text).toBe('')
    const { data } = (await simulator.call('GET /_sim/requests')).json as { data: LoggedRequest[] }
    expect(data[0]).toMatchObject({ path: '/v1/locations', faults: ['reset'] })
    const secure = await openSimulator({ https: true, dataDirectory: await temporaryDirectory() })
    const client = createClient({ url: secure.url, apiKey: secure.apiKey, ca: secure.ca })
    await client.faults.set({ faults: [{ on: 'api', reset_rate: 1 }] })
    await expect(client.locations.list()).rejects.toThrow('broke before a response')
    expect((await client.faults.clear()).faults).toEqual([])
  })

  it('delay requests, but no longer than the service runs', async () => {
    const simulator = await openSimulator()
    const { client, call } = simulator
    await client.faults.set({ faults: [{ on: 'api', latency_ms: 60_000, times: 1 }] })
    const waiting = call('GET /v1/locations')
    while ((await client.faults.show()).faults[0]?.left !== 0);
    await simulator.close()
    expect(errorOf(await waiting).code).toBe('shutting_down')
  })

  it('process a request after its delay', async () => {
    const { client, call } = await openSimulator()
    await client.faults.set({ faults: [{ on: 'api', latency_ms: 1 }] })
    const answer = await call('GET /v1/locations')
    expect(answer.status).toBe(200)
    const logged = await client.requests.get(answer.headers.get('x-request-id') ?? '')
    expect(logged.faults).toEqual(['latency'])
  })

  it('apply to the same requests with the same seed', async () => {
    const { client, call } = await openSimulator()
    const statuses = async (seed: number) => {
      await client.faults.set({ seed, faults: [{ on: 'api', error_rate: 0.5, paths: ['/v1/locations'] }] })
      const seen: number[] = []
      for (let n = 0; n < 20; n++) {
        // Not concerned, so it must not shift the draws either.
        if (n % 3 === 0) await call('GET /v1/checks')
        seen.push((await call('GET /v1/locations')).status)
      }
      return seen
    }
    const one = await statuses(1)
    expect(await statuses(1)).toEqual(one)
    expect(await statuses(2)).not.toEqual(one)
    expect(new Set(one)).toEqual(new Set([200, 503]))
  })
})
