import { describe, expect, it } from 'vitest'
import { errorOf, openSimulator } from '../support/simulator.ts'

describe('methods', () => {
  it.each([
    ['DELETE /v1/locations', 'GET, HEAD'],
    ['POST /v1/checks', 'GET, HEAD'],
    ['POST /v1/checks/external/a', 'PUT, GET, HEAD'],
    ['PATCH /v1/checks/external/a', 'PUT, GET, HEAD'],
    ['DELETE /v1/checks/external/a', 'PUT, GET, HEAD'],
    ['OPTIONS /v1/checks/external/a', 'PUT, GET, HEAD'],
    ['PUT /v1/webhook-endpoints', 'POST, GET, HEAD'],
    ['DELETE /v1/webhook-endpoints/we_1', 'GET, HEAD'],
    ['GET /v1/webhook-endpoints/we_1/test', 'POST'],
    ['HEAD /v1/webhook-endpoints/we_1/test', 'POST'],
    ['POST /_sim/health', 'GET, HEAD'],
    ['PUT /_sim/keys', 'GET, HEAD, POST'],
    ['GET /_sim/keys/key_1', 'DELETE'],
    ['PROPFIND /v1/locations', 'GET, HEAD'],
  ])('%s is 405 with Allow: %s', async (route, allow) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    if (!route.startsWith('HEAD')) expect(errorOf(answer).code).toBe('method_not_allowed')
  })

  it.each([
    '/v1/locations',
    '/v1/checks',
    '/v1/checks?limit=1',
    '/v1/checks/external/a',
    '/v1/webhook-endpoints',
    '/_sim/health',
    '/_sim/events',
    '/_sim/keys',
    '/v1/checks/external/nobody',
    '/v1/checks?limit=0',
    '/v1/nothing',
  ])('HEAD %s answers like GET, without the body', async (path) => {
    const simulator = await openSimulator()
    await simulator.push('a')
    const [head, get] = [await simulator.call(`HEAD ${path}`), await simulator.call(`GET ${path}`)]
    expect(head.text).toBe('')
    expect(head.status).toBe(get.status)
    // fetch closes the connection after a HEAD, and both sides say so.
    const incidental = ['date', 'x-request-id', 'connection', 'keep-alive']
    const shown = ({ headers }: typeof get) => [...headers].filter(([name]) => !incidental.includes(name))
    expect(shown(head)).toEqual(shown(get))
    expect(head.headers.get('x-request-id')).toMatch(/^req_/)
  })

  it('HEAD of the stream answers and ends', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call('HEAD /_sim/stream')
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.text).toBe('')
  })

  it.each(['X-HTTP-Method-Override', 'X-Method-Override'])('%s does not change the method', async (name) => {
    const simulator = await openSimulator()
    const answer = await simulator.call('POST /v1/checks/external/a', {
      headers: { [name]: 'PUT' },
      body: '{}',
    })
    expect(answer.status).toBe(405)
  })
})
