import { request as httpRequest, type RequestListener } from 'node:http'
import { randomUUID } from 'node:crypto'
import { createServer as createHttpsServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkContract, type ContractCheck } from '../../../src/conformance/contract/check.ts'
import { parseJson } from '../../../src/conformance/contract/ask.ts'
import { idCandidates } from '../../../src/conformance/contract/shape.ts'
import { checkReceiver } from '../../../src/conformance/receiver/check.ts'
import { openReceiver } from '../../../src/conformance/contract/receiver.ts'
import { reportable, contractCases } from '../../../src/conformance/contract/run.ts'
import { openSimulator, testAuthority } from '../../support/simulator.ts'
import { receiverTls } from './examine.ts'
import { openHttpServer } from '../../support/http-server.ts'

const API_KEY = 'key-of-this-test'

async function serve(listener: RequestListener): Promise<string> {
  const { url } = await openHttpServer((incoming, response) => {
    incoming.resume()
    listener(incoming, response)
  })
  return `${url}/v1`
}

/** Short, except for responses: a busy machine is no silent service. */
const limits = { answerMs: 10_000, eventMs: 200, settleMs: 100, quietMs: 50 }
/** For services that do not respond. */
const silent = { timeouts: { ...limits, answerMs: 500 } }

async function check(baseUrl: string, settings: Partial<ContractCheck> = {}) {
  const tls = await receiverTls()
  const cases = contractCases.filter(({ group }) => group !== 'retries')
  return checkContract({ baseUrl, apiKey: API_KEY, tls, cases, timeouts: limits, ...settings })
}

describe('a response without an end', () => {
  const endless: Record<string, RequestListener> = {
    'drips its body': (_, response) => {
      response.writeHead(200).write('[')
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    },
    'sends informational answers for ever': (_, response) => {
      const timer = setInterval(() => response.writeEarlyHints({ link: '</a>; rel=preload' }), 50)
      response.on('close', () => clearInterval(timer))
    },
    'is not begun': () => undefined,
  }
  test.each(Object.entries(endless))('%s: the check ends', async (_name, listener) => {
    const baseUrl = await serve(listener)
    await expect(check(baseUrl, silent)).rejects.toMatchObject({
      kind: 'address',
      message: `${baseUrl} did not respond: no complete response within 0.5 s. Check --base-url.`,
    })
  })

  test('with a Retry-After of one day: the check does not wait', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(429, { 'retry-after': '86400' }).end())
    await expect(check(baseUrl)).rejects.toMatchObject({ kind: 'address' })
  })
})

test('an interrupted check does not wait until a refused request may be repeated', async () => {
  const interruption = new AbortController()
  let asked = 0
  const baseUrl = await serve((_, response) => {
    asked += 1
    response.writeHead(429, { 'retry-after': '60' }).end()
    interruption.abort()
  })
  await expect(check(baseUrl, { signal: interruption.signal })).rejects.toMatchObject({ name: 'AbortError' })
  expect(asked).toBe(1)
})

test('a refused request is repeated after its Retry-After', async () => {
  let asked = 0
  const baseUrl = await serve((_, response) => {
    asked += 1
    response.writeHead(429, { 'retry-after': '0' }).end()
  })
  await expect(check(baseUrl)).rejects.toMatchObject({ kind: 'address' })
  expect(asked).toBeGreaterThan(1)
})

