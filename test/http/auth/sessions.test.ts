import { describe, expect, it } from 'vitest'
import { createSessions, sessionCookie } from '../../../src/http/auth/sessions.ts'
import { newToken } from '../../../src/ids.ts'
import { createLocalValues } from '../../../src/store/shared-values.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { check, errorOf, openSimulator, type TestSimulator } from '../../support/simulator.ts'

const ownPage = { 'sec-fetch-site': 'same-origin' }

const codeIn = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('link') ?? ''

const exchange = ({ call }: TestSimulator, code: string, headers: Record<string, string> = ownPage) =>
  call('POST /_sim/session', { key: null, json: { code }, headers })

/** A browser that followed a link: its requests have the cookie, the page's secret and fetch metadata. */
async function openBrowser(
  options: SimulatorOptions = {},
  link?: (simulator: TestSimulator) => Promise<string>,
) {
  const simulator = await openSimulator(options)
  const begun = await exchange(simulator, codeIn((await link?.(simulator)) ?? simulator.inspectorLink()))
  expect(begun.status).toBe(201)
  const [cookie = ''] = begun.headers.get('set-cookie')?.split(';') ?? []
  const pageSecret = (begun.json as { page_secret: string }).page_secret
  const session = { cookie, 'x-tabwire-page': pageSecret }
  const ask = (route: string, headers: Record<string, string> = ownPage, json?: unknown) =>
    simulator.call(route, {
      key: null,
      headers: { ...session, ...headers },
      ...(json !== undefined && { json }),
    })
  return { ...simulator, begun, session, pageSecret, ask }
}

describe('a link to the inspector', () => {
  it('contains no key, keeps its code from the server, and is valid once', async () => {
    const simulator = await openSimulator()
    const link = simulator.inspectorLink()
    expect(link).toMatch(new RegExp(`^${simulator.url}/#link=[\\w-]{22}$`))
    expect(await exchange(simulator, codeIn(link))).toMatchObject({
      status: 201,
      json: { page_secret: expect.stringMatching(/^[\w-]{22}$/) as string },
    })
    const again = await exchange(simulator, codeIn(link))
    expect([again.status, errorOf(again).code]).toEqual([401, 'unauthorized'])
  })

  it('is created for any key with the scope simulate', async () => {
    const simulator = await openSimulator()
    const { status, json } = await simulator.call('POST /_sim/inspector-links')
    expect([status, json]).toEqual([
      201,
      { code: expect.stringMatching(/^[\w-]{22}$/) as string, expires_in_seconds: 600 },
    ])
    const reader = await simulator.key(['read', 'write'])
    expect(await simulator.call('POST /_sim/inspector-links', { key: reader })).toMatchObject({ status: 403 })
    expect(await simulator.call('POST /_sim/inspector-links', { key: null })).toMatchObject({ status: 401 })
  })

  it('expires after ten minutes', async () => {
    let now = 0
    const sessions = createSessions({ values: createLocalValues(), newToken, measure: () => now })
    const [{ code: one }, { code: other }] = [sessions.invite('a'), sessions.invite('b')]
    now = 600_000
    expect(await sessions.keyHashOf((await sessions.begin(one)) ?? { token: '', pageSecret: '' })).toBe('a')
    now = 600_001
    expect(await sessions.begin(other)).toBeUndefined()
  })

  it('is dropped when a hundred newer ones exist', async () => {
    const sessions = createSessions({ values: createLocalValues(), newToken, measure: () => 0 })
    const codes = Array.from({ length: 101 }, () => sessions.invite('a').code)
    const keyOf = async (code = '') => {
      const secrets = await sessions.begin(code)
      return secrets && sessions.keyHashOf(secrets)
    }
    expect([await keyOf(codes[0]), await keyOf(codes[1]), await keyOf(codes[100])]).toEqual([
      undefined,
      'a',
      'a',
    ])
  })

  it.each(['', 'x', 'A'.repeat(22)])('with the code “%s” is refused', async (code) => {
    expect(await exchange(await openSimulator(), code)).toMatchObject({ status: 401 })
  })

  it.each([{}, null, [], { code: 1 }])('is not created by %j', async (json) => {
    const { call } = await openSimulator()
    expect(await call('POST /_sim/session', { key: null, json, headers: ownPage })).toMatchObject({
      status: 422,
    })
  })

  it.each([
    {},
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://localhost:1' },
  ])('is exchanged only by a page of the service, not with %j', async (headers) => {
    const simulator = await openSimulator()
    const code = codeIn(simulator.inspectorLink())
    expect(errorOf(await exchange(simulator, code, headers)).code).toBe('forbidden_origin')
    expect(await exchange(simulator, code)).toMatchObject({ status: 201 })
  })

  it('says that a proxy has replaced the Host header', async () => {
    const simulator = await openSimulator()
    const code = codeIn(simulator.inspectorLink())
    const answer = await exchange(simulator, code, { ...ownPage, origin: 'https://localhost:8443' })
    expect(errorOf(answer).message).toBe(
      `A session can only be started by a page of this service. The page is at https://localhost:8443, but the request has the Host 127.0.0.1:${simulator.port}. A proxy must pass the Host header on with its port, in nginx by proxy_set_header Host $http_host.`,
    )
    const sameSite = await exchange(simulator, code, {
      'sec-fetch-site': 'same-site',
      origin: 'http://localhost:1',
    })
    expect(errorOf(sameSite).message).toBe('A session can only be started by a page of this service.')
  })

  it('does not change a seeded run', async () => {
    const run = async (links: number) => {
      const { inspectorLink, push, client } = await openSimulator({ seed: 7 })
      const made = Array.from({ length: links }, inspectorLink)
      await push('a')
      return { made, checks: (await client.checks.list()).data, events: (await client.events.list()).data }
    }
    const [none, many] = [await run(0), await run(3)]
    expect({ ...many, made: [] }).toEqual(none)
    expect((await run(3)).made).not.toEqual(many.made)
  })
})

