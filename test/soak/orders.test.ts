import { expect, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import { permutations, sevenPushes, timeless } from '../support/orders.ts'
import { openSimulator } from '../support/simulator.ts'
import { isSoak } from './seeded.ts'

const AT_ONCE = 32

test.runIf(isSoak)(
  'seven pushes over HTTP, in each of their 5,040 orders and then the seventh again, end in one state',
  async () => {
    const service = await openSimulator()
    const last = sevenPushes.slice(-1)
    const ends = new Map<string, number>()
    const left = permutations(sevenPushes).entries()
    const next = async () => {
      for (const [number, order] of left) {
        for (const push of [...order, ...last]) await service.push(`order-${number}`, push)
        const { json } = await service.call(`GET /v1/checks/external/order-${number}`)
        const end = JSON.stringify(timeless(json as Check))
        ends.set(end, (ends.get(end) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, next))
    expect([...ends.values()]).toEqual([5040])
    expect(JSON.parse([...ends.keys()].join(''))).toMatchObject({ ...last[0] })
  },
  600_000,
)
