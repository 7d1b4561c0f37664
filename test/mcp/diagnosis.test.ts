import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { SentRequest } from '../../src/model/simulator/sent-request.ts'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Handle } from '../support/https-receiver.ts'
import { isSigned, overHttp, overStdio, type Connected } from './clients.ts'

/** On a busy machine, a delivery takes a while. */
const PATIENT = { timeout: 15_000 }

const secret = `whsec_${'wrong-receiver'.repeat(4).slice(0, 43)}`

interface Shown {
  delivery: Delivery
  request: SentRequest
}

/** State that only a user may change. */
async function kept({ call }: RunningService) {
  const [state, faults] = await Promise.all(
    ['/_sim/state', '/_sim/faults'].map(async (path) => (await call('GET', path)).json()),
  )
  const { endpoints, deliveries, checks, clock, events } = state as Record<string, unknown>
  return { endpoints, deliveries, checks, clock, events, faults }
}

/** Registers a receiver, as a user does before the agent comes. */
async function receiverAt(service: RunningService, answer: Handle): Promise<string> {
  const receiver = await startReceiver({ answer })
  onTestFinished(() => receiver.close())
  const url = `${receiver.url}webhooks`
  const body = { url, event_types: ['check.created', 'check.updated'], signing_secret: secret }
  expect((await service.call('POST', '/_sim/webhook-endpoints', body)).status).toBe(201)
  return url
}

/** Waits until the receiver has refused one delivery. */
async function oneIsRefused({ call }: Connected): Promise<void> {
  const refused = async () =>
    (await call<{ data: Delivery[] }>('deliveries_list', { outcome: 'bad_status' })).data.data
  await expect.poll(refused, PATIENT).toHaveLength(1)
}

describe.each(sampled(['stdio', 'http'], 2))(
  'over %s, an agent finds the cause with only the tools:',
  (way) => {
    let service: RunningService
    let agent: Connected
    beforeEach(async () => {
      service = await serve({ allowHttpLoopback: true })
      // Whatever moves it would show.
      await service.call('POST', '/_sim/clock', { freeze: true })
      agent = await (way === 'stdio' ? overStdio(service.cwd) : overHttp(service))
      return () => service.stop()
    })

    test('a receiver that fails on a changed check', async () => {
      const url = await receiverAt(service, (response, { headers, body }) => {
        const text = body.toString()
        if (!isSigned(String(headers['x-service-signature']), text, secret)) {
          response.writeHead(400).end()
          return
        }
        const { type } = JSON.parse(text) as { type: string }
        if (type === 'check.updated') response.writeHead(500).end('TypeError: revision is not a function')
        else response.writeHead(204).end()
      })
      const { call } = agent
      const triggered = await call<{ external_check_id: string }>('trigger', { event: 'check.updated' })
      const { external_check_id: check } = triggered.data
      expect((await call('deliveries_wait', { type: 'check.created', check })).data).toMatchObject({
        met: true,
      })
      await call('deliveries_wait', { type: 'check.updated', check, status: 'pending' })
      await oneIsRefused(agent)
      const before = await kept(service)

      const missing = await call('deliveries_wait', { type: 'check.updated', check, timeout: 0 })
      expect(missing).toMatchObject({ isError: false, data: { met: false } })
      expect(missing.text).toMatch(/Expected 1 delivered check\.updated/)
      const { data: list } = await call<{ data: Delivery[] }>('deliveries_list', {
        check,
        outcome: 'bad_status',
      })
      const [failed] = list.data
      expect(failed).toMatchObject({ event_type: 'check.updated', status: 'pending' })

      const shown = await call<Shown>('deliveries_show', { delivery: failed?.id })
      expect(shown.text).toContain('TypeError: revision is not a function')
      expect(shown.data.delivery.attempts[0]).toMatchObject({ response_status: 500 })

      // The signature is not the cause.
      const { headers, body } = shown.data.request
      const header = headers.find(({ name }) => name === 'X-Service-Signature')?.value
      expect((await call('verify', { header, body, secret })).data).toMatchObject({ ok: true })

      const { data: report, text } = await call<ConformanceReport>('receiver_check', {
        url,
        secret,
        only: ['accepts'],
        events: ['check.created', 'check.updated'],
      })
      expect(report).toMatchObject({ ok: false, totals: { failed: expect.any(Number) as number } })
      expect(
        report.cases.filter(({ verdict }) => verdict === 'failed').map(({ detail }) => detail),
      ).toContainEqual(expect.stringContaining('500'))
      expect(text).toMatch(/check\.updated/)
      expect(await kept(service)).toEqual(before)
    })

    test('a receiver that verifies a body that it has parsed and serialized again', async () => {
      const asPython = (text: string) =>
        JSON.stringify(JSON.parse(text), null, 1)
          .replace(/\n */g, ' ')
          .replaceAll('{ ', '{')
          .replaceAll(' }', '}')
      const url = await receiverAt(service, (response, { headers, body }) => {
        const isGenuine = isSigned(String(headers['x-service-signature']), asPython(body.toString()), secret)
        response.writeHead(isGenuine ? 204 : 400).end(isGenuine ? '' : 'invalid signature')
      })
      const { call } = agent
      const { data: triggered } = await call<{ external_check_id: string }>('trigger', {
        event: 'check.created',
      })
      await oneIsRefused(agent)
      const before = await kept(service)
      const { data: list } = await call<{ data: Delivery[] }>('deliveries_list', {
        check: triggered.external_check_id,
      })
      const shown = await call<Shown>('deliveries_show', { delivery: list.data[0]?.id })
      expect(shown.text).toContain('invalid signature')

      const { headers, body } = shown.data.request
      const header = headers.find(({ name }) => name === 'X-Service-Signature')?.value
      expect((await call('verify', { header, body, secret })).data).toMatchObject({ ok: true })
      // The agent reads in the receiver's code which body it verifies.
      const verified = await call('verify', { header, body: asPython(body), secret })
      expect(verified.data).toMatchObject({ ok: false, mistake: 'json_reserialised' })
      expect(verified.text).toMatch(/raw body/)

      const { data: report } = await call<ConformanceReport>('receiver_check', { url, secret })
      expect(report.cases.find(({ verdict }) => verdict === 'failed')).toMatchObject({
        group: 'control',
        id: 'genuine_accepted',
      })
      expect(await kept(service)).toEqual(before)
    })

    test('no endpoint is registered', async () => {
      const { call } = agent
      await call('trigger', { event: 'check.created' })
      const { text, isError } = await call('deliveries_wait', { timeout: 0 })
      expect(isError).toBe(false)
      expect(text).toContain('no enabled webhook endpoint is registered')
      expect((await call('endpoints')).data).toEqual({ data: [], next_cursor: null })
    })
  },
)
