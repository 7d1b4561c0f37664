import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../src/client.ts'
import { bundleOf } from '../../../src/model/simulator/bundle.ts'
import { startReplay } from '../../../src/simulator.ts'
import { check, item, openSimulator, totals, type TestSimulator } from '../../support/simulator.ts'

/** Pushes a check with items of equal price; each is `id name`. */
function push({ push: send }: TestSimulator, id: string, lines: readonly string[], change: object = {}) {
  const items = lines.map((line) => {
    const [external_id = '', name = ''] = line.split(' ')
    return item(external_id, { name })
  })
  return send(id, { items, totals: totals(1850 * items.length), ...change })
}

const codesOf = async ({ client }: Pick<TestSimulator, 'client'>) =>
  (await client.report()).findings.map(({ code }) => code)

/** Two tables with a line of water each, then the lines of the first on both. */
async function mergeTables(simulator: TestSimulator) {
  await push(simulator, 'a', ['ln-10001 Water', 'ln-10002 Soup'])
  await push(simulator, 'b', ['ln-10003 Water'])
  await push(simulator, 'b', ['ln-10003 Water', 'ln-10001 Water', 'ln-10002 Soup'])
}

test('a name in other case does not hide a duplicate check', async () => {
  const simulator = await openSimulator()
  await push(simulator, 'z', ['ln-20000 Water'])
  await push(simulator, 'a', ['ln-10001 Tea', 'ln-10002 Water'])
  await push(simulator, 'a', ['ln-10001 tea', 'ln-10002 Water'])
  await push(simulator, 'b', ['ln-10001 tea', 'ln-10002 Water'])
  expect(await codesOf(simulator)).toEqual(['duplicate_check'])
})

test('ids of two stations for the same product show no merged tables', async () => {
  const simulator = await openSimulator()
  for (const bar of ['bar-1', 'bar-2', 'bar-3'])
    await push(simulator, bar, ['plu-20001 Water', 'plu-20002 Tea'])
  for (const table of ['1', '2', '3']) await push(simulator, table, ['plu-30001 Water', 'plu-30002 Tea'])
  expect(await codesOf(simulator)).toEqual([])
})

test('one equal item alone shows no merged tables', async () => {
  const simulator = await openSimulator()
  await push(simulator, 'a', ['ln-10001 Water', 'ln-10002 Soup'])
  await push(simulator, 'b', ['ln-10003 Water'])
  await push(simulator, 'b', ['ln-10003 Water', 'ln-10001 Water'])
  expect(await codesOf(simulator)).toEqual([])
})

test('ids of a sender whose id has named two items show no merged tables', async () => {
  const simulator = await openSimulator()
  await push(simulator, 'c', ['ln-20001 Tea'])
  await push(simulator, 'd', ['ln-20001 Cake'])
  await mergeTables(simulator)
  expect(await codesOf(simulator)).toEqual([])
})

test('an id that a closed check also has shows no merged tables', async () => {
  const simulator = await openSimulator()
  const lines = ['plu-20001 Water', 'plu-20002 Tea']
  await push(simulator, 'yesterday', lines, { status: 'closed' })
  await push(simulator, 'bar', ['plu-30001 Water'])
  await push(simulator, '1', lines)
  await push(simulator, '2', ['plu-20003 Cake'])
  expect(await codesOf(simulator)).toEqual([])
})

test('a line number at the end of a menu id shows no merged tables', async () => {
  const simulator = await openSimulator()
  await push(simulator, '1', ['plu-20001-1 Water', 'plu-20002-2 Tea'])
  await push(simulator, '2', ['plu-20002-1 Tea', 'plu-20001-2 Water'])
  await push(simulator, '3', ['plu-20001-1 Water', 'plu-20002-2 Tea'])
  expect(await codesOf(simulator)).toEqual([])
})

test('the check number in the ids of lines shows lines on two checks', async () => {
  const simulator = await openSimulator()
  await push(simulator, 'a', ['c-17-1 Water', 'c-17-2 Soup'])
  await push(simulator, 'b', ['c-18-1 Water', 'c-17-1 Water', 'c-17-2 Soup'])
  await push(simulator, 'c', ['c-19-1 Water'])
  expect(await codesOf(simulator)).toEqual(['item_on_two_checks'])
})

/** Pushes one item with a key of the second location. */
async function pushElsewhere({ client, key, call }: TestSimulator, external_id: string, name: string) {
  const [, second] = (await client.locations.list()).data.map(({ id }) => id).toSorted()
  const json = check({ items: [item(external_id, { name })] })
  const options = { key: await key(['write'], second), json }
  expect(await call('PUT /v1/checks/external/1', options)).toMatchObject({ status: 201 })
}

