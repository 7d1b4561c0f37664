import { getResponse } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSimulator, type Simulator } from '../../src/index.ts'
import { handlers } from '../../src/msw/index.ts'
import { check } from '../support/simulator.ts'

let simulator: Simulator
const server = setupServer()
beforeAll(async () => {
  simulator = await createSimulator({ port: false })
  server.listen({ onUnhandledRequest: 'error' })
})
afterAll(async () => {
  server.close()
  await simulator.close()
})
beforeEach(() => server.resetHandlers(...handlers(simulator, { baseUrl: 'https://api.example.com/v1' })))

const call = (url: string, init: RequestInit = {}) =>
  fetch(url, { headers: { authorization: `Bearer ${simulator.apiKey}` }, ...init })

describe('msw handlers', () => {
  test.each([
    ['https://api.example.com/v1/', '/v1'],
    ['https://api.example.com', ''],
    ['https://api.example.com/eu.west/pay(1)/v1', '/eu.west/pay(1)/v1'],
  ])('answer requests to %s', async (baseUrl, path) => {
    server.resetHandlers(...handlers(simulator, { baseUrl }))
    const url = `https://api.example.com${path}`
    const locations = await call(`${url}/locations?limit=1`)
    expect(await locations.json()).toMatchObject({ data: [{ currency: expect.any(String) as string }] })
    const pushed = await call(`${url}/checks/external/a%2Fb`, {
      method: 'PUT',
      body: JSON.stringify(check()),
      headers: { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' },
    })
    expect(await pushed.json()).toMatchObject({ external_id: 'a/b' })
  })

  test('keep method, headers and body where Request copies only own fields, as in jsdom', async () => {
    const url = 'https://api.example.com/v1/checks/external/c'
    const headers = { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' }
    const request = new Request(url, { method: 'PUT', headers, body: JSON.stringify(check()) })
    vi.stubGlobal(
      'Request',
      class extends Request {
        constructor(input: string | URL | Request, init?: RequestInit) {
          super(input, (init?.body ?? null) === null ? init : { ...init })
        }
      },
    )
    try {
      const response = await getResponse(
        handlers(simulator, { baseUrl: 'https://api.example.com/v1' }),
        request,
      )
      expect(response?.status).toBe(201)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test.each([
    ['/locations', { headers: {} }, 401, 'unauthorized'],
    ['/locations', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['', {}, 404, 'not_found'],
    ['/checks/external/%E0', {}, 400, 'invalid_path'],
    ['/locations?limit=x', {}, 400, 'invalid_query'],
  ])('pass on the error response to %s %o', async (path, init, status, code) => {
    const response = await call(`https://api.example.com/v1${path}`, init)
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await response.json()).toMatchObject({ error: { code } })
  })

  test.each([
    'https://api.example.com/v10/locations',
    'https://api.example.com/v1/../_sim/health',
    'https://api.example.com/_sim/health',
    'https://other.example.com/v1/locations',
    'http://api.example.com/v1/locations',
  ])('ignore %s', async (url) => {
    const ours = handlers(simulator, { baseUrl: 'https://api.example.com/v1' })
    expect(await getResponse(ours, new Request(url))).toBeUndefined()
  })

  const baseUrl = 'https://api.example.com/v1'
  test.each<[string, unknown[], string]>([
    [
      'no simulator',
      [undefined, { baseUrl }],
      'handlers() expects a simulator from createSimulator, got undefined.',
    ],
    ['a promise of one', [Promise.resolve({}), { baseUrl }], 'got a Promise; await it first.'],
    ['no options', [{ fetch }], 'options must be an object, got undefined.'],
    [
      'a misspelt option',
      [{ fetch }, { baseURL: baseUrl }],
      'unknown option "baseURL", did you mean "baseUrl"?',
    ],
    [
      'a path',
      [{ fetch }, { baseUrl: '/v1' }],
      'baseUrl must be an absolute URL without a query, such as https://api.example.com/v1, got "/v1".',
    ],
    ['a query', [{ fetch }, { baseUrl: `${baseUrl}?eu` }], 'got "https://api.example.com/v1?eu".'],
    ['a file', [{ fetch }, { baseUrl: 'file:///v1' }], 'got "file:///v1".'],
  ])('refuse %s', (_what, given, message) => {
    const make = () => handlers(...(given as Parameters<typeof handlers>))
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })

  test('break the connection when the service would', async () => {
    await simulator.faults.set({ faults: [{ on: 'api', reset_rate: 1 }] })
    await expect(call('https://api.example.com/v1/locations')).rejects.toThrow(TypeError)
    await simulator.faults.clear()
    expect((await call('https://api.example.com/v1/locations')).ok).toBe(true)
  })
})
