import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { simRoutes, type SimParts } from '../../src/http/sim/routes.ts'
import { v1Routes, type V1Parts } from '../../src/http/v1/routes.ts'
import { sampled } from '../soak/seeded.ts'
import { check, errorOf, rawHeaders, temporaryDirectory } from '../support/simulator.ts'
import { checksOf, openTarget, valid } from './standing.ts'

const put = (segment: string) => `PUT /v1/checks/external/${segment}`

describe('a hostile check name never becomes a file name', () => {
  test.each<[segment: string, status: number]>([
    ['%2e%2e%2f%2e%2e%2fetc%2fpasswd', 201],
    ['..%2F..%2F..%2Ftmp%2Fx', 201],
    ['%5C..%5C..%5Cx', 201],
    ['CON', 201],
    ['file%3A%2F%2F%2Fetc%2Fpasswd', 201],
    ['journal.jsonl', 201],
    ['%00', 400],
    ['a%00b', 400],
    ['%1B%5B2J', 400],
  ])('%s', async (segment, status) => {
    const parent = await temporaryDirectory()
    const target = await openTarget({ dataDirectory: join(parent, 'data') })
    const files = async () => (await readdir(parent, { recursive: true })).sort()
    const before = await files()
    const answer = await target.call(put(segment), { json: check() })
    expect(answer.status).toBe(status)
    if (status === 201) expect(await checksOf(target)).toEqual([decodeURIComponent(segment)])
    await target.stands()
    expect(await files()).toEqual(before)
  })
})

test.each([1, 64, 100, 101, 128, 255])('a name of %i characters is valid', async (length) => {
  const target = await openTarget()
  for (const id of ['a'.repeat(length), '🍮'.repeat(length), '\u0301'.repeat(length)]) {
    expect(await target.push(id)).toMatchObject({ status: 201, json: { external_id: id } })
    expect(await target.client.checks.get(id)).toMatchObject({ external_id: id })
  }
  await target.stands()
})

test.each([
  ['a', 256],
  ['🍮', 256],
  ['a', 8000],
])('a name of “%s” × %i is refused with 400, and not with 404', async (letter, length) => {
  const target = await openTarget()
  const answer = await target.push(letter.repeat(length))
  expect(answer.status).toBe(400)
  expect(errorOf(answer).code).toBe('invalid_path')
  await target.stands(answer)
})

test.each([
  '//v1/checks/external/a',
  '/v1//checks/external/a',
  '/v1/checks//external/a',
  '/v1/checks/external//a',
  '/v1/checks/external//',
  '/v1/checks/External/a',
  '/V1/checks/external/a',
  '/v1/checks/external/a//',
  '/v1%2Fchecks%2Fexternal%2Fa',
  '/%76%31/nothing',
])('%s is not a path of the service', async (path) => {
  const target = await openTarget()
  const headers = `${rawHeaders(target)}Content-Type: application/json\r\nContent-Length: ${valid.length}\r\n`
  const answer = await target.raw(`PUT ${path} HTTP/1.1\r\n${headers}\r\n${valid}`)
  expect(answer.status).toBe(404)
  expect(errorOf(answer).code).toBe('not_found')
  expect(await checksOf(target)).toEqual([])
  await target.stands(answer)
})

/** Every route with a hostile value in place of its parameter, but the stream, which has no end, and the reset, which makes one. */
const routes = [
  ...v1Routes({} as V1Parts).map(({ method, path }) => `${method} /v1${path}`),
  ...simRoutes({} as SimParts).map(({ method, path }) => `${method} /_sim${path}`),
].filter((route) => route !== 'GET /_sim/stream' && route !== 'POST /_sim/reset')
/** Any text may be the number of a table, and none of them is an identifier. */
const withId = routes.filter((route) => route.includes(':') && !/\/tables\/:number(\/qr)?$/.test(route))

describe('a malformed identifier is refused as malformed', () => {
  const ids = [
    'id?injected_query_string=123',
    'id/?/',
    'id??',
    'id/id',
    '{}',
    '%7B%7D',
    '[]',
    'null',
    'undefined',
    'NaN',
    '-1',
    '0',
    "'%20OR%201=1--",
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '%F0%9F%8D%AE',
    'we_01M7YRYSGQDGZ7JB68GJQ5FYMR%00',
    '*',
    ':id',
    '**',
    '$%7Bjndi:ldap:%2F%2F127.0.0.1%2Fa%7D',
  ]

  test.each(sampled(ids, 3))('%s', async (id) => {
    const target = await openTarget()
    for (const route of withId) {
      const answer = await target.call(route.replace(/:\w+/, id))
      const refusals = /^(PUT|POST)/.test(route) ? [400, 404, 405, 415] : [400, 404]
      expect([route, answer.status]).toEqual([route, expect.toBeOneOf(refusals)])
      errorOf(answer)
    }
    expect(await checksOf(target)).toEqual([])
    await target.stands()
  })
})

describe('an unknown query parameter is ignored or refused', () => {
  test.each([
    ['__proto__', '?__proto__[x]=1&__proto__=1&constructor[prototype][x]=1'],
    ['thousands of parameters', `?${'a=1&'.repeat(3500)}`],
    ['parameters that are there twice', '?limit=1&limit=1000&status=open&status=x&cursor='],
    ['malformed escapes', '?a=%ZZ&%E0%A4%A=%&limit=%'],
    ['zero bytes and line feeds', '?limit=%00&type=%0A%0D&status=%1B'],
    [
      'filters by names that are not fields',
      '?__proto__=x&location_id=loc_1&table=__proto__&type=constructor',
    ],
    ['nothing but signs', '?????&&&===;;;'],
  ])('%s', async (_what, query) => {
    const target = await openTarget()
    for (const route of routes) {
      const answer = await target.call(route.replace(/:\w+/, 'a') + query)
      expect([route, answer.status]).toEqual([route, expect.toBeOneOf([200, 400, 404, 415])])
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    }
    expect(({} as { x?: unknown }).x).toBeUndefined()
    await target.stands()
  })
})
