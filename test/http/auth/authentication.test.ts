import { beforeEach, describe, expect, it } from 'vitest'
import { createAuthenticate, hashOf } from '../../../src/http/auth/api-key.ts'
import { simRoutes, type SimParts } from '../../../src/http/sim/routes.ts'
import { v1Routes, type V1Parts } from '../../../src/http/v1/routes.ts'
import type { ApiKey, Scope } from '../../../src/model/api-key.ts'
import { put, type Location } from '../../../src/model/records.ts'
import {
  check,
  errorOf,
  openSimulator,
  temporaryDirectory,
  type TestSimulator,
} from '../../support/simulator.ts'

/** Routes without a key: a link's code, or nothing, is enough. */
const open = ['GET /_sim/health', 'GET /_sim/ready', 'POST /_sim/session', 'GET /_sim/session']

/** Every other route, with the scope that it needs by contract section 2. */
const routes = [
  ...v1Routes({} as V1Parts).map(({ method, path }) => ({ method, path: `/v1${path}` })),
  ...simRoutes({} as SimParts).map(({ method, path }) => ({ method, path: `/_sim${path}` })),
]
  .filter(({ method, path }) => !open.includes(`${method} ${path}`))
  .map(({ method, path }): [route: string, scope: Scope] => {
    const isSim = path.startsWith('/_sim/') && path !== '/_sim/metrics'
    const scope = isSim ? 'simulate' : method === 'GET' ? 'read' : 'write'
    return [`${method} ${path.replace(/:\w+/, 'a')}`, scope]
  })
const others: Record<Scope, Scope[]> = {
  read: ['write', 'simulate'],
  write: ['read', 'simulate'],
  simulate: ['read', 'write'],
}

