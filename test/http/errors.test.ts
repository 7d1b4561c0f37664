import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp, type AppParts } from '../../src/http/app.ts'
import { openServer } from '../../src/http/listen.ts'
import { createApiFaults } from '../../src/http/sim/api-faults.ts'
import { openRequestLog } from '../support/request-log.ts'
import { createNewId } from '../../src/ids.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { faultSet, noFaults, type ActiveFaults } from '../../src/model/simulator/fault-rules.ts'
import { timers } from '../../src/timers.ts'
import { callAt, check, deadUrl, errorOf, openSimulator, type CallOptions } from '../support/simulator.ts'

const text = { 'content-type': 'text/plain' }
const put = 'PUT /v1/checks/external/a'

describe('every refusal has the status, code and shape of the contract', () => {
  it.each<[status: number, code: string, what: string, route: string, options: CallOptions]>([
    [400, 'invalid_json', 'no JSON text', put, { body: '{"table":' }],
    [400, 'invalid_json', 'no body at all', put, { body: '' }],
    [400, 'invalid_path', 'a malformed escape in a parameter', 'GET /v1/checks/external/%ZZ', {}],
    [
      400,
      'invalid_path',
      'an external id that is too long',
      `GET /v1/checks/external/${'a'.repeat(256)}`,
      {},
    ],
    [400, 'invalid_query', 'a limit out of bounds', 'GET /v1/checks?limit=101', {}],
    [400, 'invalid_query', 'a cursor that this service did not make', 'GET /v1/checks?cursor=abc', {}],
    [400, 'invalid_query', 'a filter that names nothing', 'GET /v1/checks?status=paid', {}],
    [400, 'invalid_query', 'a malformed escape in a filter', 'GET /v1/checks?table=%zz', {}],
    [400, 'invalid_query', 'a filter that is not UTF-8', 'GET /v1/claims?external_check_id=%FF', {}],
    [400, 'invalid_query', 'a filter that is cut in a character', 'GET /_sim/requests?q=%E0%A4%A', {}],
    [401, 'unauthorized', 'no key', 'GET /v1/locations', { key: null }],
    [401, 'unauthorized', 'an unknown key', 'GET /v1/locations', { key: 'twk_x' }],
    [404, 'not_found', 'an unknown path', 'GET /v1/nothing', {}],
    [404, 'not_found', 'an unknown path outside of the API', 'GET /nothing', { key: null }],
    [404, 'not_found', 'an unknown check', 'GET /v1/checks/external/nobody', {}],
    [404, 'not_found', 'an unknown endpoint', 'GET /v1/webhook-endpoints/we_1', {}],
    [404, 'not_found', 'an unknown endpoint to ping', 'POST /v1/webhook-endpoints/we_1/test', {}],
    [404, 'not_found', 'an unknown event', 'GET /_sim/events/evt_1', {}],
    [404, 'not_found', 'an unknown delivery', 'GET /_sim/deliveries/dlv_1', {}],
    [404, 'not_found', 'an unknown request', 'GET /_sim/requests/req_1', {}],
    [404, 'not_found', 'an unknown key to revoke', 'DELETE /_sim/keys/key_1', {}],
    [404, 'not_found', 'an unknown endpoint to delete', 'DELETE /_sim/webhook-endpoints/we_1', {}],
    [405, 'method_not_allowed', 'another method', 'DELETE /v1/checks/external/a', {}],
    [413, 'payload_too_large', 'a body over the limit', put, { body: ' '.repeat(1024 * 1024 + 1) }],
    [415, 'unsupported_media_type', 'a body that is not JSON', put, { body: '{}', headers: text }],
    [422, 'validation_failed', 'a body that is no check', put, { json: {} }],
    [422, 'validation_failed', 'a body that is no endpoint', 'POST /v1/webhook-endpoints', { json: {} }],
    [422, 'validation_failed', 'a body that is no key', 'POST /_sim/keys', { json: { scopes: ['all'] } }],
  ])('%i %s: %s', async (status, code, _what, route, options) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, options)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(errorOf(answer).code).toBe(code)
  })

  it('404 not_found: a path says where the API is, and what is wrong with slashes', async () => {
    const simulator = await openSimulator()
    const messageOf = async (path: string) => errorOf(await simulator.call(`GET ${path}`)).message
    expect(await messageOf('/v1')).toBe('No such path: /v1. The API is under /v1; /docs lists its paths.')
    expect(await messageOf('/v1/checks/')).toBe('No such path: /v1/checks/. Paths do not end with a slash.')
    expect(await messageOf('/v1/checks/external/day/7')).toBe(
      'No such path: /v1/checks/external/day/7. Write a slash in an id as %2F. A proxy that decodes it must pass the path on unchanged.',
    )
  })

  it('403 insufficient_scope: a key without the scope', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call(put, { key: await simulator.key(['read']), json: check() })
    expect(answer.status).toBe(403)
    expect(errorOf(answer)).toMatchObject({ code: 'insufficient_scope', required_scope: 'write' })
  })

  it('409 endpoint_disabled: a ping to a disabled endpoint', async () => {
    const simulator = await openSimulator({ disableAfter: 1 })
    const { client } = simulator
    const { id } = await client.endpoints.create({ url: deadUrl, event_types: ['check.created'] })
    await simulator.push('a')
    await simulator.idle()
    const answer = await simulator.call(`POST /v1/webhook-endpoints/${id}/test`)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).code).toBe('endpoint_disabled')
  })
})

