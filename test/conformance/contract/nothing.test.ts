import { request, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  checkContract,
  type ContractCheck,
  type UnusableTarget,
} from '../../../src/conformance/contract/check.ts'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import type { ConformanceReport } from '../../../src/conformance/report.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { openForeignService, type Choices } from '../../support/foreign-service.ts'
import { openSimulator } from '../../support/simulator.ts'
import { receiverTls } from './examine.ts'
import { openHttpServer } from '../../support/http-server.ts'

async function check(baseUrl: string, settings: Partial<ContractCheck> = {}): Promise<ConformanceReport> {
  const tls = await receiverTls()
  const timeouts = { eventMs: 300, settleMs: 300, quietMs: 50 }
  return (await checkContract({ baseUrl, apiKey: 'key', tls, cases: contractCases, timeouts, ...settings }))
    .report
}

async function serve(listener: RequestListener): Promise<string> {
  const { url } = await openHttpServer((incoming, response) => {
    incoming.resume()
    response.setHeader('x-request-id', randomUUID())
    listener(incoming, response)
  })
  return `${url}/v1`
}

type End = (incoming: IncomingMessage, response: ServerResponse) => boolean

/** A correct service that ends after some requests: `end` returns true for those that it has taken. */
async function ending(requests: number, end?: End, changes?: Partial<Choices>): Promise<string> {
  const { baseUrl } = await openForeignService({
    isNewer: (before, next) => Number(next.version) > Number(before.version),
    ...changes,
  })
  let count = 0
  const { url: origin, server } = await openHttpServer((incoming, response) => {
    count += 1
    if (count > requests && end === undefined) {
      server.close()
      return server.closeAllConnections()
    }
    if (count > requests && end?.(incoming, response) === true) return incoming.resume()
    const { method, headers, url } = incoming
    const forwarded = request(new URL(url ?? '', baseUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    // The service also ends with the test.
    return incoming.pipe(forwarded.on('error', () => response.destroy()))
  })
  return `${origin}/v1`
}

const passed = ({ cases }: ConformanceReport) =>
  cases.flatMap(({ verdict, group, id }) => (verdict === 'passed' ? [`${group}/${id}`] : []))

describe('the check stops at a target that is not a service of this kind:', () => {
  test.each([404, 500, 502, 405, 409, 422])('a server that answers %i to everything', async (status) => {
    const next =
      status >= 500
        ? 'The service, or a proxy before it, fails. Check its log.'
        : 'Check --api-key and --base-url, which ends with the version segment /v1.'
    const baseUrl = await serve(
      (_, response) => void response.writeHead(status, { location: '/' }).end('<html>'),
    )
    const error = await check(baseUrl).catch((caught: unknown) => caught as UnusableTarget)
    expect(error).toMatchObject({ name: 'UnusableTarget', kind: 'address' })
    expect((error as Error).message).toBe(
      `${baseUrl} does not behave like this service: GET /locations returned ${status}, a push ${status}. ${next}`,
    )
  })

  test.each([301, 302, 308])(
    'a server that answers %i to paths without a slash at their end',
    async (status) => {
      const baseUrl = await serve(({ url = '' }, response) => {
        response.writeHead(status, { location: `${url}/` }).end('<html>')
      })
      const error = await check(baseUrl).catch((caught: unknown) => caught as UnusableTarget)
      expect(error).toMatchObject({ name: 'UnusableTarget', kind: 'address' })
      expect((error as Error).message.replace(/tabwire-trial-\w+-1/, 'id')).toBe(
        `${baseUrl} does not behave like this service: GET /locations returned ${status} to /v1/locations/, a push ${status} to /v1/checks/external/id/. Redirects are not followed. Check --base-url, and that the paths of the service end without a slash.`,
      )
    },
  )

  test('a server without TLS at an https: address', async () => {
    const baseUrl = (await serve((_, response) => void response.end())).replace('http:', 'https:')
    await expect(check(baseUrl)).rejects.toMatchObject({
      kind: 'address',
      message: `${baseUrl} does not use TLS. Pass --base-url with http://.`,
    })
  })

  test('a server for HTTP/2 only', async () => {
    const tls = await receiverTls()
    const server = createSecureServer({ ...tls, allowHTTP1: false })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    await expect(check(baseUrl)).rejects.toMatchObject({
      kind: 'address',
      message: `${baseUrl} did not respond: it does not accept HTTP/1.1. Check --base-url.`,
    })
  })

  test('a closed port', async () => {
    const error = await check('http://127.0.0.1:1/v1').catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'UnusableTarget', kind: 'address' })
    expect(String(error)).toMatch(/127\.0\.0\.1:1\/v1 did not respond: .*ECONNREFUSED.*Check --base-url\.$/)
  })

  test('a server that answers 404 to GET, and never answers a push', async () => {
    const baseUrl = await serve(({ method }, response) => {
      if (method !== 'PUT') response.writeHead(404).end()
    })
    const error = await check(baseUrl, { timeouts: { answerMs: 300 } }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'UnusableTarget', kind: 'address' })
    expect(String(error)).toMatch(
      /PUT \/checks\/\S+ got no response: no complete response within 0\.3 s\. Check --base-url\.$/,
    )
  })

  test.each([401, 403])('a server that answers %i to everything, as for a wrong key', async (status) => {
    const baseUrl = await serve((_, response) => void response.writeHead(status).end())
    await expect(check(baseUrl)).rejects.toMatchObject({ name: 'UnusableTarget', kind: 'key' })
  })

  test.each(['wrong-key', undefined])('a service that is called with the key %s', async (apiKey) => {
    const { baseUrl } = await openForeignService()
    await expect(check(baseUrl, { apiKey })).rejects.toMatchObject({ kind: 'key' })
  })

  test('a service that is called with a read-only key', async () => {
    const { baseUrl } = await openForeignService({
      refusal: (status) => ({ status }),
      keyOf: (value) => (value === 'Bearer full-key' ? 'full' : undefined),
    })
    const simulator = await openSimulator()
    const apiKey = await simulator.key(['read'])
    await expect(check(simulator.baseUrl, { apiKey })).rejects.toMatchObject({
      kind: 'key',
      message:
        'The service refuses the API key: a push returned 403. Pass a key with all scopes with --api-key.',
    })
    await expect(check(baseUrl, { apiKey: 'read-key' })).rejects.toMatchObject({ kind: 'key' })
  })
})