describe('a session', () => {
  it('is in a cookie that scripts cannot read, other sites cannot send, and only /_sim gets', async () => {
    const { begun, port } = await openBrowser()
    expect(begun.headers.get('set-cookie')).toMatch(
      new RegExp(`^tabwire_session_${port}=[\\w-]{22}; Path=/_sim; HttpOnly; SameSite=Strict$`),
    )
  })

  it('acts for the key under /_sim only, and for pages of the service only', async () => {
    const { ask } = await openBrowser()
    expect(await ask('GET /_sim/deliveries')).toMatchObject({ status: 200 })
    expect(await ask('POST /_sim/clock', ownPage, { advance: '1s' })).toMatchObject({ status: 200 })
    for (const route of ['GET /v1/checks', 'GET /v1/locations'])
      expect(await ask(route)).toMatchObject({ status: 401 })
    expect(await ask('PUT /v1/checks/external/a', ownPage, check())).toMatchObject({ status: 401 })
  })

  // Another server on this host gets the cookie below /_sim; as a program it can fake all browser headers.
  it('is useless to a server on another port that has its cookie and fakes its page', async () => {
    const { session, pageSecret, call, url } = await openBrowser()
    const askWith = (headers: Record<string, string>, route: string, json?: unknown) =>
      call(route, {
        key: null,
        headers: { cookie: session.cookie, origin: url, ...ownPage, ...headers },
        ...(json !== undefined && { json }),
      })
    const wrong: Record<string, string>[] = [
      {},
      { 'x-tabwire-page': '' },
      { 'x-tabwire-page': 'A'.repeat(22) },
      { 'x-tabwire-page': pageSecret.slice(1) },
    ]
    for (const headers of wrong) {
      for (const route of ['GET /_sim/events', 'GET /_sim/stream', 'GET /_sim/requests'])
        expect([route, (await askWith(headers, route)).status]).toEqual([route, 401])
      expect(await askWith(headers, 'POST /_sim/reset', {})).toMatchObject({ status: 401 })
      expect(await askWith(headers, 'GET /_sim/session')).toMatchObject({ json: { session: null } })
    }
    expect(await askWith({ 'x-tabwire-page': pageSecret }, 'GET /_sim/events')).toMatchObject({ status: 200 })
    expect(
      await call('GET /_sim/events', { key: null, headers: { ...ownPage, 'x-tabwire-page': pageSecret } }),
    ).toMatchObject({ status: 401 })
  })

  it.each([
    ['GET /_sim/keys', undefined],
    ['POST /_sim/keys', { name: 'mine', scopes: ['simulate'] }],
    ['DELETE /_sim/keys/key_x', undefined],
    ['GET /_sim/state', undefined],
    ['PUT /_sim/state', {}],
    ['GET /_sim/bundle', undefined],
    ['POST /_sim/inspector-links', {}],
  ])('cannot manage keys, states, bundles or links: %s needs the key itself', async (route, json) => {
    const { ask, client } = await openBrowser()
    const answer = await ask(route, ownPage, json)
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized'])
    expect((await client.keys.list()).data).toHaveLength(1)
  })

  it('has the scopes of its key', async () => {
    const { ask, client } = await openBrowser({}, async ({ call, key }) => {
      const answer = await call('POST /_sim/inspector-links', { key: await key(['simulate']) })
      return `http://any/#link=${(answer.json as { code: string }).code}`
    })
    expect(await ask('GET /_sim/events')).toMatchObject({ status: 200 })
    for (const { id, name } of (await client.keys.list()).data)
      if (name !== 'start') await client.keys.revoke(id)
    expect(await ask('GET /_sim/events')).toMatchObject({ status: 401 })
    expect(await ask('GET /_sim/session')).toMatchObject({ json: { session: null } })
  })

  // A page on another port of this machine is of the same site, and its requests carry the cookie.
  it.each<Record<string, string>>([
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:1' },
    { origin: 'http://localhost:3000' },
    { origin: 'null' },
    { origin: 'https://example.com' },
  ])('gets 403 and changes nothing with the headers %j', async (headers) => {
    const { ask, client } = await openBrowser()
    const before = await client.clock.show()
    for (const [route, json] of [
      ['GET /_sim/state', undefined],
      ['GET /_sim/stream', undefined],
      ['POST /_sim/reset', {}],
      ['POST /_sim/keys', {}],
      ['POST /_sim/clock', { freeze: true }],
    ] as const) {
      const answer = await ask(route, headers, json)
      expect([route, answer.status, errorOf(answer).code]).toEqual([route, 403, 'forbidden_origin'])
    }
    expect((await client.clock.show()).frozen).toBe(before.frozen)
  })

  it('allows only reads for a browser without fetch metadata', async () => {
    const { ask, url } = await openBrowser()
    expect(await ask('GET /_sim/events', {})).toMatchObject({ status: 200 })
    expect(errorOf(await ask('POST /_sim/reset', {}, {})).code).toBe('forbidden_origin')
    expect(await ask('POST /_sim/reset', { origin: url }, {})).toMatchObject({ status: 200 })
  })

  it('is not valid under another Host, which is refused as well', async () => {
    const { raw, session, pageSecret, port } = await openBrowser()
    const askAs = (host: string) =>
      raw(
        `GET /_sim/events HTTP/1.1\r\nHost: ${host}\r\nCookie: ${session.cookie}\r\nX-Tabwire-Page: ${pageSecret}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n`,
      )
    expect(await askAs(`127.0.0.1:${port}`)).toMatchObject({ status: 200 })
    expect(await askAs('localhost:1')).toMatchObject({ status: 401 })
    expect(errorOf(await askAs(`rebound.example:${port}`)).code).toBe('forbidden_host')
  })

  it('is ignored when the request has a key, even a wrong one', async () => {
    const { ask } = await openBrowser()
    expect(await ask('GET /_sim/events', { ...ownPage, authorization: 'Bearer no' })).toMatchObject({
      status: 401,
    })
  })

  it('ends on request, and with the service', async () => {
    const { ask, session, port, close } = await openBrowser()
    const ended = await ask('DELETE /_sim/session')
    expect([ended.status, ended.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0') as string,
    ])
    expect(await ask('GET /_sim/events')).toMatchObject({ status: 401 })
    await close()
    const next = await openSimulator({ port })
    // Not over the port, where this process still has connections to the service that has ended.
    const headers = { ...session, ...ownPage }
    expect(await next.fetch('/_sim/events', { headers })).toMatchObject({ status: 401 })
  })

  it('does not appear in the request log', async () => {
    const { client, ask, session, pageSecret } = await openBrowser()
    await ask('GET /')
    await ask('GET /_sim/session')
    const log = JSON.stringify(await client.requests.list())
    for (const secret of [session.cookie.split('=')[1] ?? '', pageSecret]) expect(log).not.toContain(secret)
    expect((await client.requests.list()).data).toEqual([])
  })
})