/** Opens a server with one route that runs `handle`. Returns it with the reported bugs. */
function openServerFor(handle: () => never, { stopping = false } = {}) {
  return openServerWith([{ method: 'GET', path: '/it', scope: null, handle }], { stopping })
}

/** Opens a server with these routes under `/v1`. */
async function openServerWith(
  table: AppParts['tables'][string],
  {
    stopping = false,
    log = openRequestLog(),
    faults,
  }: { stopping?: boolean; log?: AppParts['log']; faults?: AppParts['faults'] } = {},
) {
  const bugs: [unknown, string][] = []
  const newId = createNewId(() => new Date())
  const app = createApp({
    service: { find: async () => [], onCommit: () => () => undefined } as never,
    log,
    faults,
    newId,
    clock: { now: () => new Date() },
    tables: { '/v1': table },
    checkOrigin: () => undefined,
    bodyLimit: 1,
    lifecycle: { phase: stopping ? 'stopping' : 'running' },
    report: (bug, requestId) => bugs.push([bug, requestId]),
  })
  const server = await openServer(app, { port: 0, host: '127.0.0.1', isAllowedHost: () => true })
  onTestFinished(() => server.close(0))
  return { bugs, refuse: app.refuse, get: () => callAt(server.url, 'GET /v1/it', {}) }
}

