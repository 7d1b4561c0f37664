import { describe, expect, test } from 'vitest'
import { planFaults, takePlan } from '../../../src/delivery/faults/fault-plan.ts'
import { rulesOf, viewRule } from '../../../src/model/simulator/fault-rules.ts'
import type { DeliveryFault } from '../../../src/model/simulator/fault.ts'

type Chances = Partial<Omit<DeliveryFault, 'on'>>

/** Plans the attempts with these numbers, of an event `check.updated`, and returns the faults of each. */
function drawEach(fault: Chances, subjects: readonly { ordinal: number; attempt: number }[]) {
  const rules = rulesOf([{ on: 'deliveries' as const, ...fault }])
  const delivery = { event_type: 'check.updated', endpoint_id: 'we_1' } as const
  return subjects.map(
    (subject) => planFaults(rules, 1, { delivery, mayReorder: true, ...subject })?.faults.join(' ') ?? '',
  )
}

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

describe('a fault', () => {
  const numbers = Array.from({ length: 200 }, (_, at) => at + 1)
  const half = { duplicate: 0.5, delay: 0.5, delay_ms: 10 }

  test.each([
    ['delivery', numbers.map((ordinal) => ({ ordinal, attempt: 1 }))],
    ['attempt', numbers.map((attempt) => ({ ordinal: 1, attempt }))],
  ])('is drawn for each %s, and each kind by itself', (_of, subjects) => {
    const drawn = drawEach(half, subjects)
    for (const faults of ['', 'duplicate', 'delay', 'duplicate delay']) {
      const share = drawn.filter((one) => one === faults).length / drawn.length
      expect([faults, share > 0.15 && share < 0.35]).toEqual([faults, true])
    }
  })

  test('applies to each event type that it lists', () => {
    expect(draw({ drop: 1, event_types: ['check.closed', 'check.updated'] }).faults).toEqual(['drop'])
    expect(draw({ drop: 1, event_types: ['check.closed', 'check.created'] }).faults).toBeUndefined()
  })

  test('is not injected when none is left, also when another attempt has taken the last one', () => {
    expect(draw({ drop: 1, times: 5, left: 0 })).toEqual({ faults: undefined, left: [0] })
    const rules = rulesOf([{ on: 'deliveries' as const, drop: 1, times: 1 }])
    const delivery = { event_type: 'check.updated', endpoint_id: 'we_1' } as const
    const plan = planFaults(rules, 1, { delivery, ordinal: 1, attempt: 1, mayReorder: true })
    expect([plan && takePlan(rules, plan)?.faults, plan && takePlan(rules, plan)]).toEqual([
      ['drop'],
      undefined,
    ])
  })
})
