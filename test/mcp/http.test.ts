import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { tools } from '../../src/mcp/server.ts'
import { checkBody } from '../support/cli.ts'
import { onJudged } from '../support/judged-answers.ts'
import { openReceiver, openSimulator, type TestSimulator } from '../support/simulator.ts'

const accept = { accept: 'application/json, text/event-stream' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

describe('a request to /mcp', () => {
  test('without a key, or with an unknown key, is answered with 401', async () => {
    const { call } = await openSimulator()
    for (const key of [null, 'twk_unknown']) {
      const answer = await call('POST /mcp', { key, json: list, headers: accept })
      expect(answer).toMatchObject({ status: 401, json: { error: { code: 'unauthorized' } } })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('with another method is answered with 405', async () => {
    const { call } = await openSimulator()
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await call(`${method} /mcp`, { headers: { accept: 'text/event-stream' } })
      expect(answer).toMatchObject({ status: 405, json: { error: { code: 'method_not_allowed' } } })
      expect(answer.headers.get('allow')).toBe('POST')
    }
    expect((await call('POST /mcp/more', { json: list })).status).toBe(404)
  })

  test.each([
    ['Host', 'rebound.example.com', 'forbidden_host'],
    ['Origin', 'https://example.com', 'forbidden_origin'],
    ['Sec-Fetch-Site', 'cross-site', 'forbidden_origin'],
  ])('with the foreign %s %s is refused', async (name, value, code) => {
    const { raw, apiKey } = await openSimulator()
    const body = JSON.stringify(list)
    const headers = {
      Host: 'localhost',
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Connection: 'close',
      [name]: value,
    }
    const lines = Object.entries(headers).map((pair) => pair.join(': '))
    const answer = await raw(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    expect(answer).toMatchObject({ status: 403, json: { error: { code } } })
  })

  test.each([
    ['malformed JSON', '{', 400, -32700],
    ['a byte-order mark', '\uFEFF{}', 400, -32700],
    ['a body beyond the limit', JSON.stringify({ ...list, params: { x: 'x'.repeat(3_000) } }), 413, -32600],
    ['JSON that is no message', '{"a":1}', 400, -32600],
    ['a text', '"x"', 400, -32600],
  ])('with %s is answered with an error of JSON-RPC', async (_what, body, status, code) => {
    const { call } = await openSimulator({ bodyLimit: 2_000 })
    const answer = await call('POST /mcp', {
      body,
      headers: { ...accept, 'content-type': 'application/json' },
    })
    expect(answer).toMatchObject({ status, json: { jsonrpc: '2.0', id: null, error: { code } } })
  })

  test('with another content type is answered with 415', async () => {
    const { call } = await openSimulator()
    const answer = await call('POST /mcp', {
      body: '{}',
      headers: { ...accept, 'content-type': 'text/plain' },
    })
    expect(answer).toMatchObject({
      status: 415,
      json: { error: { data: { code: 'unsupported_media_type' } } },
    })
  })

  test('is not in the request log, but the requests that it makes are', async () => {
    const simulator = await openSimulator()
    const args = { check: 'table-9', body: { wrong: true } }
    await callTool(simulator, 'push', args)
    const { json } = await simulator.call('GET /_sim/requests')
    expect((json as { data: { path: string }[] }).data.map(({ path }) => path)).toEqual([
      '/v1/checks/external/table-9',
    ])
  })

  test('with a cookie of the inspector instead of a key is answered with 401', async () => {
    const { call } = await openSimulator()
    const answer = await call('POST /mcp', {
      key: null,
      json: list,
      headers: { cookie: 'tabwire_session_default=x' },
    })
    expect(answer.status).toBe(401)
  })
})

async function callTool({ call }: Pick<TestSimulator, 'call'>, name: string, args: object) {
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const { status, text } = await call('POST /mcp', { json, headers: accept })
  expect(status).toBe(200)
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return (JSON.parse(data) as { result: { isError?: boolean; structuredContent: Record<string, unknown> } })
    .result
}

test('tools are refused beyond the rate limit of their caller', async () => {
  const simulator = await openSimulator({ rateLimit: '1/m' })
  await callTool(simulator, 'checks', {})
  expect(await callTool(simulator, 'checks', {})).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'rate_limited' } },
  })
})

test('receiver_check needs the scope simulate', async () => {
  const simulator = await openSimulator()
  const made = await simulator.call('POST /_sim/keys', { json: { scopes: ['read', 'write'] } })
  const { api_key: key } = made.json as { api_key: string }
  const call: TestSimulator['call'] = (route, options) => simulator.call(route, { ...options, key })
  const args = { url: 'https://a.test/', secret: 'whsec_x' }
  expect(await callTool({ call }, 'receiver_check', args)).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'insufficient_scope', required_scope: 'simulate' } },
  })
})

test('receiver_check needs no other scope, and works while faults of the API are injected', async () => {
  const { client, call, key: keyWith } = await openSimulator()
  const { url } = await openReceiver()
  const { signing_secret: secret } = await client.endpoints.create({ url })
  await client.faults.set({ faults: [{ on: 'api', error_rate: 1 }] })
  const key = await keyWith(['simulate'])
  const withKey: TestSimulator['call'] = (route, options) => call(route, { ...options, key })
  const args = { url, secret, only: ['accepts/non_ascii'] }
  const { isError = false, structuredContent } = await callTool({ call: withKey }, 'receiver_check', args)
  expect({ isError, ...structuredContent }).toMatchObject({ isError: false, target: url })
})

