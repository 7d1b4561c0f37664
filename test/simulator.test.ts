import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Stripe } from 'stripe'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { openAuthority } from '../src/certificates/authority.ts'
import { createClient } from '../src/client.ts'
import { PortUnavailable } from '../src/http/listen.ts'
import { put } from '../src/model/records.ts'
import { startSimulator } from '../src/simulator.ts'
import type { SimulatorOptions } from '../src/simulator-options.ts'
import { DirectoryInUse } from '../src/store/errors.ts'
import { openFileStore } from '../src/store/file-store.ts'
import { endpoint, save } from './store/records.ts'
import { startReceiver } from './support/https-receiver.ts'
import { createManualClock } from './support/manual-clock.ts'
import {
  check,
  errorOf,
  openReceiver,
  openSimulator,
  temporaryDirectory,
  totals,
} from './support/simulator.ts'
import { expectMode } from './support/file-mode.ts'

const { webhooks } = new Stripe('sk_test_x')
const HOUR = 3_600_000

test('endpoints that an early version stored without a location get the first one, which a notice says', async () => {
  const dataDirectory = await temporaryDirectory()
  const first = await openSimulator({ dataDirectory })
  await first.close()
  const store = await openFileStore({ directory: dataDirectory })
  const { location_id: _none, ...old } = endpoint(1)
  await save(store, put('endpoints', old as ReturnType<typeof endpoint>))
  await store.close()
  const notices: string[] = []
  const onNotice = (notice: string) => notices.push(notice)
  const { client, close } = await openSimulator({ dataDirectory, onNotice })
  const [location] = (await client.locations.list()).data.toReversed()
  expect((await client.endpoints.list()).data).toMatchObject([{ id: old.id }])
  expect(notices).toEqual([
    `An early version stored 1 endpoint without a location. It belongs to ${location?.name} (${location?.id}) now. For another location, delete the endpoint and register it again with a key of that location.`,
  ])
  await close()
  await (await openSimulator({ dataDirectory, onNotice })).close()
  expect(notices).toHaveLength(1)
})

describe('a fresh simulator', () => {
  it('has the two locations of the fixture, and one key with all scopes for the first of them', async () => {
    const { client, apiKey } = await openSimulator()
    const fixture = JSON.parse(await readFile('fixtures/locations.json', 'utf8')) as object[]
    const locations = (await client.locations.list()).data.toReversed()
    expect(locations).toMatchObject(fixture)
    expect(locations).toHaveLength(2)
    const keys = (await client.keys.list()).data
    expect(keys).toMatchObject([{ scopes: ['read', 'write', 'simulate'], location_id: locations[0]?.id }])
    expect(apiKey).toMatch(/^twk_[\w-]{43}$/)
  })

  it('keeps its key in credentials.json, readable by its owner only, and nowhere else', async () => {
    const dataDirectory = await temporaryDirectory()
    const { apiKey, close, push } = await openSimulator({ dataDirectory })
    await push('a')
    await close()
    const file = join(dataDirectory, 'credentials.json')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ api_key: apiKey })
    await expectMode(file, 0o600)
    for (const entry of await readdir(dataDirectory, { recursive: true, withFileTypes: true }))
      if (entry.isFile() && entry.name !== 'credentials.json')
        expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).not.toContain(apiKey)
  })

  it('does not replace a credentials.json that it cannot read', async () => {
    const dataDirectory = await temporaryDirectory()
    await mkdir(join(dataDirectory, 'credentials.json'))
    await expect(openSimulator({ dataDirectory })).rejects.toThrow(
      /^Cannot use [^ ]+\/credentials\.json: it is a directory, not a file \(EISDIR\)\./,
    )
  })

  it('refuses a service name that cannot be part of a header', async () => {
    await expect(openSimulator({ serviceName: 'A B' })).rejects.toThrow(
      'serviceName must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "A B".',
    )
  })

  it.each(['Acme', 'X-Acme-Signature'])('signs under the given service name, as %s', async (serviceName) => {
    const { client, push, idle } = await openSimulator({ serviceName })
    const receiver = await openReceiver()
    const { signing_secret } = await client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created'],
    })
    await push('a')
    await idle()
    const [request] = receiver.requests
    const header = String(request?.headers['x-acme-signature'])
    expect(webhooks.constructEvent(request?.body ?? '', header, signing_secret).type).toBe('check.created')
    expect(request?.headers['user-agent']).toBe('Acme-Webhooks/1.0')
  })
})

