import { describe, expect, test } from 'vitest'
import { planFaults, takePlan } from '../../../src/delivery/faults/fault-plan.ts'
import { rulesOf, viewRule } from '../../../src/model/simulator/fault-rules.ts'
import type { DeliveryFault } from '../../../src/model/simulator/fault.ts'

type Chances = Partial<Omit<DeliveryFault, 'on'>>

/** Plans the first attempt of a delivery. Returns its faults and the remaining count of each rule. */
function draw(...faults: Chances[]) {
  const rules = rulesOf(faults.map((fault): DeliveryFault => ({ on: 'deliveries', ...fault })))
  const delivery = { event_type: 'check.updated', endpoint_id: 'we_1' } as const
  const plan = planFaults(rules, 1, { delivery, ordinal: 1, attempt: 1, mayReorder: true })
  const taken = plan && takePlan(rules, plan)
  expect(taken?.faults).toEqual(plan?.faults)
  return { faults: plan?.faults, left: rules.map((rule) => viewRule(rule).left) }
}

describe('the remaining count of a fault', () => {
  const duplicate: Chances = { duplicate: 1, times: 5 }
  const drop: Chances = { drop: 1, times: 5 }
  const delay: Chances = { delay: 1, delay_ms: 10, times: 5 }

  test('goes down by one for each fault injected into an attempt', () => {
    expect(draw(duplicate, delay)).toEqual({ faults: ['duplicate', 'delay'], left: [4, 4] })
  })

  test.each([
    ['first', [drop, duplicate, delay], [4, 5, 5]],
    ['last', [duplicate, delay, drop], [5, 5, 4]],
    ['twice', [duplicate, drop, drop], [5, 4, 5]],
  ])('does not change when another fault, the %s, drops the attempt', (_place, faults, left) => {
    expect(draw(...faults)).toEqual({ faults: ['drop'], left })
  })

  test('goes down by one for a fault with other kinds beside drop', () => {
    expect(draw({ drop: 1, duplicate: 1, times: 5 })).toEqual({ faults: ['drop'], left: [4] })
  })

  test('does not change when the fault does not match the attempt', () => {
    expect(draw({ drop: 0, times: 5 }, { ...duplicate, event_types: ['check.closed'] })).toEqual({
      faults: undefined,
      left: [5, 5],
    })
  })
})