test('a waiting call ends when the service stops', async () => {
  const simulator = await openSimulator()
  const isWaiting = new Promise<void>((resolve) => {
    const stop = onJudged(({ request }) => {
      if (request?.path.startsWith('/_sim/stream') !== true) return
      stop()
      resolve()
    })
  })
  const waiting = callTool(simulator, 'deliveries_wait', { timeout: 50 })
  await isWaiting
  await simulator.close()
  expect(await waiting).toMatchObject({ isError: true })
})

test('a subscription to changes of the tools ends at once, because the tools never change', async () => {
  const { call } = await openSimulator()
  const version = '2026-07-28'
  const named = (name: string) => `io.modelcontextprotocol/${name}`
  const meta = {
    [named('protocolVersion')]: version,
    [named('clientInfo')]: { name: 'test', version: '1' },
    [named('clientCapabilities')]: {},
  }
  const method = 'subscriptions/listen'
  const { text } = await call('POST /mcp', {
    json: { ...list, method, params: { notifications: { toolsListChanged: true }, _meta: meta } },
    headers: { ...accept, 'mcp-protocol-version': version, 'mcp-method': method },
  })
  expect(text).toContain('"resultType":"complete"')
})

test('a simulator without a port answers requests to /mcp', async () => {
  const simulator = await createSimulator({ port: false })
  const response = await simulator.fetch('/mcp', {
    method: 'POST',
    headers: { ...accept, 'content-type': 'application/json', authorization: `Bearer ${simulator.apiKey}` },
    body: JSON.stringify(list),
  })
  expect(await response.text()).toContain('"name":"push"')
  await simulator.close()
})

describe('llms.txt', () => {
  test('links to each guide and to the document, which are served as text', async () => {
    const { call } = await openSimulator()
    const { status, headers, text } = await call('GET /llms.txt', { key: null })
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
    })
    const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link = '']) => link)
    const guides = await readdir(new URL('../../src/guides', import.meta.url))
    expect(links).toHaveLength(guides.length + 1)
    for (const link of links) {
      const answer = await call(`GET ${link}`, { key: null })
      expect([link, answer.status]).toEqual([link, 200])
      expect(answer.headers.get('content-type')).toMatch(link.endsWith('.md') ? /^text\/markdown/ : /json/)
      if (link.endsWith('.md')) expect(answer.text).toMatch(/^# /)
    }
    expect((await call('GET /docs/guides/nothing.md', { key: null })).status).toBe(404)
    expect((await call('GET /docs/guides/..%2FREADME.md', { key: null })).status).toBe(404)
  })
})

test('tools need the scopes that the guide names, and no others', async () => {
  const simulator = await openSimulator()
  const keyOf = async (name: string) => {
    const scopes = tools.find((tool) => tool.name === name)?.scopes
    const made = await simulator.call('POST /_sim/keys', { json: { scopes } })
    return (made.json as { api_key: string }).api_key
  }
  const calls: readonly [string, object][] = [
    ['push', { check: 'dinner', body: checkBody() }],
    ['checks', { check: 'dinner' }],
    ['trigger', { event: 'payment.succeeded' }],
    ['guests', { action: 'pay', check: 'dinner', amount_cents: 100 }],
    ['guests', { action: 'claim', check: 'dinner', items: [{ external_id: 'line-2', quantity: 1 }] }],
    ['endpoints', {}],
    ['deliveries_list', {}],
    ['deliveries_wait', { timeout: 0 }],
    ['report', { account: true }],
    ['clock', {}],
    ['faults', {}],
  ]
  for (const [name, args] of calls) {
    const key = await keyOf(name)
    const call: TestSimulator['call'] = (route, options) => simulator.call(route, { ...options, key })
    const { isError = false, structuredContent } = await callTool({ call }, name, args)
    expect({ name, isError, error: structuredContent.error }).toEqual({
      name,
      isError: false,
      error: undefined,
    })
  }
})

test('the guests tool reports a successful action, even with injected errors of the API', async () => {
  const simulator = await openSimulator()
  await callTool(simulator, 'push', { check: 'dinner', body: checkBody() })
  await simulator.call('PUT /_sim/faults', { json: { faults: [{ on: 'api', error_rate: 1 }] } })
  const { isError = false } = await callTool(simulator, 'guests', { action: 'pay', check: 'dinner' })
  expect(isError).toBe(false)
})

test('a report with all_closed contains the account, in which an open check is a problem', async () => {
  const simulator = await openSimulator()
  await callTool(simulator, 'push', { check: 'dinner', body: checkBody() })
  const { structuredContent } = await callTool(simulator, 'report', { all_closed: true })
  expect(structuredContent).toMatchObject({ account: { checks_total: 1, problems_total: 1 } })
})

test('deliveries and account contain the latest 20 records, and the total number', async () => {
  const simulator = await openSimulator()
  simulator.receive('https://a.test/', () => new Response(null, { status: 204 }))
  await simulator.call('POST /v1/webhook-endpoints', {
    json: { url: 'https://a.test/', event_types: ['check.created'] },
  })
  for (let number = 1; number <= 21; number++)
    await callTool(simulator, 'push', { check: `check-${number}`, body: checkBody() })
  const waited = await callTool(simulator, 'deliveries_wait', { type: 'check.created', count: 21 })
  expect(waited.structuredContent).toMatchObject({ met: true, total: 21 })
  const { data } = waited.structuredContent as { data: { external_check_id: string }[] }
  expect(data).toHaveLength(20)
  expect(data.map(({ external_check_id }) => external_check_id)).not.toContain('check-1')
  const { structuredContent } = await callTool(simulator, 'report', { account: true })
  expect(structuredContent).toMatchObject({ account: { checks_total: 21, problems_total: 0 } })
  expect((structuredContent as { account: { checks: [] } }).account.checks).toHaveLength(20)
})
