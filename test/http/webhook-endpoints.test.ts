import { describe, expect, it } from 'vitest'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { eventTypes } from '../../src/model/event.ts'
import type { ValidationIssue } from '../../src/model/validation.ts'
import { errorOf, openReceiver, openSimulator, openStream, type TestSimulator } from '../support/simulator.ts'

const url = 'https://127.0.0.1:9/hooks'
const register = (simulator: TestSimulator, json: unknown) => simulator.call('POST /v1/webhook-endpoints', { json })

describe('registration', () => {
  it('is answered 201 with the endpoint and its signing secret', async () => {
    const simulator = await openSimulator()
    const { status, json } = await register(simulator, { url, event_types: ['check.closed', 'check.created'] })
    expect(status).toBe(201)
    expect(Object.keys(json as object).join()).toBe(
      'id,url,event_types,status,disabled_at,disabled_reason,created_at,signing_secret',
    )
    expect(json).toEqual({
      id: expect.stringMatching(/^we_[0-9A-HJKMNP-TV-Z]{26}$/) as string,
      url,
      event_types: ['check.closed', 'check.created'],
      status: 'enabled',
      disabled_at: null,
      disabled_reason: null,
      created_at: expect.stringMatching(/Z$/) as string,
      signing_secret: expect.stringMatching(/^whsec_[\w-]{43}$/) as string,
    })
  })

  it('shows the signing secret this once and nowhere else', async () => {
    const simulator = await openSimulator()
    const stream = await openStream(simulator)
    const receiver = await openReceiver()
    const { json, headers } = await register(simulator, { url: receiver.url, event_types: [...eventTypes] })
    const { id, signing_secret, ...shown } = json as WebhookEndpointView & { signing_secret: string }
    expect(await stream.next()).toMatchObject({ type: 'request', data: { status: 201, response_body: null } })
    await simulator.client.endpoints.ping(id)
    await simulator.push('a')
    await simulator.idle()
    expect((await simulator.call(`GET /v1/webhook-endpoints/${id}`)).json).toEqual({ id, ...shown })
    const paths = [
      `/v1/webhook-endpoints/${id}`,
      '/v1/webhook-endpoints',
      '/_sim/events',
      '/_sim/deliveries',
      '/_sim/requests',
      `/_sim/requests/${headers.get('x-request-id')}`,
      '/_sim/keys',
      '/_sim/health',
    ]
    const texts = await Promise.all(paths.map(async (path) => (await simulator.call(`GET ${path}`)).text))
    // Ping: event, attempt, request. Push: event, request, attempt.
    texts.push(JSON.stringify(await stream.take(6)), ...receiver.requests.map(({ body }) => body.toString()))
    texts.push((await simulator.call(`DELETE /_sim/webhook-endpoints/${id}`)).text)
    expect(texts.join('\n')).toContain(id)
    for (const text of texts) expect(text).not.toContain(signing_secret)
    for (const text of texts) expect(text).not.toContain('whsec_')
  })

  it('of a URL that is registered already makes another endpoint with a secret of its own', async () => {
    const simulator = await openSimulator()
    const answers = [1, 2].map(() => register(simulator, { url, event_types: ['check.created'] }))
    const [first, second] = (await Promise.all(answers)).map(({ json }) => json as { id: string; signing_secret: string })
    expect(first?.id).not.toBe(second?.id)
    expect(first?.signing_secret).not.toBe(second?.signing_secret)
  })

  it('deleted through /_sim, an endpoint is gone', async () => {
    const simulator = await openSimulator()
    const { id } = await simulator.client.endpoints.create({ url, event_types: ['check.created'] })
    expect((await simulator.client.endpoints.delete(id)).id).toBe(id)
    expect(await simulator.call(`GET /v1/webhook-endpoints/${id}`)).toMatchObject({ status: 404 })
    expect((await simulator.client.endpoints.list()).data).toEqual([])
  })
})