describe('a simulator that is closed and started again on its data directory', () => {
  it('has the same key, checks, endpoints and events, byte for byte', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openSimulator({ dataDirectory })
    await first.client.endpoints.create({ url: 'https://127.0.0.1:9/', event_types: ['feedback.received'] })
    await first.push('a', { revision: 1 })
    await first.push('b / 🍮')
    await first.push('a', { revision: 2, totals: totals(2000) })
    const paths = [
      '/v1/locations',
      '/v1/checks',
      '/v1/webhook-endpoints',
      '/_sim/events',
      '/_sim/keys',
      '/v1/checks/external/a',
    ]
    const textsOf = (simulator: typeof first) =>
      Promise.all(paths.map(async (path) => (await simulator.call(`GET ${path}`)).text))
    const texts = await textsOf(first)
    await first.close()
    const second = await openSimulator({ dataDirectory })
    expect(second.apiKey).toBe(first.apiKey)
    expect(await textsOf(second)).toEqual(texts)
    expect(await second.push('a', { revision: 1 })).toMatchObject({ status: 200, text: texts.at(-1) })
  })

  it('sends the pending deliveries, with the same bytes and secret', async () => {
    const dataDirectory = await temporaryDirectory()
    const clock = createManualClock()
    const receiver = await openReceiver('reset') // as good as down
    const first = await openSimulator({ dataDirectory, clock })
    const { signing_secret } = await first.client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created'],
    })
    await first.push('a')
    await first.idle()
    const [before] = (await first.client.deliveries.list()).data
    expect(before).toMatchObject({
      status: 'pending',
      attempts: [{ number: 1, outcome: 'connection_reset' }],
    })
    await first.close()
    receiver.answer(200)
    clock.advance(3 * HOUR)
    expect(receiver.requests).toHaveLength(1)

    const second = await openSimulator({ dataDirectory, clock })
    await second.idle()
    const { body, headers } = receiver.requests[1] ?? {}
    const event = webhooks.constructEvent(
      body ?? '',
      String(headers?.['x-service-signature']),
      signing_secret,
    )
    expect(event.id).toBe(before?.event_id)
    expect(body).toEqual(receiver.requests[0]?.body)
    expect(await second.client.deliveries.get(before?.id ?? '')).toMatchObject({
      status: 'delivered',
      attempts: [{ number: 1 }, { number: 2, started_at: '2026-11-21T21:00:00.000Z' }],
    })
  })

  it('creates a key when the stored one was revoked, and accepts a given one', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openSimulator({ dataDirectory })
    const [key] = (await first.client.keys.list()).data
    await first.client.keys.revoke(key?.id ?? '')
    await first.close()
    const second = await openSimulator({ dataDirectory })
    expect(second.apiKey).not.toBe(first.apiKey)
    expect(await second.call('GET /v1/locations', { key: first.apiKey })).toMatchObject({ status: 401 })
    expect(await second.call('GET /v1/locations')).toMatchObject({ status: 200 })
    await second.close()
    const third = await openSimulator({ dataDirectory, apiKey: 'of-the-ci' })
    expect(await third.call('GET /v1/locations', { key: 'of-the-ci' })).toMatchObject({ status: 200 })
    await third.close()
    // A given key is valid again after its revocation.
    const fourth = await openSimulator({ dataDirectory, apiKey: first.apiKey })
    expect(await fourth.call('GET /v1/locations')).toMatchObject({ status: 200 })
  })
})

describe('a simulator that starts', () => {
  it('fails on a port in use, uses no other port, and leaves its directory unlocked', async () => {
    const dataDirectory = await temporaryDirectory()
    const { port } = await openSimulator()
    await expect(startSimulator({ port, dataDirectory })).rejects.toThrow(PortUnavailable)
    await openSimulator({ dataDirectory })
  })

  it('fails on a data directory in use, and does not change it', async () => {
    const dataDirectory = await temporaryDirectory()
    const { push } = await openSimulator({ dataDirectory })
    await expect(startSimulator({ port: 0, dataDirectory })).rejects.toThrow(DirectoryInUse)
    expect(await push('a')).toMatchObject({ status: 201 })
  })

  it('reads neither PORT nor HOST of the environment', async () => {
    process.env.PORT = '1'
    process.env.HOST = '192.0.2.1'
    onTestFinished(() => {
      delete process.env.PORT
      delete process.env.HOST
    })
    expect(await (await openSimulator()).call('GET /_sim/health')).toMatchObject({ status: 200 })
  })
})

