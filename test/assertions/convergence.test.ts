import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byCheck, pushesInLog, shuffled } from '../../src/assertions/convergence.ts'
import { createClient } from '../../src/client.ts'
import { check, openSimulator } from '../support/simulator.ts'

const seed = fc.nat(2 ** 32 - 1)

test('the shuffled list keeps every element, and has the same order for the same seed', () => {
  const cases = fc.property(fc.array(fc.nat(9)), seed, (list, of) => {
    const order = shuffled(list, of)
    const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
    expect(sorted(order)).toEqual(sorted(list))
    expect(shuffled(list, of)).toEqual(order)
  })
  fc.assert(cases)
})

test('each order of three elements occurs about equally often', () => {
  const orders = Array.from({ length: 6_000 }, (_, index) => shuffled(['a', 'b', 'c'], index).join(''))
  for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
    const count = orders.filter((one) => one === order).length
    expect(count).toBeGreaterThan(850)
    expect(count).toBeLessThan(1_150)
  }
})

test('pushes of one external id at two locations are of two checks', async () => {
  const { client, url, push, key } = await openSimulator()
  await push('dinner', { revision: 1 })
  const first = (await client.checks.get('dinner')).location_id
  const second = (await client.locations.list()).data.find(({ id }) => id !== first)
  const apiKey = await key(['write', 'read', 'simulate'], second?.id)
  await createClient({ url, apiKey }).checks.push('dinner', JSON.stringify(check({ revision: 7 })))
  await push('dinner', { revision: 2 })
  const { pushes: logged, lost } = await pushesInLog(client, 'dinner')
  expect(lost).toBe(0)
  const checks = byCheck(logged)
  const revisions = checks.map((pushes) =>
    pushes.map(({ body }) => (JSON.parse(String(body)) as { revision: number }).revision),
  )
  expect(revisions).toEqual([[1, 2], [7]])
})