describe('a server that answers 200 to everything', () => {
  test.each(['', '[]', '{"id":"1","secret":"whsec_x","items":[]}'])(
    'passes no case with the body %j',
    async (body) => {
      const baseUrl = await serve((_, response) => void response.writeHead(200).end(body))
      const report = await check(baseUrl)
      expect(report.ok).toBe(false)
      expect(passed(report)).toEqual([])
    },
  )
})

test('a service that never answers a push fails the case about that, and other cases are checked', async () => {
  const baseUrl = await serve(({ method, url, headers }, response) => {
    const status = headers.authorization !== 'Bearer key' ? 401 : url === '/v1/locations' ? 200 : 422
    if (method !== 'PUT') response.writeHead(status).end('[]')
  })
  const timeouts = { answerMs: 300, eventMs: 300, settleMs: 300, quietMs: 50 }
  const report = await check(baseUrl, { timeouts })
  expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toMatchObject([
    { id: 'accepted', detail: 'A push got no response: no complete response within 0.3 s.' },
  ])
  expect(passed(report)).toEqual(expect.arrayContaining(['access/locations', 'access/no_key']))
  expect(report.totals.error).toBe(0)
})

describe('a service that ends in the middle of a check', () => {
  test.each(sampled([12, 30, 50, 70, 90, 110, 130], 3))(
    'breaks no rule, and is an error, after %i requests',
    async (requests) => {
      const baseUrl = await ending(requests)
      const report = await check(baseUrl, { apiKey: 'full-key', readKey: 'read-key', orderBy: 'version' })
      expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
      expect(report.totals).toMatchObject({ error: 1 })
      expect(report.ok).toBe(false)
      const [error] = report.cases.filter(({ verdict }) => verdict === 'error')
      expect(error?.detail).toMatch(/the service stopped responding\.$/)
    },
  )
})

describe('a service that works no longer from the middle of a check on is one error', () => {
  const answers = (status: number): End => {
    return (_, response) => {
      response.writeHead(status).end('<html>')
      return true
    }
  }
  const ends: [what: string, end: End, reason: string][] = [
    [
      'its key has expired',
      answers(401),
      'the service now refuses the API key: GET /locations returned 401.',
    ],
    [
      'a proxy answers for it',
      answers(502),
      'the service, or a proxy before it, now fails: GET /locations returned 502.',
    ],
    ['it takes requests and never answers', () => true, 'the service stopped responding.'],
    [
      'it answers nothing but the list of locations',
      ({ url }) => url !== '/v1/locations',
      'the service stopped responding.',
    ],
  ]
  test.for(
    sampled(
      ends.flatMap((one) => [20, 60, 100, 140].map((requests) => [requests, ...one] as const)),
      4,
    ),
  )('after %i requests, when %s', async ([requests, , end, reason]) => {
    const baseUrl = await ending(requests, end)
    const keys = { apiKey: 'full-key', readKey: 'read-key' }
    // A busy machine is no silent service.
    const answerMs = reason.includes('returned') ? 10_000 : 1_000
    const timeouts = { answerMs, eventMs: 300, settleMs: 300, quietMs: 50 }
    const report = await check(baseUrl, { ...keys, orderBy: 'version', timeouts })
    expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
    const errors = report.cases.filter(({ verdict }) => verdict === 'error')
    expect(errors).toHaveLength(1)
    expect(errors[0]?.detail?.toLowerCase()).toContain(reason.toLowerCase())
    const later = report.cases.slice(report.cases.findIndex(({ verdict }) => verdict === 'error') + 1)
    expect(later.filter(({ verdict }) => verdict !== 'not_checked')).toEqual([])
  })
})

