import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkContract } from '../../../src/cli/conformance/contract-check.ts'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import type { ConformanceReport } from '../../../src/conformance/report/result.ts'
import { openSimulator, testAuthority } from '../../support/simulator.ts'
import { openMutated, type Mutation, type Passing, type Sending } from './mutated.ts'

const HEADER = 'x-service-signature'
const isPush = ({ method, path }: Passing) => method === 'PUT' && path.startsWith('/v1/checks/')

function changeJson(message: { body: string }, change: (json: Record<string, unknown>) => void): void {
  const json = JSON.parse(message.body) as Record<string, unknown>
  change(json)
  message.body = JSON.stringify(json)
}

/** Signs what has been changed anew, so that nothing but the change is wrong. */
function resign(
  { headers, body, secret }: Sending,
  t = /t=(\d+)/.exec(headers[HEADER] ?? '')?.[1] ?? '',
): void {
  headers[HEADER] = `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

const inEnvelope = (change: (json: Record<string, unknown>, sending: Sending) => void): Mutation => ({
  delivered(sending) {
    changeJson(sending, (json) => change(json, sending))
    resign(sending)
    return undefined
  },
})

const header = (change: (text: string) => string): Mutation => ({
  delivered({ headers }) {
    headers[HEADER] = change(headers[HEADER] ?? '')
    return undefined
  },
})

const noRequestIdOn = (concerns: (message: Passing) => boolean): Mutation => ({
  answered(message) {
    if (concerns(message)) delete message.headers['x-request-id']
  },
})

const secretAgain = new Map<string, string>()

const mutants: [rule: string, mutation: () => Mutation, broken: string[]][] = [
  [
    'no request id on 404',
    () => noRequestIdOn(({ path }) => path === '/v1/no-such-thing'),
    ['requests/id_on_unknown_path'],
  ],
  [
    'no request id on 401',
    () => noRequestIdOn(({ status }) => status === 401),
    ['requests/id_on_missing_key'],
  ],
  ['no request id on 409', () => noRequestIdOn(({ status }) => status === 409), ['requests/id_on_conflict']],
  [
    'no request id on broken JSON',
    () => noRequestIdOn(({ status }) => status === 400),
    ['requests/id_on_broken_json'],
  ],
  [
    'one request id for all',
    () => ({ answered: ({ headers }) => void (headers['x-request-id'] = 'req_1') }),
    ['requests/ids_differ'],
  ],
  [
    'no ordering',
    () => ({
      asked(message) {
        if (isPush(message) && message.body !== '{') changeJson(message, (json) => delete json.revision)
      },
    }),
    ['checks/convergence', 'checks/order'],
  ],
  [
    'no 409 for cheaper items',
    () => ({
      answered(message) {
        if (message.status === 409 && message.body.includes('price_decreased')) message.status = 200
      },
    }),
    ['conflicts/cheaper'],
  ],
  [
    'another code for the conflict',
    () => ({
      answered(message) {
        if (message.status === 409)
          message.body = message.body.replace('conflict_with_paid_items', 'conflict')
      },
    }),
    ['conflicts/code'],
  ],
  [
    'http accepted',
    () => ({
      asked(message) {
        if (message.path.endsWith('/webhook-endpoints'))
          message.body = message.body.replace('"http://', '"https://')
      },
    }),
    ['endpoints/https_only'],
  ],
  [
    'the secret shown twice',
    () => ({
      answered(message) {
        const [, id] = /^\/v1\/webhook-endpoints\/([^/]+)$/.exec(message.path) ?? []
        if (message.path === '/v1/webhook-endpoints' && message.method === 'POST' && message.status === 201)
          changeJson(message, (json) => secretAgain.set(String(json.id), String(json.signing_secret)))
        if (id !== undefined) changeJson(message, (json) => (json.signing_secret = secretAgain.get(id)))
      },
    }),
    ['endpoints/secret_once'],
  ],
  [
    'a secret without whsec_',
    () => ({ answered: (message) => void (message.body = message.body.replace('whsec_', 'sec_')) }),
    ['deliveries/signature_match', 'endpoints/secret_shown', 'retries/signed'],
  ],
  [
    'keys not looked at',
    () => ({
      asked(message) {
        if (message.headers.authorization === 'Bearer no-such-key') message.path = '/_sim/health'
      },
    }),
    ['access/unknown_key'],
  ],
  [
    't in milliseconds',
    () => ({
      delivered(sending) {
        resign(sending, `${Date.now()}`)
        return undefined
      },
    }),
    ['deliveries/signature_time'],
  ],
  [
    'hex in upper case',
    () => header((text) => text.replace(/v1=.*/, (v1) => `v1=${v1.slice(3).toUpperCase()}`)),
    ['deliveries/signature_form'],
  ],
  [
    'created_at in local time',
    () => inEnvelope((json) => (json.created_at = '2026-11-21 18:00:00')),
    ['deliveries/created_at'],
  ],
  ['data without the items', () => inEnvelope((json) => (json.data = {})), ['deliveries/data']],
  [
    'no type in the envelope',
    () => inEnvelope((json) => delete json.type),
    ['deliveries/envelope', 'deliveries/type'],
  ],
  ['one id for all events', () => inEnvelope((json) => (json.id = 'evt_1')), ['deliveries/ids_differ']],
  [
    'a body re-serialised on retry',
    () => ({
      delivered(sending) {
        if (sending.before > 0 && !sending.body.includes('check.updated'))
          sending.body = JSON.stringify(JSON.parse(sending.body), null, 1)
        resign(sending)
        return undefined
      },
    }),
    ['retries/same_body'],
  ],
  [
    'a new id on retry',
    () => inEnvelope((json, { before }) => (json.id = `evt_${before}_${String(json.id)}`)),
    ['retries/same_id'],
  ],
  ['no retry after an error of the receiver', () => ({ outcome: () => 200 }), ['retries/schedule']],
  ['no end of retries after a success', () => ({ outcome: () => 500 }), ['retries/success_ends']],
  [
    'an event twice, which is no mistake, since deliveries are at least once',
    () => ({ delivered: ({ body }) => (body.includes('check.updated') ? 2 : 1) }),
    [],
  ],
]

async function check(baseUrl: string, apiKey?: string): Promise<ConformanceReport> {
  const tls = await (await testAuthority()).issue(['localhost', '127.0.0.1'])
  return checkContract({ baseUrl, apiKey, serviceName: 'Service', tls }, contractCases)
}

const failed = ({ cases }: ConformanceReport) =>
  cases.flatMap(({ verdict, group, id }) => (verdict === 'failed' ? [`${group}/${id}`] : [])).sort()

describe('contract check', () => {
  it('passes on our own service, and checks all that does not take hours', async () => {
    const { baseUrl, apiKey, client } = await openSimulator()
    const report = await check(baseUrl, apiKey)
    expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
    expect(report.totals.not_checked).toBe(2)
    expect((await client.endpoints.list()).data).toEqual([])
    expect((await client.report()).findings).toEqual([])
  })

  it.each(mutants)('names what is broken, and nothing else: %s', async (_rule, mutation, broken) => {
    const simulator = await openSimulator()
    const report = await check(await openMutated(simulator, mutation()), simulator.apiKey)
    expect(failed(report)).toEqual(broken)
  })

  it.each([200, 404, 500, 302])(
    'ends with a report where something else answers %i to everything',
    async (status) => {
      const server = createServer((_, response) =>
        response.writeHead(status, { location: '/' }).end('<html>'),
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const report = await check(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
      expect(report.ok).toBe(false)
      expect(report.cases).toHaveLength(contractCases.length)
      expect(failed(report)).toContain('requests/id_on_success')
    },
  )

  it('says so when nobody answers', async () => {
    await expect(check('http://127.0.0.1:1/v1')).rejects.toThrow('GET /locations was not answered')
  })
})
