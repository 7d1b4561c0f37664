import { describe, expect, it } from 'vitest'
import type { WebhookEndpointView } from '../../../src/model/webhook-endpoint.ts'
import { eventTypes } from '../../../src/model/event.ts'
import type { ValidationIssue } from '../../../src/model/validation.ts'
import {
  errorOf,
  openReceiver,
  openSimulator,
  openStream,
  type TestSimulator,
} from '../../support/simulator.ts'

const url = 'https://127.0.0.1:9/hooks'
const register = (simulator: TestSimulator, json: unknown) =>
  simulator.call('POST /v1/webhook-endpoints', { json })
const pathsOf = (issues: unknown) => (issues as ValidationIssue[]).map(({ path }) => path).toSorted()

describe('registration', () => {
  it('is answered 201 with the endpoint and its signing secret', async () => {
    const simulator = await openSimulator()
    const { status, json } = await register(simulator, {
      url,
      event_types: ['check.closed', 'check.created'],
    })
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

  it('shows the signing secret once and nowhere else', async () => {
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

  it('of a URL that is already registered creates another endpoint with its own secret', async () => {
    const simulator = await openSimulator()
    const answers = [1, 2].map(() => register(simulator, { url, event_types: ['check.created'] }))
    const [first, second] = (await Promise.all(answers)).map(
      ({ json }) => json as { id: string; signing_secret: string },
    )
    expect(first?.id).not.toBe(second?.id)
    expect(first?.signing_secret).not.toBe(second?.signing_secret)
  })

  it('with an unknown field is refused by /_sim, but /v1 ignores the field', async () => {
    const simulator = await openSimulator()
    const json = { url, event_types: ['check.created'], types: [] }
    const refused = await simulator.call('POST /_sim/webhook-endpoints', { json })
    expect([refused.status, errorOf(refused).issues]).toEqual([
      422,
      [{ path: 'body', message: 'has unknown fields: types' }],
    ])
    expect((await simulator.client.endpoints.list()).data).toEqual([])
    expect(await register(simulator, json)).toMatchObject({ status: 201 })
  })

  it('is undone by deleting the endpoint through /_sim', async () => {
    const simulator = await openSimulator()
    const { id } = await simulator.client.endpoints.create({ url, event_types: ['check.created'] })
    expect((await simulator.client.endpoints.delete(id)).id).toBe(id)
    expect(await simulator.call(`GET /v1/webhook-endpoints/${id}`)).toMatchObject({ status: 404 })
    expect((await simulator.client.endpoints.list()).data).toEqual([])
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

  it('are validated together with the url', async () => {
    const simulator = await openSimulator()
    const { issues } = errorOf(await register(simulator, { event_types: ['nothing'] }))
    expect((issues as ValidationIssue[]).map(({ path }) => path)).toEqual(['url', 'event_types[0]'])
  })

  it.each(['/v1', '/_sim'])('are validated together with the address in the url at %s', async (base) => {
    const simulator = await openSimulator()
    const json = { url: 'https://169.254.169.254/', event_types: ['nothing'] }
    const answer = await simulator.call(`POST ${base}/webhook-endpoints`, { json })
    const { issues } = errorOf(answer)
    expect([answer.status, pathsOf(issues)]).toEqual([422, ['event_types[0]', 'url']])
  })

  it('may be unknown and repeated, and both are listed at once', async () => {
    const simulator = await openSimulator()
    const event_types = ['bogus', 'check.created', 'check.created']
    const { issues } = errorOf(await register(simulator, { url, event_types }))
    expect(pathsOf(issues)).toEqual(['event_types', 'event_types[0]'])
  })
})

describe('a secret of the caller’s choice', () => {
  const signing_secret = `whsec_${'a'.repeat(43)}`
  const body = { url, event_types: ['check.created'], signing_secret }

  it('is used by POST /_sim/webhook-endpoints', async () => {
    const simulator = await openSimulator()
    const { status, json } = await simulator.call('POST /_sim/webhook-endpoints', { json: body })
    expect(status).toBe(201)
    expect(json).toMatchObject({ url, signing_secret })
  })

  it('is ignored by /v1, like by the real service', async () => {
    const simulator = await openSimulator()
    const { status, json } = await register(simulator, body)
    expect(status).toBe(201)
    expect((json as { signing_secret: string }).signing_secret).not.toBe(signing_secret)
  })

  it('must be a valid secret', async () => {
    const simulator = await openSimulator()
    const json = { ...body, signing_secret: 'whsec_short' }
    const { issues } = errorOf(await simulator.call('POST /_sim/webhook-endpoints', { json }))
    expect(issues).toEqual([
      {
        path: 'signing_secret',
        message: 'must be the prefix of signing secrets and 43 letters, digits, hyphens or underscores',
      },
    ])
  })
})