test('an id of another location for the same product shows no merged tables', async () => {
  const simulator = await openSimulator()
  await pushElsewhere(simulator, 'plu-30001', 'Water')
  await push(simulator, '1', ['plu-20001 Water', 'plu-20002 Tea'])
  await push(simulator, '2', ['plu-20001 Water', 'plu-20002 Tea'])
  expect(await codesOf(simulator)).toEqual([])
})

test('an id that another location uses for another item does not hide merged tables', async () => {
  const simulator = await openSimulator()
  await pushElsewhere(simulator, 'ln-10001', 'Tea')
  await mergeTables(simulator)
  expect(await codesOf(simulator)).toEqual(['item_on_two_checks'])
})

describe('lines of a quantity', () => {
  const lines = (...quantities: readonly number[]) => {
    const items = quantities.map((quantity, at) =>
      item(`ln-1000${at}`, { name: `Dish ${at}`, quantity, price_cents: 1000 }),
    )
    return { items, totals: totals(quantities.reduce((sum, quantity) => sum + quantity * 1000, 0)) }
  }
  /** Pushes the states of check a, then check b. A line of another check shows that ids name lines. */
  const pushAll = async (a: readonly (readonly number[])[], b: readonly number[]) => {
    const simulator = await openSimulator()
    await push(simulator, 'z', ['ln-20000 Water'])
    for (const quantities of a) await simulator.push('a', lines(...quantities))
    await simulator.push('b', lines(...b))
    const water = item('ln-20001', { name: 'Water' })
    await simulator.push('y', { items: [water], totals: totals(1850) })
    const dish = item('ln-30000', { name: 'Dish 0', price_cents: 1000 })
    await simulator.push('x', { items: [dish], totals: totals(1000) })
    return codesOf(simulator)
  }

  test.each([
    [
      'in halves',
      [
        [2, 2],
        [1, 1],
      ],
      [1, 1],
    ],
    [
      'in uneven parts',
      [
        [3, 4],
        [2, 3],
      ],
      [1, 1],
    ],
    [
      'in two pushes',
      [
        [2, 2],
        [1, 2],
        [1, 1],
      ],
      [1, 1],
    ],
    [
      'of which one is a part of a bottle',
      [
        [2, 1],
        [1, 0.667],
      ],
      [1, 0.333],
    ],
  ])('that are split %s are not on two checks', async (_how, a, b) => {
    expect(await pushAll(a, b)).toEqual([])
  })

  test('that were lowered before the log was saved are split after it', async () => {
    const simulator = await openSimulator()
    const renamed = ({ items, totals: sums }: ReturnType<typeof lines>) => ({
      items: items.map((line) => ({ ...line, external_id: line.external_id.replace('1', '5') })),
      totals: sums,
    })
    await simulator.push('x', lines(1, 1))
    await simulator.push('a', renamed(lines(2, 2)))
    await simulator.push('a', renamed(lines(1, 1)))
    const replay = await startReplay(bundleOf(await simulator.client.bundle({})), { port: false })
    onTestFinished(() => replay.close())
    const client = createClient({ url: replay.url, apiKey: replay.apiKey, fetch: replay.fetch })
    await client.checks.push('b', JSON.stringify(check(renamed(lines(1, 1)))))
    expect(await codesOf({ client })).toEqual([])
    await client.checks.push('c', JSON.stringify(check(lines(1, 1))))
    expect(await codesOf({ client })).toEqual(['duplicate_check'])
  })

  test.each([
    ['all pushed again under another id', 'duplicate_check', [[2, 2]], [2, 2]],
    [
      'lowered by less, then pushed under another id',
      'duplicate_check',
      [
        [3, 3],
        [2, 2],
      ],
      [2, 2],
    ],
    [
      'lowered and raised again, then on another check',
      'duplicate_check',
      [
        [2, 2],
        [1, 1],
        [2, 2],
      ],
      [2, 2],
    ],
    ['on another check in part', 'item_on_two_checks', [[2, 2]], [1, 1]],
  ])('that are %s show %s', async (_how, code, a, b) => {
    expect((await pushAll(a, b)).filter((found) => found !== 'possible_late_retry')).toEqual([code])
  })
})

test('a check that the inspector closes settles the finding', async () => {
  const simulator = await openSimulator()
  await mergeTables(simulator)
  expect(await codesOf(simulator)).toEqual(['item_on_two_checks'])
  const json = check({ status: 'closed', items: [], totals: totals(0) })
  await simulator.call('PUT /_sim/checks/a', { json })
  expect(await codesOf(simulator)).toEqual([])
})
