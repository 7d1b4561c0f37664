import { beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client, type List } from '../../../src/client.ts'
import type { Activity } from '../../../src/model/simulator/activity.ts'
import type { Push } from '../../../src/model/check.ts'
import { serve, type RunningService } from '../../support/cli.ts'
import { startReceiver } from '../../support/https-receiver.ts'
import {
  callAt,
  check,
  deadUrl,
  errorOf,
  openReceiver,
  openSimulator,
  totals,
} from '../../support/simulator.ts'

let service: RunningService
let client: Client

/** Only the last test changes data, so that all tests share one service. */
beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true })
  client = createClient({ url: service.url, apiKey: service.key })
  const receiver = await startReceiver()
  await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await client.endpoints.create({ url: deadUrl, event_types: ['check.closed'] })
  const push = (id: string, changes: Partial<Push> = {}) =>
    client.checks.push(id, JSON.stringify(check(changes)))
  await push('Table-12')
  await push('table 7/b', { table: { number: '7' }, status: 'closed', totals: totals(1) })
  await push('Table-12', { status: 'closed', ...{ covers: 2 } })
  await service.call('PUT', '/v1/checks/external/broken', {})
  // The clock comes to where it is when all that is due has been attempted.
  await client.clock.advance('1ms')
  return async () => {
    await service.stop()
    await receiver.close()
  }
})

const get = (path: string) => callAt(service.url, `GET ${path}`, { key: service.key })

async function ids(path: string, field: string): Promise<unknown[]> {
  const { status, json } = await get(path)
  expect(status).toBe(200)
  return (json as List<Record<string, unknown>>).data.map((record) => record[field])
}