test('requests are repeated until the time for that is used up, in all', async () => {
  const asked: string[] = []
  const baseUrl = await serve(({ method }, response) => {
    asked.push(String(method))
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  const timeouts = { ...limits, repeatMs: 1_500 }
  await expect(check(baseUrl, { timeouts })).rejects.toMatchObject({ kind: 'address' })
  // The list of locations twice, the look for the controls of Tabwire, and a push.
  expect(asked).toEqual(['GET', 'GET', 'GET', 'PUT'])
})

test.each(['['.repeat(200_000) + ']'.repeat(200_000), '{"a":'.repeat(100_000) + '[]' + '}'.repeat(100_000)])(
  'responses that are nested too deep pass no case',
  async (text) => {
    const baseUrl = await serve((_, response) => response.writeHead(200).end(text))
    const { report } = await check(baseUrl)
    expect(report.totals.passed).toBe(0)
  },
)

test('JSON is read to a depth of 100, and brackets in strings do not count', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(parseJson(nested(100))).toBeDefined()
  expect(parseJson(nested(101))).toBeUndefined()
  expect(parseJson(JSON.stringify(`"${nested(500)}\\`))).toBe(`"${nested(500)}\\`)
  expect(parseJson('\ufeff{"a":1}')).toEqual({ a: 1 })
  expect(parseJson('{')).toBeUndefined()
})

describe('text of a service that a report quotes', () => {
  test.each([
    ['refused for Bearer key-of-this-test', 'refused for Bearer [hidden]'],
    [Buffer.from('key-of-this-test').toString('base64'), '[hidden]=='],
    ['no whsec_abc/+123= and whsec_•••1', 'no whsec_[hidden] and whsec_[hidden]'],
    ['text that begins with whsec_.', 'text that begins with whsec_.'],
    ['\u001b[31mred\r\n  ✓ passed\u202e\u009b', String.raw`\u001b[31mred\r\n  ✓ passed\u202e\u009b`],
    ['z'.repeat(100_000), `${'z'.repeat(600)}…`],
  ])('%j', (text, shown) => {
    expect(reportable(text, [API_KEY, 'x'])).toBe(shown)
  })

  test.each([
    ['as JSON', JSON.stringify({ got: 'Bearer a"key/of+this/test' })],
    ['as JSON of .NET', String.raw`{"got":"Bearer a\"key/of\u002Bthis/test"}`],
    ['as JSON with escaped slashes', String.raw`{"got":"Bearer a\"key\/of+this\/test"}`],
  ])('hides a key that is quoted %s', (_form, text) => {
    const shown = reportable(text, ['a"key/of+this/test'])
    expect(shown).toBe('{"got":"Bearer [hidden]"}')
  })

  test('hides keys and stays on one line', async () => {
    const baseUrl = await serve((incoming, response) => {
      const isList = incoming.url === '/v1/locations'
      response
        .writeHead(isList ? 200 : 422)
        .end(isList ? '[]' : `\u001b[2J\n${incoming.headers.authorization}`)
    })
    const { report } = await check(baseUrl)
    const accepted = report.cases.find(({ group, id }) => `${group}/${id}` === 'checks/accepted')
    expect(accepted?.detail).toBe(String.raw`A push returned 422: \u001b[2J\nBearer [hidden]`)
    expect(JSON.stringify(report)).not.toContain(API_KEY)
  })
})

test.each([
  ['PUT', 'checks/accepted'],
  ['POST', 'endpoints/registered'],
])('no part of a long key is shown when a response to %s is cut', async (refused, name) => {
  const apiKey = 'k'.repeat(700)
  const baseUrl = await serve((incoming, response) => {
    const { authorization } = incoming.headers
    if (incoming.method === refused) response.writeHead(422).end(`refused for ${authorization}`)
    else response.writeHead(200).end('[]')
  })
  const receiverUrl = 'https://receiver.restaurant.example'
  const cases = contractCases.filter(({ group }) => group === name.split('/')[0])
  const { report } = await check(baseUrl, { apiKey, receiverUrl, cases })
  const detail = report.cases.find(({ group, id }) => `${group}/${id}` === name)?.detail
  expect(detail).toMatch(/ returned 422: refused for Bearer \[hidden\]$/)
})

test('a wait for a delivery ends with the receiver, so that Ctrl-C ends the command', async () => {
  const receiver = await openReceiver({ tls: await receiverTls(), port: 0, eventMs: 60_000 })
  const hook = receiver.open()
  const waiting = hook.until(() => undefined)
  await receiver.close()
  expect([await waiting, await hook.until(() => undefined)]).toEqual([undefined, undefined])
})

test.each<[string, Partial<ContractCheck>]>([
  ['the key is', {}],
  ['keys for one scope each are', { apiKey: undefined, keys: { read: 'r', push: 'p', write: 'w' } }],
])('%s sent only to the host of the base URL', async (_what, settings) => {
  const seen: (string | undefined)[] = []
  const other = await serve((incoming, response) => {
    seen.push(incoming.headers.authorization)
    response.end()
  })
  const path = `${other.replace('127.0.0.1', 'localhost')}/claims`
  const baseUrl = await serve((_, response) => response.writeHead(200).end('[]'))
  const cases = contractCases.filter(({ group }) => group === 'conflicts')
  const claim = { method: 'POST' as const, path }
  const uncontrolled = cases.map((one) => ({ ...one, control: undefined }))
  await check(baseUrl, { cases: uncontrolled, profile: { claim }, ...settings })
  await new Promise((resolve) => httpRequest(`${other}/own`, resolve).end())
  expect(seen.length).toBeGreaterThan(1)
  expect(new Set(seen)).toEqual(new Set([undefined]))
})

test('cases about checks do not fail when a GET is never answered', async () => {
  const baseUrl = await serve((incoming, response) => {
    const isRead = incoming.method === 'GET' && incoming.url !== '/v1/locations'
    const isKnown = incoming.headers.authorization === `Bearer ${API_KEY}`
    if (!isRead) response.writeHead(isKnown ? 200 : 401, { 'x-request-id': randomUUID() }).end('[]')
  })
  const cases = contractCases.filter(({ group }) => group === 'checks')
  const { report } = await check(baseUrl, { ...silent, cases })
  expect(report.cases.filter(({ verdict }) => verdict === 'failed')).toEqual([])
  expect(report.cases.find(({ id }) => id === 'full_state')?.detail).toContain('how to read a check')
})

test('an answer of a rate limiter neither keeps nor breaks a rule', async () => {
  let registrations = 0
  const baseUrl = await serve((incoming, response) => {
    const headers = { 'x-request-id': randomUUID() }
    const isKnown = incoming.headers.authorization === `Bearer ${API_KEY}`
    if (!isKnown) return response.writeHead(401, headers).end()
    if (incoming.method !== 'POST') return response.writeHead(200, headers).end('[]')
    registrations += 1
    if (registrations > 1) return response.writeHead(429, { ...headers, 'retry-after': '86400' }).end()
    return response.writeHead(201, headers).end(JSON.stringify({ id: 'we_1', signing_secret: 'whsec_x' }))
  })
  const cases = contractCases.filter(({ id }) => /^(https_only|url_is_a_url|url_required)$/.test(id))
  const { report } = await check(baseUrl, { cases })
  expect(registrations).toBeGreaterThan(1)
  expect(report.cases.map(({ verdict }) => verdict)).toEqual(cases.map(() => 'not_checked'))
  expect(report.cases[0]?.detail).toContain('returned 429')
})

test('an empty response with a content coding is a response', async () => {
  const baseUrl = await serve((incoming, response) => {
    const isKnown = incoming.headers.authorization === `Bearer ${API_KEY}`
    if (incoming.url === '/v1/locations' && isKnown)
      return response.writeHead(200, { 'x-request-id': randomUUID() }).end('[]')
    const coded = { 'content-encoding': 'gzip', 'content-length': '0' }
    return response.writeHead(isKnown ? 404 : 401, { 'x-request-id': randomUUID(), ...coded }).end()
  })
  const cases = contractCases.filter(({ group }) => group === 'access')
  const { report } = await check(baseUrl, { cases })
  expect(report.cases.find(({ id }) => id === 'locations')).toMatchObject({ verdict: 'passed' })
  expect(report.cases.map(({ detail }) => detail ?? '').join('\n')).not.toMatch(
    /did not respond|unexpected end/,
  )
})

test('a delivery that is too large is not kept, and is counted', async () => {
  const receiver = await openReceiver({ tls: await receiverTls(), port: 0, eventMs: 100 })
  onTestFinished(() => receiver.close())
  const hook = receiver.open()
  await new Promise<void>((resolve) => {
    const call = request(hook.url, { method: 'POST', rejectUnauthorized: false }, () => resolve())
    call.on('error', () => resolve())
    call.end(Buffer.alloc(5 * 1024 * 1024))
  })
  expect(hook.arrivals).toEqual([])
  expect(receiver.dropped()).toBe(1)
})

test('a certificate for another host is reported as such, and not as untrusted', async () => {
  const authority = await testAuthority()
  const server = createHttpsServer(await authority.issue(['other.example.test']))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const advice = 'Its certificate is for another host. Use a host name of the certificate.'
  await expect(check(`${origin}/v1`, { ca: authority.certificatePem })).rejects.toThrow(advice)
  const receiver = { url: new URL(origin), secret: 's', ca: [authority.certificatePem], insecure: false }
  const settings = { headers: [], tolerance: 300, serviceName: 'Service', cases: [] }
  await expect(checkReceiver({ ...receiver, ...settings })).rejects.toThrow(advice)
})

describe('webhook endpoints', () => {
  /** Registers everything that has the key, even text that is not JSON. The first endpoint stays: its DELETE gets no answer. */
  async function careless(keyOf = (_method: string) => API_KEY) {
    const there = new Set<string>()
    const baseUrl = await serve((incoming, response) => {
      const { method = '', url = '', headers } = incoming
      if (headers.authorization !== `Bearer ${keyOf(method)}`) response.writeHead(401).end()
      else if (method === 'POST' && url === '/v1/webhook-endpoints') {
        const id = `endpoint-${there.size}`
        there.add(id)
        response.writeHead(201).end(JSON.stringify({ id, secret: `whsec_${id}` }))
      } else if (method === 'DELETE' && url.endsWith('endpoint-0')) response.destroy()
      else if (method === 'DELETE') {
        there.delete(url.split('/').at(-1) ?? '')
        response.writeHead(204).end()
      } else response.writeHead(200).end('[]')
    })
    return { baseUrl, there }
  }

  test('that were accepted by mistake are removed, and those that stay are counted', async () => {
    const { baseUrl, there } = await careless()
    const profile = { paths: { delete_endpoint: '/webhook-endpoints/{id}' } }
    const cases = contractCases.filter(({ group }) => /requests|access|endpoints/.test(group))
    const { left, report } = await check(baseUrl, { profile, cases, readKey: API_KEY })
    const failed = report.cases.flatMap(({ verdict, id }) => (verdict === 'failed' ? [id] : []))
    expect(failed).toEqual(expect.arrayContaining(['https_only', 'url_required', 'url_is_a_url']))
    expect({ left, there: there.size }).toEqual({ left: 1, there: 1 })
  })

  test.each(['/webhook-endpoints/{id}', '{origin}/v1/webhook-endpoints/{id}'])(
    'are removed at %s with the key for writing, where each scope has its own',
    async (delete_endpoint) => {
      const keys = { read: 'key-to-read', push: 'key-to-push', write: 'key-to-write' }
      const { baseUrl, there } = await careless((method) =>
        method === 'GET' ? keys.read : method === 'PUT' ? keys.push : keys.write,
      )
      const cases = contractCases.filter(({ group }) => group === 'endpoints')
      const settings = { apiKey: undefined, keys, profile: { paths: { delete_endpoint } } }
      const { left } = await check(baseUrl, { cases, ...settings })
      expect({ left, there: there.size }).toEqual({ left: 1, there: 1 })
    },
  )

  test('are all counted when the profile names no way to remove them', async () => {
    const { baseUrl, there } = await careless()
    const { left } = await check(baseUrl, { readKey: API_KEY })
    expect(left).toBe(there.size)
  })
})

test('a --receiver-port in use is reported, and no key stays behind', async () => {
  const { baseUrl, apiKey, client } = await openSimulator()
  const receiverPort = Number(new URL(await serve(() => undefined)).port)
  const before = (await client.keys.list()).data.length
  await expect(check(baseUrl, { apiKey, receiverPort })).rejects.toThrow(
    `--receiver-port ${receiverPort} is already in use. Choose another port, or omit the flag for any free port.`,
  )
  expect((await client.keys.list()).data.filter((one) => one.revoked_at === null)).toHaveLength(before)
})

test('a text that no URL can have is not an id of an endpoint', () => {
  const json = { note: '\ud83c', ref: 'hook-1' }
  expect(idCandidates({ json, headers: {}, text: JSON.stringify(json) })).toEqual(['hook-1'])
})
