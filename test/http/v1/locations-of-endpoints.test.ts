import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Location } from '../../../src/model/records.ts'
import type { WebhookEndpointView } from '../../../src/model/webhook-endpoint.ts'
import { openReceiver, openSimulator, temporaryDirectory } from '../../support/simulator.ts'

const event_types = ['check.created', 'claim.created', 'payment.succeeded', 'check.fully_paid'] as const

/** A service with a key and an endpoint for each of two locations; the start key is of the first. */
async function openBoth() {
  const simulator = await openSimulator()
  const { json } = await simulator.call('GET /v1/locations')
  const [, second] = (json as { data: Location[] }).data.sort((one, other) => (one.id < other.id ? -1 : 1))
  const otherKey = await simulator.key(['read', 'write', 'simulate'], second?.id)
  const register = async (url: string, key: string) => {
    const answer = await simulator.call('POST /v1/webhook-endpoints', { key, json: { url, event_types } })
    return answer.json as WebhookEndpointView
  }
  const [receiver, otherReceiver] = [await openReceiver(), await openReceiver()]
  return {
    ...simulator,
    otherKey,
    receivers: { here: receiver, there: otherReceiver },
    here: await register(receiver.url, simulator.apiKey),
    there: await register(otherReceiver.url, otherKey),
  }
}

describe('a webhook endpoint', () => {
  it('receives only events of its own location, with the data that GET returns to its key', async () => {
    const { call, push, idle, apiKey, otherKey, receivers } = await openBoth()
    await push('a')
    const claim = { json: { items: [{ external_id: 'burger', quantity: 1 }] } }
    expect((await call('POST /_sim/checks/a/claims', claim)).status).toBe(201)
    const { json } = await call('POST /_sim/checks/a/payments', { json: {} })
    await idle()
    const sent = (receiver: { requests: readonly { body: Buffer }[] }) =>
      receiver.requests.map(({ body }) => JSON.parse(body.toString()) as { type: string; data: unknown })
    expect(sent(receivers.there)).toEqual([])
    expect(
      sent(receivers.here)
        .map(({ type }) => type)
        .sort(),
    ).toEqual([...event_types].sort())
    const paid = sent(receivers.here).find(({ type }) => type === 'payment.succeeded')
    const path = `GET /v1/payments/${(json as { id: string }).id}`
    expect((await call(path, { key: apiKey })).json).toEqual(paid?.data)
    expect((await call(path, { key: otherKey })).status).toBe(404)
  })

  it('is listed and shown to keys of its location only', async () => {
    const { call, apiKey, otherKey, here, there } = await openBoth()
    for (const [key, own, foreign] of [
      [apiKey, here, there],
      [otherKey, there, here],
    ] as const) {
      for (const path of ['/v1/webhook-endpoints', '/_sim/webhook-endpoints']) {
        const { json } = await call(`GET ${path}`, { key })
        expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([own.id])
      }
      expect((await call(`GET /v1/webhook-endpoints/${own.id}`, { key })).status).toBe(200)
      expect((await call(`GET /v1/webhook-endpoints/${foreign.id}`, { key })).status).toBe(404)
    }
  })

  it.each(['POST /v1/webhook-endpoints/:id/test', 'POST /_sim/webhook-endpoints/:id/test'])(
    '%s pings it for keys of its location only',
    async (route) => {
      const { call, otherKey, here, receivers } = await openBoth()
      const path = route.replace(':id', here.id)
      expect((await call(path, { key: otherKey })).status).toBe(404)
      expect(receivers.here.requests).toHaveLength(0)
      expect((await call(path)).status).toBe(200)
      expect(receivers.here.requests).toHaveLength(1)
    },
  )

  it('is deleted by keys of its location only', async () => {
    const { call, otherKey, here } = await openBoth()
    const path = `DELETE /_sim/webhook-endpoints/${here.id}`
    expect((await call(path, { key: otherKey })).status).toBe(404)
    expect((await call(path)).status).toBe(200)
  })

  it('is shown without its location', async () => {
    const { call, here } = await openBoth()
    const texts = [JSON.stringify(here), (await call('GET /v1/webhook-endpoints')).text]
    for (const text of texts) {
      expect(text).toContain(here.id)
      expect(text).not.toContain('location_id')
    }
  })
})

it('a data directory without locations of endpoints opens, and gives them the first one', async () => {
  const dataDirectory = await temporaryDirectory()
  const receiver = await openReceiver()
  const before = await openSimulator({ dataDirectory })
  const register = async (url: string) =>
    (await before.client.endpoints.create({ url, event_types: ['check.created'] })).id
  const ids = [await register(receiver.url), await register(`${receiver.url}off`)].reverse()
  await before.close()
  await editSnapshot(dataDirectory, (text) =>
    text
      .replace(/"location_id":"[^"]*",("url")/g, '$1')
      .replace(/(off","event_types":\[[^\]]*\],"status":)"enabled"/, '$1"disabled"'),
  )

  const { client, push, idle, close } = await openSimulator({ dataDirectory })
  expect((await client.endpoints.list()).data.map((endpoint) => endpoint.id)).toEqual(ids)
  await push('a')
  await idle()
  expect(receiver.requests).toHaveLength(1)
  const { endpoints, locations } = await client.state.get()
  const [first] = locations.map((location) => location.id).sort()
  expect(endpoints).toMatchObject([
    { status: 'enabled', location_id: first },
    { status: 'disabled', location_id: first },
  ])
  await close()

  const again = await openSimulator({ dataDirectory })
  expect((await again.client.endpoints.list()).data.map((endpoint) => endpoint.id)).toEqual(ids)
})

/** Edits a snapshot and removes its checksum, as for an intended edit. */
async function editSnapshot(directory: string, edit: (text: string) => string): Promise<void> {
  const path = join(directory, 'db.json')
  const text = await readFile(path, 'utf8')
  const edited = edit(text).replace(/,\s*"checksum": "[^"]*"/, '')
  expect(edited).not.toContain('checksum')
  expect(edited).not.toBe(text)
  await writeFile(path, edited)
}
