import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pushNote } from '../../../src/http/request-log/log.ts'
import type { Check, Push } from '../../../src/model/check.ts'
import { permutations, timeless } from '../../support/orders.ts'
import {
  check,
  errorOf,
  item,
  openReceiver,
  openSimulator,
  temporaryDirectory,
  totals,
  type TestSimulator,
} from '../../support/simulator.ts'

const at = (second: number, changes: Partial<Push> = {}) => ({
  ...check(changes),
  updated_at: `2026-11-21T18:00:0${second}+01:00`,
})
const put = (simulator: TestSimulator, id: string, json: object) =>
  simulator.call(`PUT /v1/checks/external/${id}`, { json })
const shown = async (simulator: TestSimulator, id: string) =>
  (await simulator.call(`GET /v1/checks/external/${id}`)).json as Check
const findingsOf = async ({ client }: TestSimulator) =>
  (await client.requests.list()).data.flatMap(({ push }) => push?.findings ?? [])

describe('a service that orders pushes by updated_at', () => {
  const orderBy = 'updated_at'

  it('converges on the latest time, in every order', async () => {
    const simulator = await openSimulator({ orderBy })
    const states = [1, 2, 3].map((second) => at(second, { table: { number: String(second) } }))
    const ends = new Set<string>()
    for (const [run, order] of permutations(states).entries()) {
      for (const state of [...order, ...order.slice(0, 1)]) await put(simulator, `run-${run}`, state)
      ends.add(JSON.stringify(timeless(await shown(simulator, `run-${run}`))))
    }
    expect([...ends].map((end) => JSON.parse(end) as unknown)).toMatchObject([
      { table: { number: '3' }, revision: '2026-11-21T17:00:03.000Z' },
    ])
    expect(await findingsOf(simulator)).toEqual([])
  })

  it('shows the time as the revision, also in events', async () => {
    const simulator = await openSimulator({ orderBy })
    const receiver = await openReceiver()
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    const { text, json } = await put(simulator, 'a', at(1))
    expect(json).toMatchObject({ revision: '2026-11-21T17:00:01.000Z' })
    expect((await simulator.call('GET /v1/checks/external/a')).text).toBe(text)
    expect((await simulator.call('GET /v1/checks')).text).not.toContain('ordered_by')
    await simulator.idle()
    expect(receiver.requests[0]?.body.toString()).toContain(`"data":${text}`)
  })

  it('refuses a value that is neither an integer nor a time, with all other issues', async () => {
    const simulator = await openSimulator({ orderBy })
    const answer = await put(simulator, 'a', { ...check(), status: 'paid', updated_at: 'now' })
    expect(answer.status).toBe(422)
    expect(errorOf(answer).issues).toMatchObject([{ path: 'status' }, { path: 'updated_at' }])
  })

  it('finds numbers that come after a time, which change nothing', async () => {
    const simulator = await openSimulator({ orderBy })
    await put(simulator, 'a', at(1))
    await put(simulator, 'a', { ...check({ items: [item('tea')] }), updated_at: 1_795_284_001_000 })
    const [mixed, ...others] = await findingsOf(simulator)
    expect(others).toEqual([])
    expect(mixed).toMatchObject({ code: 'revision_missing' })
    expect(mixed?.message).toContain('a number after a time. So the push looks old and changed nothing.')
  })

  it('names the field in findings, and treats revision as unknown', async () => {
    const simulator = await openSimulator({ orderBy })
    await put(simulator, 'a', at(1))
    await put(simulator, 'a', { ...check({ items: [item('tea')] }), revision: 7 })
    const [missing, unknown] = (await findingsOf(simulator)).sort((a, b) => (a.code < b.code ? -1 : 1))
    expect(missing).toMatchObject({ code: 'revision_missing' })
    expect(missing?.message).toContain(
      'The push has no updated_at, but the check is at updated_at 2026-11-21T17',
    )
    expect(unknown).toMatchObject({ code: 'unknown_field' })
    const reused = await openSimulator({ orderBy })
    await put(reused, 'a', at(1))
    await put(reused, 'a', at(1, { items: [item('tea')] }))
    expect(await findingsOf(reused)).toMatchObject([{ code: 'revision_reused' }])
  })

  it('refuses revision, but not its own field, when strict', async () => {
    const simulator = await openSimulator({ orderBy, strict: true })
    expect((await put(simulator, 'a', at(1))).status).toBe(201)
    const answer = await put(simulator, 'b', { ...at(1), revision: 1 })
    expect(errorOf(answer).issues).toMatchObject([{ path: 'revision' }])
  })

  it('has the item diff of a push in the log, for any value of revision', () => {
    const push = {
      external_check_id: 'a',
      outcome: 'created' as const,
      before: null,
      after: null,
      findings: [],
    }
    const body = JSON.stringify({ ...at(1), revision: 'A7' })
    expect(pushNote(push, [], { body, orderBy }).diff?.added).toHaveLength(1)
  })
})

describe('a restart with another field', () => {
  it('accepts the next push with that field, and orders by it from then on', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openSimulator({ dataDirectory })
    await put(first, 'a', check({ revision: 9 }))
    await first.close()

    const second = await openSimulator({ dataDirectory, orderBy: 'version' })
    expect((await shown(second, 'a')).revision).toBe(9)
    await put(second, 'a', { ...check({ items: [item('tea')], totals: totals(1) }), version: 2 })
    await put(second, 'a', { ...check({ items: [item('pie')], totals: totals(1) }), version: 1 })
    expect(await shown(second, 'a')).toMatchObject({ revision: 2, items: [{ external_id: 'tea' }] })
    const state = await second.client.state.get()
    expect(state.checks[0]).toMatchObject({ ordered_by: 'version', revision: 2 })
    await second.client.state.put(state)
    expect(await second.client.state.get()).toMatchObject({ checks: state.checks })
    await second.close()

    const third = await openSimulator({ dataDirectory })
    await put(third, 'a', check({ revision: 1, items: [item('cake')], totals: totals(1) }))
    expect(await shown(third, 'a')).toMatchObject({ revision: 1, items: [{ external_id: 'cake' }] })
  })
})

it('keeps its field over a crash, after which the journal is read', async () => {
  const [dataDirectory, copy] = [await temporaryDirectory(), await temporaryDirectory()]
  const first = await openSimulator({ dataDirectory, orderBy: 'version' })
  await put(first, 'a', { ...check(), version: 2 })
  await copyFile(join(dataDirectory, 'journal.ndjson'), join(copy, 'journal.ndjson'))

  const second = await openSimulator({ dataDirectory: copy, orderBy: 'version' })
  await put(second, 'a', { ...check({ table: { number: '7' } }), version: 1 })
  expect(await shown(second, 'a')).toMatchObject({ revision: 2, table: check().table })
})

it.each(['items', '', '__proto__'])('the field %j is refused when the service starts', async (orderBy) => {
  await expect(openSimulator({ orderBy })).rejects.toThrow(
    /^orderBy must be the name of a field that orders pushes/,
  )
})