test('a service that ends at a wrong item is an error, which names the push', async () => {
  let isGone = false
  const changes: Partial<Choices> = {
    onWrongItem: () => void (isGone = true),
    wrongItemReply: new Promise(() => undefined),
  }
  const baseUrl = await ending(0, () => isGone, changes)
  const timeouts = { answerMs: 1_000, eventMs: 300, settleMs: 300, quietMs: 50 }
  const cases = contractCases.filter(({ id }) => id === 'accepted' || id === 'refused_whole')
  const report = await check(baseUrl, { apiKey: 'full-key', orderBy: 'version', timeouts, cases })
  expect(report.cases.find(({ id }) => id === 'refused_whole')).toMatchObject({
    verdict: 'error',
    detail:
      'Not checked: A push whose last item has a text as its price got no response: no complete response within 1 s. Then the service stopped responding.',
  })
})

test('a service that fails now and then is checked to the end', async () => {
  let count = 0
  const baseUrl = await ending(0, ({ method, url }, response) => {
    count += method === 'GET' && url === '/v1/locations' ? 1 : 0
    if (url !== '/v1/locations' || count % 5 !== 0) return false
    response.writeHead(500, { 'x-request-id': randomUUID() }).end()
    return true
  })
  const cases = contractCases.filter(({ group }) => group === 'checks')
  const report = await check(baseUrl, { apiKey: 'full-key', orderBy: 'version', cases })
  expect(report.totals).toMatchObject({ failed: 0, error: 0 })
})

describe('a Tabwire service', () => {
  // test/commands/contract-check.test.ts has a Tabwire service checked, too.
  test.runIf(isSoak)(
    'passes every case that takes less than half a minute, and keeps no record of the check',
    async () => {
      const { baseUrl, apiKey, client } = await openSimulator()
      const report = await check(baseUrl, { apiKey, timeouts: {}, isReachable: true })
      expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
      expect(report.cases.flatMap(({ verdict, id }) => (verdict === 'not_checked' ? [id] : []))).toEqual([
        'slow_answer',
        'disabling',
      ])
      expect((await client.endpoints.list()).data).toEqual([])
      expect((await client.report()).findings).toEqual([])
    },
  )

  test.runIf(isSoak)('passes when every delivery arrives twice', async () => {
    const { baseUrl, apiKey, client } = await openSimulator()
    await client.faults.set({ seed: 1, faults: [{ on: 'deliveries', duplicate: 1 }] })
    const report = await check(baseUrl, { apiKey, timeouts: {}, isReachable: true })
    expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
    expect(report.totals.passed).toBeGreaterThan(10)
  })

  test('reports which field orders pushes', async () => {
    const { baseUrl, apiKey } = await openSimulator({ orderBy: 'version' })
    const cases = contractCases.filter(({ group, id }) => /order|convergence/.test(id) && group === 'checks')
    const report = await check(baseUrl, { apiKey, cases })
    expect(report.cases.map(({ verdict }) => verdict)).toEqual(['passed', 'passed', 'passed', 'observed'])
  })
})

test('the order of pushes is not checked without an ordering field', async () => {
  const { baseUrl, apiKey } = await openForeignService()
  const cases = contractCases.filter(({ group, id }) => /order|convergence/.test(id) && group === 'checks')
  const report = await check(baseUrl, { apiKey, cases })
  expect(report.cases.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['in_order', 'not_checked'],
    ['order', 'not_checked'],
    ['convergence', 'not_checked'],
    ['arrival_order', 'observed'],
  ])
  expect(report.cases[0]?.detail).toContain('--order-by')
})

test.each<[service: string, changes: Partial<Choices>]>([
  [
    'with few tables passes again, since the first run closed the checks at them',
    { invalid: ({ table }) => (Number(table.number) <= 12 ? undefined : 'unknown_table') },
  ],
  ['that allows one open check per table passes again while the checks of the first run are open', {}],
])('a service %s', async (_service, changes) => {
  const { baseUrl, apiKey } = await openForeignService({
    isTableFree: (table, tables) => !tables.includes(table),
    ...changes,
  })
  const cases = contractCases.filter(({ group }) => group === 'checks')
  const [first, second] = [await check(baseUrl, { apiKey, cases }), await check(baseUrl, { apiKey, cases })]
  expect(passed(first)).toContain('checks/full_state')
  expect(passed(second)).toEqual(passed(first))
  expect(second.ok).toBe(true)
})

test('advice fails a check only with strict', async () => {
  const { baseUrl, apiKey } = await openForeignService()
  const cases = contractCases.filter(({ group }) => group === 'access')
  const advice = cases.map((one) => ('observe' in one ? one : { ...one, basis: 'advice' as const }))
  const lists = advice.filter(({ id }) => id === 'locations')
  const none = await openForeignService({ locations: () => ({}) })
  expect((await check(baseUrl, { apiKey, cases: lists, strict: true })).ok).toBe(true)
  expect((await check(none.baseUrl, { apiKey, cases: lists })).totals).toMatchObject({
    failed: 0,
    advised: 1,
  })
  expect((await check(none.baseUrl, { apiKey, cases: lists, strict: true })).ok).toBe(false)
})
