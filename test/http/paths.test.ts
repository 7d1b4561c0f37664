import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import { check, errorOf, openSimulator, rawHeaders } from '../support/simulator.ts'

const put = (segment: string) => `PUT /v1/checks/external/${segment}`
const get = (segment: string) => `GET /v1/checks/external/${segment}`

describe('an external check id is percent-decoded once', () => {
  it.each([
    ['plain', 'plain'],
    ['a%2Fb', 'a/b'],
    ['a%2fb', 'a/b'],
    ['%25', '%'],
    ['%252F', '%2F'],
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['%2B', '+'],
    ['what%3F', 'what?'],
    ['no%231', 'no#1'],
    ['a%26b%3Dc', 'a&b=c'],
    ['a%3Ab', 'a:b'],
    ['a:b', 'a:b'],
    ['~!$*().,;@', '~!$*().,;@'],
    ['a%5Cb', 'a\\b'],
    ['%22', '"'],
    ['caf%C3%A9', 'café'],
    ['cafe%CC%81', 'cafe\u0301'],
    ['%F0%9F%8D%AE', '🍮'],
    ['%E6%8B%85%E6%8B%85%E9%BA%BA', '担担麺'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['...', '...'],
    ['a%2F', 'a/'],
    ['a%2F..%2Fb', 'a/../b'],
  ])('%s names the check %s', async (segment, external_id) => {
    const simulator = await openSimulator()
    const pushed = await simulator.call(put(segment), { json: check() })
    expect(pushed.status).toBe(201)
    expect((pushed.json as Check).external_id).toBe(external_id)
    expect((await simulator.call(get(segment))).text).toBe(pushed.text)
    expect((await simulator.client.checks.get(external_id)).external_id).toBe(external_id)
    expect((await simulator.client.checks.list()).data).toHaveLength(1)
  })

  it('and compared exactly: case and Unicode form matter', async () => {
    const simulator = await openSimulator()
    for (const id of ['café', 'cafe\u0301', 'CAFÉ', 'café '])
      expect(await simulator.push(id)).toMatchObject({ status: 201 })
    expect((await simulator.client.checks.list()).data).toHaveLength(4)
  })

  it('a doubly escaped id is decoded only once, too', async () => {
    const simulator = await openSimulator()
    const body = JSON.stringify(check())
    const answer = await simulator.raw(
      `PUT /v1/checks/external/%61%2525 HTTP/1.1\r\n${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    expect((answer.json as Check).external_id).toBe('a%25')
  })
})

describe('an external check id is 1 to 255 characters without control characters', () => {
  it.each([
    ['1 character', 'a'],
    ['255 characters', 'a'.repeat(255)],
    ['255 characters of three bytes each', '麺'.repeat(255)],
  ])('%s are accepted', async (_what, id) => {
    const simulator = await openSimulator()
    expect(await simulator.push(id)).toMatchObject({ status: 201 })
    expect((await simulator.client.checks.get(id)).external_id).toBe(id)
  })

  it.each([
    ['256 characters', 'a'.repeat(256)],
    ['a zero byte', 'a%00b'],
    ['a line feed', 'a%0Ab'],
    ['a carriage return', 'a%0D'],
    ['a tab', '%09'],
    ['a delete', 'a%7F'],
    ['a control character of Latin-1', 'a%C2%85'],
    ['a malformed escape', 'a%2'],
    ['an escape that is no hex', '%G0'],
    ['half of a UTF-8 sequence', '%E2%82'],
    ['an overlong UTF-8 sequence', '%C0%AF'],
    ['a surrogate in UTF-8', '%ED%A0%80'],
    ['Latin-1 instead of UTF-8', 'caf%E9'],
  ])('%s is 400 invalid_path to PUT and GET, and nothing is stored', async (_what, segment) => {
    const simulator = await openSimulator()
    for (const answer of [
      await simulator.call(put(segment), { json: check() }),
      await simulator.call(get(segment)),
    ]) {
      expect(answer.status).toBe(400)
      expect(errorOf(answer).code).toBe('invalid_path')
    }
    expect((await simulator.client.checks.list()).data).toEqual([])
  })

  it.each([
    'PUT /v1/checks/external/',
    'PUT /v1/checks/external/a/',
    'GET /v1/locations/',
    'PUT /v1/checks/external',
    'PUT /v1/checks/external/a/b',
    'GET /v2/locations',
    'GET /V1/locations',
    'GET /locations',
    'GET /v1',
    'GET /v1/checks/a',
  ])('%s is not a path of the service', async (route) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route)
    expect(answer.status).toBe(404)
    expect(errorOf(answer).code).toBe('not_found')
  })

  it('a message about a long path shortens it', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call(`GET /v1/${'x'.repeat(5000)}`)
    expect(errorOf(answer).message.length).toBeLessThan(400)
  })
})