describe('a data directory that is deleted under a running service', () => {
  it.skipIf(process.platform === 'win32')('causes 503 for writes, and is not created again', async () => {
    const parent = await temporaryDirectory()
    const dataDirectory = join(parent, '.tabwire')
    const { call, push, close } = await openSimulator({ dataDirectory })
    const stored = await push('a')
    await rm(dataDirectory, { recursive: true })

    const refused = await push('b')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(errorOf(refused)).toMatchObject({ code: 'storage_unavailable' })
    expect(errorOf(refused).message).toContain('the data directory was deleted, moved or replaced')
    expect(await call('GET /v1/checks/external/b')).toMatchObject({ status: 404 })
    expect((await call('GET /v1/checks/external/a')).text).toBe(stored.text)
    expect(await call('POST /_sim/clock', { json: { advance: '1h' } })).toMatchObject({ status: 503 })
    expect(await readdir(parent)).toEqual([])

    const next = await openSimulator({ dataDirectory })
    expect(await next.push('c')).toMatchObject({ status: 201 })
    expect(await push('d')).toMatchObject({ status: 503 })
    await close()
    await next.close()
    const again = await openSimulator({ dataDirectory })
    expect((await again.client.checks.list()).data).toMatchObject([{ external_id: 'c' }])
  })
})

describe('the local authority', () => {
  it('is trusted by the sender of a simulator with that data directory', async () => {
    const dataDirectory = join(await temporaryDirectory(), 'data')
    await mkdir(dataDirectory)
    const tls = await (await openAuthority(dataDirectory)).issue(['127.0.0.1'])
    const receiver = await startReceiver({ tls })
    onTestFinished(() => receiver.close())
    const { client } = await openSimulator({ dataDirectory, ca: [] })
    const { id } = await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    expect(await client.endpoints.ping(id)).toMatchObject({ outcome: 'succeeded' })
  })

  it('issues the certificate of a simulator with HTTPS, which needs a directory for it', async () => {
    await expect(startSimulator({ port: 0, https: true })).rejects.toThrow(/local certificate authority/)
    const { url, apiKey, ca } = await openSimulator({
      dataDirectory: await temporaryDirectory(),
      https: true,
    })
    expect(url).toMatch(/^https:/)
    const client = createClient({ url, apiKey, ca })
    expect((await client.checks.push('a', JSON.stringify(check()))).status).toBe(201)
    await expect(fetch(url)).rejects.toThrow()
  })

  it('certifies all addresses of the machine when the host is 0.0.0.0', async () => {
    const host = '0.0.0.0'
    const dataDirectory = await temporaryDirectory()
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    const certificateWith = async (options: SimulatorOptions) => {
      const { url, ca, close } = await openSimulator({ dataDirectory, https: true, ...options })
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ca })
      await once(socket, 'secureConnect')
      const { raw } = socket.getPeerCertificate()
      socket.destroy()
      await close()
      return new X509Certificate(raw)
    }
    const first = await certificateWith({ host })
    for (const { address } of own) expect(first.checkIP(address)).toBe(address)
    expect(first.checkIP(host)).toBeUndefined()
    // An authority that was created for localhost alone.
    await rm(join(dataDirectory, 'ca'), { recursive: true })
    await certificateWith({})
    const again = await certificateWith({ host, publicUrl: 'https://tabwire.test' })
    const local = own.filter(({ address }) => /^(10|127|192\.168)\./.test(address))
    for (const { address } of local) expect(again.checkIP(address)).toBe(address)
    expect(again.checkIP(host)).toBeUndefined()
    expect(again.checkHost('tabwire.test')).toBe('tabwire.test')
    expect(
      (await certificateWith({ publicUrl: 'https://shop.example.com' })).checkHost('shop.example.com'),
    ).toBeUndefined()
  })

  it('of another data directory is not trusted: deliveries to its receivers fail with tls_error', async () => {
    const { client } = await openSimulator({ ca: [] })
    const receiver = await openReceiver()
    const { id } = await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    expect(await client.endpoints.ping(id)).toMatchObject({ outcome: 'tls_error', response_status: null })
    expect(receiver.requests).toEqual([])
  })
})