describe('a list with a search', () => {
  it.each<[path: string, field: string, found: unknown[]]>([
    ['/_sim/checks?q=TABLE', 'external_id', ['table 7/b', 'Table-12']],
    ['/_sim/checks?q=7%2F', 'external_id', ['table 7/b']],
    ['/_sim/checks?q=.*', 'external_id', []],
    ['/_sim/checks?q=table&status=closed&table=12', 'external_id', ['Table-12']],
    ['/_sim/deliveries?q=connection_refused', 'event_type', ['check.closed', 'check.closed']],
    ['/_sim/deliveries?q=200&status=delivered', 'external_check_id', ['table 7/b', 'Table-12']],
    ['/_sim/deliveries?q=closed&external_check_id=Table-12', 'external_check_id', ['Table-12']],
    ['/_sim/events?q=%22number%22:%227%22', 'type', ['check.closed', 'check.created']],
    ['/_sim/events?q=', 'type', ['check.closed', 'check.closed', 'check.created', 'check.created']],
    ['/_sim/webhook-endpoints?q=:1/', 'consecutive_failures', [2]],
    ['/_sim/webhook-endpoints?status=enabled', 'consecutive_failures', [2, 0]],
    ['/_sim/requests?q=table%207/b', 'status', [201]],
    ['/_sim/requests?q=%20422', 'path', ['/v1/checks/external/broken']],
    ['/_sim/requests?kind=push&failed=false', 'status', [200, 201, 201]],
    ['/_sim/requests?kind=push&failed=true', 'status', [422]],
    ['/_sim/requests?external_check_id=table%207/b', 'status', [201]],
    ['/_sim/requests?finding=any', 'status', [422, 200, 201]],
    ['/_sim/requests?finding=push_refused', 'status', [422]],
    ['/_sim/requests?finding=unknown_field&kind=push', 'status', [200]],
    ['/_sim/requests?finding=totals_mismatch', 'path', ['/v1/checks/external/table%207%2Fb']],
    ['/_sim/requests?finding=totals_mismatch&q=table-12', 'path', []],
  ])('%s has the records that contain it, in any case of letters', async (path, field, found) => {
    expect(await ids(path, field)).toEqual(found)
  })

  it('finds deliveries by their latest attempt, which it shows', async () => {
    const { client: other, push, idle } = await openSimulator()
    const receiver = await openReceiver(503)
    await other.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await push('a')
    await idle()
    const found = async (q: string) =>
      ((await other.request('GET', `/_sim/deliveries?q=${q}`)).json as List<object>).data.length
    expect([await found('bad_status'), await found('succeeded')]).toEqual([1, 0])
    receiver.answer(204)
    await other.clock.advance('2m')
    expect([await found('bad_status'), await found('succeeded')]).toEqual([0, 1])
  })

  it('has pages like any other list', async () => {
    const first = await client.requests.list({ kind: 'push', failed: 'false', limit: 2 })
    expect(first.data.map(({ status }) => status)).toEqual([200, 201])
    const rest = await client.requests.list({
      kind: 'push',
      failed: 'false',
      limit: 2,
      cursor: first.next_cursor ?? '',
    })
    expect(rest).toMatchObject({ data: [{ status: 201 }], next_cursor: null })
  })

  it.each(['checks', 'claims', 'webhook-endpoints', 'events', 'deliveries', 'requests', 'keys'])(
    'also has pages oldest first: %s',
    async (name) => {
      const newestFirst = await ids(`/_sim/${name}?order=desc`, 'id')
      const found: unknown[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const { json } = await get(
          `/_sim/${name}?order=asc&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
        )
        const page: List<{ id: string }> = json as List<{ id: string }>
        found.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(found).toEqual(newestFirst.toReversed())
    },
  )

  it.each([
    `/_sim/checks?q=${'x'.repeat(256)}`,
    '/_sim/requests?kind=other',
    '/_sim/requests?failed=1',
    '/_sim/requests?finding=totals',
    '/_sim/requests?finding=',
    '/_sim/requests?order=up',
    '/_sim/keys?order=',
    '/_sim/webhook-endpoints?status=odd',
  ])('GET %s is 400', async (path) => {
    const answer = await get(path)
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_query'])
  })

  it('does not exist under /v1', async () => {
    expect(await ids('/v1/checks?q=nowhere', 'external_id')).toHaveLength(2)
  })

  it('has a single order under /v1, like the real service', async () => {
    expect(await ids('/v1/checks?order=asc', 'external_id')).toEqual(['table 7/b', 'Table-12'])
  })
})

describe('the activity of deliveries', () => {
  const activity = async (query = '') => (await get(`/_sim/deliveries/activity${query}`)).json as Activity

  it('counts attempts by outcome, for the requested deliveries', async () => {
    const sums = ({ buckets }: Activity) =>
      (['succeeded', 'failed', 'dead'] as const).map((name) =>
        buckets.reduce((sum, bucket) => sum + bucket[name], 0),
      )
    expect(sums(await activity())).toEqual([2, 2, 0])
    expect(sums(await activity('?type=check.closed'))).toEqual([0, 2, 0])
    expect((await activity('?q=nowhere')).buckets).toEqual([])
  })
})

describe('a request of the inspector', () => {
  it('is not in the log, counts against no limit, and gets no faults', async () => {
    const { client, call } = await openSimulator({ rateLimit: { requests: 2, seconds: 3_600 } })
    await client.checks.push('a', JSON.stringify(check()))
    await client.faults.set({ faults: [{ on: 'api', error_rate: 1 }] })
    for (let look = 0; look < 5; look++)
      for (const path of ['checks', 'checks/a', 'webhook-endpoints', 'claims?external_check_id=a'])
        expect(await call(`GET /_sim/${path}`)).toMatchObject({ status: 200 })
    expect((await client.requests.list()).data).toHaveLength(1)
    expect((await client.faults.show()).faults).toMatchObject([{ happened: {} }])
  })
})

describe('query names', () => {
  it.each([
    ['/_sim/deliveries?chek=1', 'Unknown query parameter "chek". This path accepts q, status, '],
    ['/_sim/deliveries?externalCheckId=1', 'did you mean "external_check_id"? This path accepts q, status, '],
    ['/_sim/deliveries/activity?limit=5', 'Unknown query parameter "limit". This path accepts q, '],
    ['/_sim/requests?failled=true', 'did you mean "failed"?'],
    ['/_sim/events?Type=check.created', 'did you mean "type"?'],
    ['/_sim/health?verbose', 'Unknown query parameter "verbose". This path accepts no query parameters.'],
    ['/_sim/stream?since=2026-11-21T18:00:00Z&form=1', 'This path accepts since, listener.'],
    [`/_sim/keys?${'x'.repeat(5_000)}=1`, `Unknown query parameter "${'x'.repeat(100)}".`],
  ])('that %s does not take are refused under /_sim', async (path, message) => {
    const answer = await get(path)
    expect(answer.status).toBe(400)
    expect(errorOf(answer)).toMatchObject({
      code: 'invalid_query',
      message: expect.stringContaining(message) as string,
    })
  })

  it('that are unknown are refused on writes, before any change', async () => {
    const answer = await callAt(service.url, 'POST /_sim/clock?freeze=true', {
      key: service.key,
      json: { freeze: true },
    })
    expect(errorOf(answer).code).toBe('invalid_query')
    expect((await client.clock.show()).frozen).toBe(false)
  })

  it('that are unknown are ignored under /v1, like by the real service', async () => {
    expect((await get('/v1/checks?chek=1')).status).toBe(200)
  })
})