describe('authentication', () => {
  let simulator: TestSimulator
  beforeEach(async () => {
    simulator = await openSimulator()
  })

  it('each route needs its scope, and names it to a key with only the others', async () => {
    for (const [route, scope] of routes) {
      const answer = await simulator.call(route, { key: await simulator.key(others[scope]) })
      const message = expect.stringContaining(scope) as string
      const error = { code: 'insufficient_scope', required_scope: scope, message }
      expect([route, answer.status, errorOf(answer)]).toMatchObject([route, 403, error])
    }
  })

  it.each(routes.filter(([route]) => !route.endsWith('/stream')))(
    '%s accepts a key with only %s',
    async (route, scope) => {
      const { status } = await simulator.call(route, { key: await simulator.key([scope]) })
      expect([401, 403, 405, 500]).not.toContain(status)
    },
  )

  it('a request without a key is 401, whatever else is wrong with it', async () => {
    const wrong = [
      'DELETE /v1/locations',
      'GET /v1/nothing',
      'GET /_sim/nothing',
      'GET /v1/checks?limit=0',
      'GET /v1/checks/external/%ZZ',
      'GET /v1/%E0%A4%A',
    ]
    for (const route of [...routes.map(([one]) => one), ...wrong]) {
      const answer = await simulator.call(route, { key: null })
      const challenge = answer.headers.get('www-authenticate')
      expect([route, answer.status, challenge, errorOf(answer).code]).toEqual([
        route,
        401,
        'Bearer',
        'unauthorized',
      ])
    }
  })

  it.each<[string, (key: string) => string]>([
    ['an empty header', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a blank', () => 'Bearer '],
    ['the key alone', (key) => key],
    ['another scheme', (key) => `Basic ${key}`],
    ['a token scheme', (key) => `Token ${key}`],
    ['no blank between', (key) => `Bearer${key}`],
    ['a colon between', (key) => `Bearer: ${key}`],
    ['quotes around the key', (key) => `Bearer "${key}"`],
    ['two keys', (key) => `Bearer ${key} ${key}`],
    ['two credentials', (key) => `Bearer ${key}, Bearer ${key}`],
    ['the scheme twice', (key) => `Bearer Bearer ${key}`],
    ['half of the key', (key) => `Bearer ${key.slice(0, 20)}`],
    ['more than the key', (key) => `Bearer ${key}x`],
    ['the key in upper case', (key) => `Bearer ${key.toUpperCase()}`],
    ['an unknown key', () => 'Bearer twk_unknown'],
    ['characters that no key has', () => 'Bearer k\u00e9y'],
    ['a key that is far too long', () => `Bearer ${'k'.repeat(4000)}`],
  ])('%s instead of Bearer and the key is 401', async (_what, header) => {
    const headers = { authorization: header(simulator.apiKey) }
    const answer = await simulator.call('GET /v1/locations', { key: null, headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect(errorOf(answer)).toMatchObject({ code: 'unauthorized' })
  })

  it.each(['Bearer', 'bearer', 'BEARER'])('the scheme may be written %s', async (scheme) => {
    const headers = { authorization: `${scheme} ${simulator.apiKey}` }
    expect(await simulator.call('GET /v1/locations', { key: null, headers })).toMatchObject({ status: 200 })
  })

  it('a key in the query is ignored', async () => {
    const route = `GET /v1/locations?api_key=${simulator.apiKey}&access_token=${simulator.apiKey}`
    expect(await simulator.call(route, { key: null })).toMatchObject({ status: 401 })
  })

  it('a revoked key is refused from then on, even after earlier use', async () => {
    const { id, api_key: key } = await simulator.client.keys.create({ scopes: ['read'] })
    expect(await simulator.call('GET /v1/locations', { key })).toMatchObject({ status: 200 })
    await simulator.client.keys.revoke(id)
    const answer = await simulator.call('GET /v1/locations', { key })
    expect(answer.status).toBe(401)
    expect(errorOf(answer).code).toBe('unauthorized')
  })

  it('a key that is revoked during its lookup is not cached', async () => {
    const key = { id: 'key_1', hash: hashOf('k'), revoked_at: null } as ApiKey
    let found: readonly ApiKey[] = [key]
    let revoke = () => {}
    const service: Parameters<typeof createAuthenticate>[0] = {
      find: (async () => found) as never,
      onCommit(listener) {
        revoke = () => listener([put('keys', key)], undefined, 1)
        return () => undefined
      },
    }
    const authenticate = createAuthenticate(service)
    const first = authenticate('Bearer k')
    revoke()
    found = []
    expect(await first).toBe(key)
    await expect(authenticate('Bearer k')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('a key that was found is looked up again after a change of keys or a replacement, and only then', async () => {
    const key = { id: 'key_1', hash: hashOf('k'), revoked_at: null } as ApiKey
    let lookups = 0
    let commit: Parameters<Parameters<typeof createAuthenticate>[0]['onCommit']>[0] = () => {}
    const authenticate = createAuthenticate({
      find: (async () => ((lookups += 1), [key])) as never,
      onCommit(listener) {
        commit = listener
        return () => undefined
      },
    })
    const lookupsOf = async () => {
      for (const _again of [1, 2]) await authenticate('Bearer k')
      return lookups
    }
    const location = put('locations', { id: 'loc_1' } as Location)
    const counts = [await lookupsOf()]
    for (const [writes, kind] of [
      [[location], undefined],
      [[location, put('keys', key)], undefined],
      [[], 'replacement'],
    ] as const) {
      commit(writes, kind, 1)
      counts.push(await lookupsOf())
    }
    expect(counts).toEqual([1, 1, 2, 3])
  })

  it('a key that was found is looked up again after the lifetime of a cache', async () => {
    const key = { id: 'key_1', hash: hashOf('k'), revoked_at: null } as ApiKey
    let [lookups, now] = [0, 0]
    const authenticate = createAuthenticate(
      { find: (async () => ((lookups += 1), [key])) as never, onCommit: () => () => undefined },
      { lifetimeMs: 5, measure: () => now },
    )
    const counts = []
    for (now of [0, 4, 5, 9, 10]) {
      await authenticate('Bearer k')
      counts.push(lookups)
    }
    expect(counts).toEqual([1, 1, 2, 2, 3])
  })

  it('the key of the start belongs to the first location, also among more than a hundred', async () => {
    const dataDirectory = await temporaryDirectory()
    const before = await openSimulator({ dataDirectory, apiKey: 'before' })
    const state = await before.client.state.get()
    const [first] = state.locations
    const later = Array.from({ length: 100 }, (_, number) => ({
      ...state.locations[0],
      id: `loc_7${String(number).padStart(25, '0')}`,
    }))
    await before.client.state.put({ ...state, locations: [...state.locations, ...later] } as typeof state)
    await before.close()
    const { client } = await openSimulator({ dataDirectory, apiKey: 'after' })
    await client.checks.push('a', check())
    expect(await client.checks.get('a')).toMatchObject({ location_id: first?.id })
  })

  it('the key that the user chose is accepted', async () => {
    const chosen = await openSimulator({ apiKey: 'ci-key' })
    expect(chosen.apiKey).toBe('ci-key')
    expect(await chosen.call('GET /v1/locations', { key: 'ci-key' })).toMatchObject({ status: 200 })
  })
})
