import { describe, expect, it } from 'vitest'
import { createFairQueue } from '../../src/delivery/fair-queue.ts'

const due = (...names: string[]) => names.map((id) => ({ id, endpoint_id: id.charAt(0) }))
const none = () => 0
const withinShare = <D>(inTurn: readonly D[]) => inTurn
const ids = (chosen: readonly { id: string }[]) => chosen.map(({ id }) => id)

describe('turns', () => {
  it('go round the endpoints, one delivery each', () => {
    const chosen = createFairQueue().take(due('a1', 'a2', 'a3', 'b1', 'c1', 'c2'), {
      capacity: 99,
      perEndpoint: 8,
      inFlight: none,
      limitSlow,
    })
    expect(ids(chosen)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  })

  it('go to the endpoint that has waited longest when room is scarce', () => {
    const turns = createFairQueue()
    const take = () =>
      ids(turns.take(due('a1', 'a2', 'b1', 'c1'), { capacity: 1, perEndpoint: 8, inFlight: none, limitSlow }))
    expect([take(), take(), take(), take()].flat()).toEqual(['a1', 'b1', 'c1', 'a1'])
  })

  it('leave out what is above the endpoint’s share', () => {
    const inFlight = (endpoint: string) => (endpoint === 'a' ? 7 : 0)
    expect(
      ids(
        createFairQueue().take(due('a1', 'a2', 'b1'), { capacity: 99, perEndpoint: 8, inFlight, limitSlow }),
      ),
    ).toEqual(['a1', 'b1'])
  })

  it('leave out what is above a share of those in turn, not of those that have waited longest', () => {
    const turns = createFairQueue()
    const take = () =>
      ids(
        turns.take(due('a1', 'a2', 'a3', 'b1', 'b2', 'c1'), {
          capacity: 99,
          perEndpoint: 8,
          inFlight: none,
          limitSlow: (inTurn) => inTurn.slice(0, 2),
        }),
      )
    expect([take(), take(), take()]).toEqual([
      ['a1', 'b1'],
      ['c1', 'a1'],
      ['b1', 'c1'],
    ])
  })

  it.each([0, -3])('are none with room for %i', (room) => {
    expect(
      createFairQueue().take(due('a1'), { capacity, perEndpoint: 8, inFlight: none, limitSlow }),
    ).toEqual([])
  })
})
