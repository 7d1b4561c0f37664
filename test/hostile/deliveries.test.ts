import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { Stripe } from 'stripe'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Envelope } from '../../src/model/event.ts'
import type { Check } from '../../src/model/check.ts'
import { copyOf, tidyUp } from '../store/folder.ts'
import { startService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { deadUrl, item, openReceiver, openSimulator, temporaryDirectory } from '../support/simulator.ts'
import { openTarget } from './standing.ts'
import { naughtyStrings } from './test-data.ts'

tidyUp()

const { webhooks } = new Stripe('sk_test_x')

/** How many of the naughty strings one check carries. */
const EACH = 10

/** A signature as one writes it from the specification alone. */
function hmacOf(header: string, body: Buffer, secret: string): string {
  const [, t = ''] = /^t=(\d+),/.exec(header) ?? []
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}

describe('signatures', () => {
  test('of naughty strings are valid for two other verifiers, with each endpoint’s own secret', async () => {
    const target = await openTarget({ allowHttpLoopback: true })
    const receivers = [await startReceiver(), await startReceiver()]
    for (const { close } of receivers) onTestFinished(close)
    const secrets: string[] = []
    for (const { url } of receivers) {
      const made = await target.client.endpoints.create({ url, event_types: ['check.created'] })
      secrets.push(made.signing_secret)
    }
    const strings = naughtyStrings()
    for (let from = 0; from < strings.length; from += EACH) {
      const notes = strings.slice(from, from + EACH)
      await target.push(`s-${from}`, { items: notes.map((note, index) => item(`line-${index}`, { note })) })
    }
    await target.idle()
    const signatures = new Set<string>()
    const ids = receivers.map(({ requests }, index) => {
      const secret = secrets[index] ?? ''
      expect(requests).toHaveLength(Math.ceil(strings.length / EACH))
      return requests.map(({ body, headers }) => {
        const header = String(headers['x-service-signature'])
        expect(header).toBe(hmacOf(header, body, secret))
        expect(Number(headers['content-length'])).toBe(body.length)
        signatures.add(header.replace(/^.*v1=/, ''))
        const { id, data } = webhooks.constructEvent(body, header, secret) as unknown as Envelope
        const { external_id, items } = data as Check
        const from = Number(external_id.slice(2))
        expect(items.map(({ note }) => note)).toEqual(strings.slice(from, from + EACH))
        return id
      })
    })
    expect(signatures.size).toBe(2 * Math.ceil(strings.length / EACH))
    expect(ids[0]?.toSorted()).toEqual(ids[1]?.toSorted())
    await target.stands()
  })

  test('have an unguessable secret, a new one for each registration', async () => {
    const target = await openTarget()
    const register = () => target.client.endpoints.create({ url: deadUrl, event_types: ['check.closed'] })
    const made = await Promise.all(Array.from({ length: 100 }, register))
    const secrets = new Set(made.map(({ signing_secret }) => signing_secret))
    expect(secrets.size).toBe(100)
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[\w-]+$/)
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64url').length * 8).toBeGreaterThanOrEqual(192)
    }
    await target.stands()
  })
})

describe('after a crash', () => {
  const types = ['check.created'] as const

  /** A directory of a service that was killed at this moment, and the service that goes on with it. */
  async function goOnAfterKill(dataDirectory: string, kill: () => Promise<void>) {
    const copy = await copyOf(dataDirectory)
    await kill()
    return openSimulator({ dataDirectory: copy, disableAfter: 2 })
  }

  test('an attempt that was in flight is repeated, and its failure counts once', async () => {
    const dataDirectory = join(await temporaryDirectory(), 'data')
    const first = await openSimulator({ dataDirectory, disableAfter: 2 })
    let release = () => {}
    const receiver = await openReceiver((response) => (release = () => void response.writeHead(500).end()))
    const { id } = await first.client.endpoints.create({ url: receiver.url, event_types: [...types] })
    await first.push('a')
    await receiver.received(1)
    const second = await goOnAfterKill(dataDirectory, async () => {
      release()
      receiver.answer(500)
      await first.close()
    })
    await second.idle()
    expect(receiver.requests).toHaveLength(2)
    expect(receiver.requests[1]?.body).toEqual(receiver.requests[0]?.body)
    expect(await second.client.endpoints.get(id)).toMatchObject({ status: 'enabled' })
    await second.push('b')
    await second.idle()
    expect(await second.client.endpoints.get(id)).toMatchObject({ status: 'disabled' })
    // Windows removes no directory that is in use.
    await second.close()
  })

  test('pending retries are made once each, when they are due and not at startup', async () => {
    const count = 60
    const dataDirectory = join(await temporaryDirectory(), 'data')
    const options = { dataDirectory, disableAfter: 0 }
    const first = await openSimulator(options)
    const receiver = await openReceiver(500)
    await first.client.endpoints.create({ url: receiver.url, event_types: [...types] })
    await Promise.all(Array.from({ length: count }, (_, n) => first.push(`c-${n}`)))
    await first.idle()
    const dueTimes = async ({ client }: typeof first) =>
      (await client.deliveries.list({ status: 'pending', limit: 100 })).data.map((due) => [
        due.id,
        due.next_attempt_at,
      ])
    const before = await dueTimes(first)
    expect(before).toHaveLength(count)
    await first.close()
    expect(receiver.requests).toHaveLength(count)
    receiver.answer(200)
    const second = await openSimulator(options)
    await second.idle()
    expect(await dueTimes(second)).toEqual(before)
    expect(receiver.requests).toHaveLength(count)
    await second.call('POST /_sim/clock', { json: { advance: '2h' } })
    const ids = receiver.requests.map(({ body }) => (JSON.parse(body.toString()) as Envelope).id)
    expect(new Set(ids.slice(0, count)).size).toBe(count)
    expect(ids.slice(count).toSorted()).toEqual(ids.slice(0, count).toSorted())
  })
})

test.skipIf(process.platform === 'win32')(
  'a proxy in the environment gets no requests to this machine',
  async () => {
    const [proxy, receiver] = [await startReceiver(), await startReceiver()]
    try {
      const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
      const env: Record<string, string> = { NODE_USE_ENV_PROXY: '1' }
      for (const name of names) env[name] = proxy.url
      const service = await startService(['--allow-http-loopback', '--in-memory'], { env })
      const json = { url: receiver.url, event_types: ['check.created'] }
      const { id } = (await (await service.call('POST', '/v1/webhook-endpoints', json)).json()) as {
        id: string
      }
      const ping = await service.call('POST', `/v1/webhook-endpoints/${id}/test`)
      expect(await ping.json()).toMatchObject({ outcome: 'succeeded' })
      expect([receiver.requests.length, proxy.connected()]).toEqual([1, 0])
      expect(await service.stop()).toMatchObject({ code: 0 })
    } finally {
      await proxy.close()
      await receiver.close()
    }
  },
)
