import { readFile, readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Check, Push } from '../../src/model/check.ts'
import { permutations, sevenPushes, timeless } from '../support/orders.ts'
import { check, item, openStream, rawHeaders, temporaryDirectory, totals } from '../support/simulator.ts'
import { openTarget, valid, type Target } from './standing.ts'

const show = ({ call }: Target, id: string) => call(`GET /v1/checks/external/${id}`)
const eventsOf = async ({ client }: Target, external_check_id: string) =>
  (await client.events.list({ external_check_id, limit: 100 })).data.map(({ type }) => type)

test('a hundred repetitions of a push write nothing after the first', async () => {
  const dataDirectory = await temporaryDirectory()
  const target = await openTarget({ dataDirectory })
  const { text } = await target.push('a')
  const written = async () => {
    // A socket holds the directory, and has no content.
    const names = (await readdir(dataDirectory)).filter((name) => !name.endsWith('.sock')).sort()
    return Promise.all(names.map(async (name) => [name, await readFile(join(dataDirectory, name), 'hex')]))
  }
  const before = await written()
  for (let time = 0; time < 100; time++) expect(await target.push('a')).toMatchObject({ status: 200, text })
  expect(await written()).toEqual(before)
  expect(await eventsOf(target, 'a')).toEqual(['check.created'])
  await target.stands()
})

test('in every order of arrival, the last push determines the state', async () => {
  const target = await openTarget()
  // All orders of all seven are decided upon in test/operations, and come over HTTP in the long run.
  const pushes = sevenPushes.slice(3)
  const last = pushes.at(-1) ?? check()
  const expected = timeless((await target.push('expected', last)).json as Check)
  for (const [run, order] of permutations(pushes).entries()) {
    for (const push of [...order, last]) await target.push(`run-${run}`, push)
    expect(timeless((await show(target, `run-${run}`)).json as Check)).toEqual(expected)
  }
  await target.stands()
})

test('after 32 concurrent pushes the state is one of them, and no read shows a part of a push', async () => {
  const target = await openTarget()
  const body = (n: number): Push =>
    check({
      table: { number: `t-${n}` },
      items: Array.from({ length: 1 + (n % 5) }, (_, index) => item(`i-${n}-${index}`)),
      totals: totals(n),
    })
  const whole = new Set(Array.from({ length: 32 }, (_, n) => JSON.stringify(shownOf(body(n)))))
  for (let round = 0; round < 10; round++) {
    const pushes = Array.from({ length: 32 }, (_, n) => target.push(`round-${round}`, body(n)))
    await Promise.any(pushes)
    const reads = Array.from({ length: 16 }, () => show(target, `round-${round}`))
    const answers = [...(await Promise.all([...pushes, ...reads])), await show(target, `round-${round}`)]
    for (const { json } of answers) expect(whole).toContain(JSON.stringify(shownOf(json as Check)))
  }
  await target.stands()
})

function shownOf({ table, items, totals }: Push | Check) {
  return [table.number, items.map(({ external_id }) => external_id), totals.total_cents]
}

test('a push whose response was lost is repeated without effect', async () => {
  const target = await openTarget()
  const stream = await openStream(target)
  const socket = connect(target.port, '127.0.0.1')
  const headers = `${rawHeaders(target)}Content-Type: application/json\r\nContent-Length: ${valid.length}\r\n`
  socket.write(`PUT /v1/checks/external/a HTTP/1.1\r\n${headers}\r\n${valid}`)
  // Its sender goes away without having read a byte of the answer.
  await stream.take(2)
  socket.destroy()
  const shown = await show(target, 'a')
  expect(await target.push('a')).toMatchObject({ status: 200, text: shown.text })
  expect(await eventsOf(target, 'a')).toEqual(['check.created'])
  await target.stands()
})

describe('two pushes, one after the other', () => {
  const [first, second] = [check(), check({ items: [item('tea')], totals: totals(1), status: 'closed' })]

  test('A followed by B ends in the same check as B', async () => {
    const target = await openTarget()
    await target.push('one', first)
    const one = (await target.push('one', second)).json as Check
    const other = (await target.push('other', second)).json as Check
    expect(timeless(one)).toEqual(timeless(other))
    await target.stands()
  })

  test('a restart between a push and a read, or between two reads, changes no byte', async () => {
    const dataDirectory = await temporaryDirectory()
    const target = await openTarget({ dataDirectory })
    for (const push of [first, second]) await target.push('a', push)
    const shown = await show(target, 'a')
    expect((await show(target, 'a')).text).toBe(shown.text)
    await target.close()
    const again = await openTarget({ dataDirectory })
    expect((await show(again, 'a')).text).toBe(shown.text)
    expect((await again.push('a', second)).text).toBe(shown.text)
  })
})
