import { describe, expect, it } from 'vitest'
import { createFairQueue } from '../../src/delivery/in-flight.ts'

const due = (...names: string[]) => names.map((id) => ({ id, endpoint_id: id.charAt(0) }))
const none = () => 0
const limitSlow = <D>(inOrder: readonly D[]) => inOrder
const ids = (chosen: readonly { id: string }[]) => chosen.map(({ id }) => id)

describe('the fair queue', () => {
  it('takes one delivery of each endpoint per round', () => {
    const chosen = createFairQueue().take(due('a1', 'a2', 'a3', 'b1', 'c1', 'c2'), {
      capacity: 99,
      perEndpoint: 8,
      inFlight: none,
      limitSlow,
    })
    expect(ids(chosen)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  })

  it('prefers the endpoint served longest ago when capacity is scarce', () => {
    const queue = createFairQueue()
    const take = () =>
      ids(queue.take(due('a1', 'a2', 'b1', 'c1'), { capacity: 1, perEndpoint: 8, inFlight: none, limitSlow }))
    expect([take(), take(), take(), take()].flat()).toEqual(['a1', 'b1', 'c1', 'a1'])
  })

  it('leaves out deliveries above the limit of an endpoint', () => {
    const inFlight = (endpoint: string) => (endpoint === 'a' ? 7 : 0)
    expect(
      ids(
        createFairQueue().take(due('a1', 'a2', 'b1'), { capacity: 99, perEndpoint: 8, inFlight, limitSlow }),
      ),
    ).toEqual(['a1', 'b1'])
  })

  it('limits slow endpoints after the round robin, not before', () => {
    const queue = createFairQueue()
    const take = () =>
      ids(
        queue.take(due('a1', 'a2', 'a3', 'b1', 'b2', 'c1'), {
          capacity: 99,
          perEndpoint: 8,
          inFlight: none,
          limitSlow: (inOrder) => inOrder.slice(0, 2),
        }),
      )
    expect([take(), take(), take()]).toEqual([
      ['a1', 'b1'],
      ['c1', 'a1'],
      ['b1', 'c1'],
    ])
  })

  it.each([0, -3])('takes none with a capacity of %i', (capacity) => {
    expect(
      createFairQueue().take(due('a1'), { capacity, perEndpoint: 8, inFlight: none, limitSlow }),
    ).toEqual([])
  })
})
