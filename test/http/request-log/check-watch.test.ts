import { expect, test } from 'vitest'
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

test('ids of two stations for the same product show no merged tables', async () => {
  const simulator = await openSimulator()
  for (const bar of ['bar-1', 'bar-2', 'bar-3'])
    await push(simulator, bar, ['plu-20001 Water', 'plu-20002 Tea'])
  for (const table of ['1', '2', '3']) await push(simulator, table, ['plu-30001 Water', 'plu-30002 Tea'])
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

test('a check that the inspector closes settles the finding', async () => {
  const simulator = await openSimulator()
  await mergeTables(simulator)
  expect(await codesOf(simulator)).toEqual(['item_on_two_checks'])
  const json = check({ status: 'closed', items: [], totals: totals(0) })
  await simulator.call('PUT /_sim/checks/a', { json })
  expect(await codesOf(simulator)).toEqual([])
})