describe('a url', () => {
  it.each([
    'https://127.0.0.1:9/hooks',
    'https://127.0.0.1/',
    'https://localhost:9/hooks?tenant=1&x=%20',
    'HTTPS://LOCALHOST/',
    'https://10.0.0.1/hooks',
    'https://192.168.1.10:8443/hooks',
    'https://[::1]:8443/hooks',
    `https://127.0.0.1/${'x'.repeat(2048 - 'https://127.0.0.1/'.length)}`,
  ])('%s is accepted, and shown as it is called', async (address) => {
    const simulator = await openSimulator()
    const { status, json } = await register(simulator, { url: address, event_types: ['check.created'] })
    expect(status).toBe(201)
    expect((json as WebhookEndpointView).url).toBe(new URL(address).href)
  })

  it.each<[url: unknown, message: string | RegExp]>([
    [undefined, 'is required'],
    [null, 'must be a string'],
    [1, 'must be a string'],
    ['', 'at least 1 character'],
    ['example.com/hooks', 'must be an absolute URL'],
    ['/hooks', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https:/127.0.0.1/', 'must be an absolute URL'],
    ['https://a b/', 'must be an absolute URL'],
    [' https://127.0.0.1/', 'must be an absolute URL'],
    ['https://127.0.0.1/a\nb', 'must be an absolute URL'],
    ['https://127.0.0.1\\@example.com/', 'must be an absolute URL'],
    ['http://example.com/hooks', 'must be an https: URL'],
    ['http://127.0.0.1/hooks', '--allow-http-loopback'],
    ['ftp://example.com/', 'must be an https: URL'],
    ['javascript://%0aalert(1)', 'must be an https: URL'],
    ['https://user@127.0.0.1/', 'user name'],
    ['https://user:pass@127.0.0.1/', 'user name'],
    ['https://@127.0.0.1/', 'user name'],
    ['https://127.0.0.1/#top', 'fragment'],
    ['https://127.0.0.1/#', 'fragment'],
    ['https://169.254.169.254/latest', 'link-local'],
    ['https://[fe80::1]/', 'link-local'],
    ['https://[::ffff:169.254.169.254]/', 'link-local'],
    ['https://2852039166/', 'link-local'],
    ['https://0xa9.0xfe.0xa9.0xfe/', 'link-local'],
    ['https://0.0.0.0/', 'unspecified'],
    ['https://[::]/', 'unspecified'],
    ['https://224.0.0.1/', 'multicast'],
    ['https://255.255.255.255/', 'broadcast'],
    ['https://100.100.100.200/', 'metadata'],
    [`https://127.0.0.1/${'x'.repeat(2048)}`, '2048 characters'],
  ])('%s is 422: %s', async (address, message) => {
    const simulator = await openSimulator()
    const answer = await register(simulator, { url: address, event_types: ['check.created'] })
    expect(answer.status).toBe(422)
    const { issues } = errorOf(answer)
    expect(issues).toHaveLength(1)
    const [issue] = issues as ValidationIssue[]
    expect(issue).toMatchObject({ path: 'url', message: expect.stringContaining(String(message)) as string })
    expect((await simulator.client.endpoints.list()).data).toEqual([])
  })

  it('of the service itself is refused', async () => {
    const simulator = await openSimulator()
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::1]']) {
      const own = `https://${host}:${simulator.port}/v1`
      const answer = await register(simulator, { url: own, event_types: ['check.created'] })
      expect(errorOf(answer).message).toContain('this service itself')
    }
  })

  it('with http: is accepted for loopback hosts alone, with --allow-http-loopback', async () => {
    const simulator = await openSimulator({ allowHttpLoopback: true })
    const statusOf = async (address: string) =>
      (await register(simulator, { url: address, event_types: ['check.created'] })).status
    expect(await statusOf('http://127.0.0.1:9/')).toBe(201)
    expect(await statusOf('http://localhost:9/')).toBe(201)
    expect(await statusOf('http://192.168.1.1:9/')).toBe(422)
  })

  it('of a private or loopback address is refused with --deny-private', async () => {
    const simulator = await openSimulator({ denyPrivate: true })
    for (const address of ['https://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'https://[fd00::1]/'])
      expect(await register(simulator, { url: address, event_types: ['check.created'] })).toMatchObject({ status: 422 })
  })
})

describe('event_types', () => {
  it.each<[types: unknown]>([
    [undefined],
    [null],
    ['check.created'],
    [[]],
    [['ping']],
    [['check.*']],
    [['*']],
    [['CHECK.CREATED']],
    [[null]],
    [['check.created', 'check.created']],
    [['check.created', 'check.deleted']],
    [[...eventTypes, 'check.created']],
  ])('%j are 422', async (event_types) => {
    const simulator = await openSimulator()
    const answer = await register(simulator, { url, event_types })
    expect(answer.status).toBe(422)
    const { issues } = errorOf(answer)
    for (const { path } of issues as ValidationIssue[]) expect(path).toMatch(/^event_types/)
  })

  it('may be all eight, and are kept in the order given', async () => {
    const simulator = await openSimulator()
    const event_types = eventTypes.toReversed()
    const { json } = await register(simulator, { url, event_types })
    expect((json as WebhookEndpointView).event_types).toEqual(event_types)
  })

  it('are judged together with the url, all at once', async () => {
    const simulator = await openSimulator()
    const { issues } = errorOf(await register(simulator, { event_types: ['nothing'] }))
    expect((issues as ValidationIssue[]).map(({ path }) => path)).toEqual(['url', 'event_types[0]'])
  })
})