describe('the page of the inspector', () => {
  it('is the same for everyone, contains no data, and loads scripts and markup from the service only', async () => {
    const { call, push, apiKey } = await openSimulator()
    await push('<script>')
    const { status, headers, text } = await call('GET /', { key: null })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(text).not.toContain(apiKey)
    expect(await call('GET /?view=checks&q=x', { key: null })).toMatchObject({ status: 200, text })
    const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link)
    expect(
      links.filter((link) => !link.startsWith('/assets/inspector-') && !link.startsWith('data:')),
    ).toEqual([])
  })

  it('answers HEAD, and no other method', async () => {
    const { call } = await openSimulator()
    expect(await call('HEAD /', { key: null })).toMatchObject({ status: 200, text: '' })
    const posted = await call('POST /', { key: null })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

it('the cookie of a service on HTTPS is sent over HTTPS only, and its end, too', () => {
  const headers = new Headers({ host: 'localhost:4100' })
  const attributes = 'Path=/_sim; HttpOnly; SameSite=Strict'
  expect(sessionCookie(headers, 'x', true)).toBe(`tabwire_session_4100=x; ${attributes}; Secure`)
  expect(sessionCookie(headers, 'x', false)).toBe(`tabwire_session_4100=x; ${attributes}`)
  expect(sessionCookie(headers, undefined, true)).toBe(
    `tabwire_session_4100=; ${attributes}; Secure; Max-Age=0`,
  )
})
