import { beforeAll, describe, expect, test } from 'vitest'
import type { List } from '../../src/client.ts'
import type { Check } from '../../src/model/check.ts'
import type { Location } from '../../src/model/records.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  const closed = { status: 'closed', table: { number: '7' } }
  for (const [id, body] of Object.entries({ lunch: checkBody(closed), 'a/b': checkBody({ revision: 4 }) }))
    await service.call('PUT', `/v1/checks/external/${encodeURIComponent(id)}`, body)
  return async () => {
    await service.stop()
  }
})

describe.concurrent('tabwire checks', () => {
  test('list shows the newest check first, in columns', async () => {
    const { code, stdout, stderr } = await service.run(['checks', 'list'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, first, second, ...rest] = stdout.split('\n')
    expect(head).toBe('CHECK  TABLE  STATUS  ITEMS  TOTAL   BALANCE  UPDATED (UTC)')
    expect(first).toMatch(
      /^a\/b {4}12 {5}open {4}2 {6}\$40\.02 {2}\$40\.02 {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
    )
    expect(second).toMatch(/^lunch {2}7 {6}closed {2}2 {6}\$40\.02 {2}\$40\.02 {3}\d{4}/)
    expect(rest).toEqual([''])
  })

  test('list filters by status and table, and pages by cursor', async () => {
    const closed = await service.json<List<Check>>('checks', 'list', '--status', 'closed', '--table', '7')
    expect(closed.data.map((check) => check.external_id)).toEqual(['lunch'])
    const page = await service.json<List<Check>>('checks', 'list', '--limit', '1')
    const cursor = page.next_cursor ?? ''
    const next = await service.json<List<Check>>('checks', 'list', '--limit', '1', '--cursor', cursor)
    expect([...page.data, ...next.data].map((check) => check.external_id)).toEqual(['a/b', 'lunch'])
    expect(next.next_cursor).toBeNull()
  })

  test('an empty list says why it is empty, and is an empty list with --json', async () => {
    const fresh = await serve()
    expect((await fresh.run(['checks', 'list'])).stdout).toBe(
      'No checks yet. Push one with: tabwire push --sample two-top\n',
    )
    await fresh.stop()
    const none = ['checks', 'list', '--table', '99']
    expect((await service.run(none)).stdout).toBe('No checks match.\n')
    expect(await service.json(...none)).toEqual({ data: [], next_cursor: null })
  })

  test('show prints a check found by its external id', async () => {
    const { stdout } = await service.run(['checks', 'show', 'a/b'])
    expect(stdout).toMatch(
      /^check {5}a\/b {2}chk_\w{26}\ntable {5}12\nstatus {4}open\nrevision {2}4\nsubtotal {2}\$36\.80\n/,
    )
    expect(stdout).toMatch(
      /\nQTY {2}NAME {11}EACH {4}GUESTS {2}NOTE {8}ITEM\n2 {4}Copper Burger {2}\$14\.50 {22}line-1\n/,
    )
    const got = await service.call('GET', '/v1/checks/external/a%2Fb')
    expect(await service.json('checks', 'show', 'a/b')).toEqual(await got.json())
  })

  test('show exits with 1 for an unknown id', async () => {
    const { code, stdout, stderr } = await service.run(['checks', 'show', 'nope'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /^Error: 404 not_found: Check "nope" not found at this key's location\. .*\n {2}X-Request-Id: req_\w+\n$/,
    )
  })
})

test('tabwire locations lists the locations', async () => {
  const { stdout } = await service.run(['locations'])
  expect(stdout).toMatch(
    /^LOCATION {2,}NAME {2,}TIME ZONE {2,}CURRENCY\nloc_\w+ {2}The Copper Pan, .*(GBP|USD)\n/,
  )
  const { data } = await service.json<List<Location>>('locations', '--limit', '1')
  expect(data).toHaveLength(1)
})