describe('an error that the caller did not cause', () => {
  it('a bug of ours is 500 internal_error with a fixed text, and its detail is in the log under the request id', async () => {
    const bug = new Error('cannot read /home/me/.tabwire/credentials.json of twk_secret')
    const { get, bugs } = await openServerFor(() => {
      throw bug
    })
    const answer = await get()
    expect(answer.status).toBe(500)
    expect(errorOf(answer).code).toBe('internal_error')
    expect(answer.text).not.toContain('credentials')
    expect(bugs).toEqual([[bug, errorOf(answer).request_id]])
  })

  it('a table of routes that cannot be loaded is loaded again for the next request', async () => {
    let loads = 0
    const { get, bugs } = await openServerWith(async () => {
      loads += 1
      if (loads === 1) throw new Error('too many open files')
      return []
    })
    expect([(await get()).status, (await get()).status]).toEqual([500, 401])
    expect(bugs).toHaveLength(1)
  })

  it('a bug of the request log is reported, and changes no response', async () => {
    const bug = new Error('The log has a bug.')
    const add = () => {
      throw bug
    }
    const log = { ...openRequestLog(), add }
    const { get, bugs, refuse } = await openServerWith([], { log })
    const answer = await get()
    const refused = refuse(new Refusal('invalid_request', 'No.'), { method: 'GET', path: '/' })
    const ids = [answer.headers.get('x-request-id'), refused.headers['x-request-id']]
    expect([answer.status, refused.status]).toEqual([401, 400])
    expect(bugs).toEqual(ids.map((id) => [bug, id]))
  })

  it.each(['reset_rate', 'lost_answer_rate'])(
    'a connection is reset by %s once its request is logged',
    async (rate) => {
      const set = faultSet(noFaults, 1, [{ on: 'api', [rate]: 1 }])
      const active = {
        now: () => set,
        seed: () => 1,
        update: async (_: number, change: (now: typeof set) => unknown) => change(set),
        onReplaced: () => undefined,
      }
      const happened: string[] = []
      const add = async () => {
        for (let turn = 0; turn < 50; turn += 1) await timers.nextTurn()
        happened.push('logged')
      }
      const handle = async () => {
        throw new Refusal('not_found', 'No such thing.')
      }
      const faults = createApiFaults(active as ActiveFaults, async () => expect.fail())
      const log = { ...openRequestLog(), add }
      const { get } = await openServerWith([{ method: 'GET', path: '/it', scope: null, handle }], {
        log,
        faults,
      })
      const reset = (await get().catch((error: unknown) => error)) as { cause?: NodeJS.ErrnoException }
      happened.push(reset.cause?.code ?? 'answered')
      expect(happened).toEqual(['logged', 'ECONNRESET'])
    },
  )

  it('routes that cannot be loaded are 500 internal_error, and the error is reported', async () => {
    const replaced = './routes-of-another-version.ts'
    const { get, bugs } = await openServerWith(async () => {
      await import(replaced)
      return []
    })
    const first = await get()
    const answers = [first, await get()]
    expect(answers.map(({ status }) => status)).toEqual([500, 500])
    const error: unknown = expect.objectContaining({ code: 'ERR_MODULE_NOT_FOUND' })
    expect(bugs).toEqual(answers.map((answer) => [error, errorOf(answer).request_id]))
    expect(errorOf(first)).toMatchObject({
      code: 'internal_error',
      message: 'The installed Tabwire was replaced or removed while this service ran. Restart the service.',
    })
  })

  it('routes are loaded once, for the first request', async () => {
    let loads = 0
    const handle = () => {
      throw new Refusal('storage_unavailable', 'The disk is full. Make room and try again.')
    }
    const { get } = await openServerWith(async () => {
      loads += 1
      return [{ method: 'GET', path: '/it', scope: null, handle }]
    })
    expect(loads).toBe(0)
    const answers = await Promise.all([get(), get()])
    expect(answers.map(({ status }) => status)).toEqual([503, 503])
    expect(loads).toBe(1)
  })

  it('a write that could not be made durable is 503 storage_unavailable with Retry-After', async () => {
    const { get, bugs } = await openServerFor(() => {
      throw new Refusal('storage_unavailable', 'The disk is full. Make room and try again.')
    })
    const answer = await get()
    expect(answer.status).toBe(503)
    expect(errorOf(answer).code).toBe('storage_unavailable')
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(bugs).toEqual([])
  })

  it('a service that is stopping answers 503 shutting_down with Retry-After, and closes the connection', async () => {
    const { get } = await openServerFor(
      () => {
        throw new Error('This must not be reached.')
      },
      { stopping: true },
    )
    const answer = await get()
    expect(answer.status).toBe(503)
    expect(errorOf(answer).code).toBe('shutting_down')
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answer.headers.get('connection')).toBe('close')
  })
})
