import type { ServerResponse } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { createApp } from '../../../src/http/app.ts'
import type { RequestLog } from '../../../src/http/request-log/log.ts'
import { ok, type Route } from '../../../src/http/route.ts'
import { createIdentifiers } from '../../../src/ids.ts'
import { attemptOutcomes } from '../../../src/model/delivery.ts'
import { packageVersion } from '../../../src/package-file.ts'
import type { Service } from '../../../src/service.ts'
import { timers } from '../../../src/timers.ts'
import { emptyDirectory } from '../../support/cli.ts'
import { openReceiver, openSimulator } from '../../support/simulator.ts'

/** Values of a scrape by name and labels. */
function valuesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

describe('GET /_sim/ready', () => {
  test('needs no key, and is 200 while the service handles requests', async () => {
    const simulator = await openSimulator()
    const { status, json } = await simulator.call('GET /_sim/ready', { key: null })
    expect([status, json]).toEqual([200, { status: 'ready' }])
  })

  test('is 503 with Retry-After while the service stops, and health is still 200', async () => {
    const route = (path: string, whileStopping?: true): Route => ({
      method: 'GET',
      path,
      scope: null,
      ...(whileStopping && { whileStopping }),
      handle: () => ok({}),
    })
    const app = createApp({
      service: { find: async () => [], onCommit: () => () => {} } as object as Service,
      log: { add: () => {} } as object as RequestLog,
      newId: createIdentifiers(() => new Date(0)).newId,
      clock: { now: () => new Date(0) },
      tables: { '/x': [route('/ready'), route('/health', true)] },
      checkOrigin: () => {},
      bodyLimit: 1,
      lifecycle: { phase: 'stopping' },
      report: () => {},
    })
    const get = (path: string) => app.fetch(new Request(`http://localhost/x/${path}`))
    const ready = await get('ready')
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await get('health')).status).toBe(200)
  })
})

describe('a service that drains', () => {
  test('is not ready, and handles requests until no more arrive', async () => {
    const simulator = await openSimulator()
    const closing = simulator.close({ drain: true })
    const ready = simulator.call('GET /_sim/ready', { key: null })
    for (const { status, headers } of await Promise.all([simulator.push('a'), simulator.push('b')]))
      expect([status, headers.get('connection')]).toEqual([201, 'close'])
    const { status, headers } = await ready
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    await closing
    await expect(simulator.call('GET /_sim/ready')).rejects.toThrow('fetch failed')
  })

  test.each([
    ['closes its port after a time, even when requests keep arriving', 'GET /v1/locations', 4],
    ['does not wait for the requests of probes', 'GET /_sim/health?from=balancer', 1],
  ] as const)('%s', async (_name, request, expected) => {
    const simulator = await openSimulator()
    const { sleep } = timers
    let waits = 0
    vi.spyOn(timers, 'sleep').mockImplementation(async (milliseconds, ...more) => {
      // With PostgreSQL, the store waits too, and longer.
      if (milliseconds !== 500) return sleep(milliseconds, ...more)
      waits += 1
      await simulator.call(request)
      return more[0]
    })
    await simulator.close({ drain: true })
    expect(waits).toBe(expected)
    await expect(simulator.call('GET /v1/locations')).rejects.toThrow('fetch failed')
  })
})

describe('GET /_sim/metrics', () => {
  test('needs a key with the scope read', async () => {
    const simulator = await openSimulator()
    expect((await simulator.call('GET /_sim/metrics', { key: null })).status).toBe(401)
    const write = await simulator.key(['write'])
    expect((await simulator.call('GET /_sim/metrics', { key: write })).status).toBe(403)
    const read = await simulator.key(['read'])
    const { status, headers } = await simulator.call('GET /_sim/metrics', { key: read })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  })

  test('counts pushes, commits and attempts since the start, not since the first scrape', async () => {
    const simulator = await openSimulator({ dataDir: await emptyDirectory() })
    const receiver = await openReceiver()
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('one', { revision: 2 })
    await simulator.push('one', { revision: 2 })
    await simulator.push('one', { revision: 1 })
    await simulator.push('two')
    await simulator.idle()
    const { text } = await simulator.call('GET /_sim/metrics')
    const values = valuesOf(text)
    expect(
      Object.fromEntries([...values].filter(([name]) => /^tabwire_(pushes|delivery)/.test(name))),
    ).toEqual({
      'tabwire_pushes_total{outcome="created"}': 2,
      'tabwire_pushes_total{outcome="updated"}': 0,
      'tabwire_pushes_total{outcome="unchanged"}': 1,
      'tabwire_pushes_total{outcome="stale"}': 1,
      'tabwire_pushes_total{outcome="conflict"}': 0,
      ...Object.fromEntries(
        attemptOutcomes.map((outcome) => [`tabwire_delivery_attempts_total{outcome="${outcome}"}`, 0]),
      ),
      'tabwire_delivery_attempts_total{outcome="succeeded"}': 2,
      tabwire_delivery_lag_seconds: 0,
    })
    const batches = values.get('tabwire_commit_seconds_count') ?? 0
    expect(batches).toBeGreaterThan(4)
    expect(values.get('tabwire_commit_seconds_bucket{le="+Inf"}')).toBe(batches)
    expect(values.get('tabwire_commit_transactions_count')).toBe(batches)
    expect(values.get('tabwire_commit_transactions_sum')).toBeGreaterThanOrEqual(batches)
    expect(values.get(`tabwire_info{version="${packageVersion()}"}`)).toBe(1)
    expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(text).toContain('# TYPE tabwire_commit_seconds histogram\n')
    expect(text).not.toMatch(/tabwire_database|tabwire_slots/)
    expect(text).not.toMatch(/twk_|whsec_/)
  })

  test('reports for how long deliveries have been due', async () => {
    const simulator = await openSimulator()
    const held: ServerResponse[] = []
    const receiver = await openReceiver((response) => void held.push(response))
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('one')
    await receiver.received(1)
    const { text } = await simulator.call('GET /_sim/metrics')
    expect(valuesOf(text).get('tabwire_delivery_lag_seconds')).toBeGreaterThan(0)
    for (const response of held) response.end()
    await simulator.idle()
    const { text: after } = await simulator.call('GET /_sim/metrics')
    expect(valuesOf(after).get('tabwire_delivery_lag_seconds')).toBe(0)
  })
})
