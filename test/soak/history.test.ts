import { describe, expect, test } from 'vitest'
import { judge, type History } from './model/history.ts'

const event = (number: number) => ({ id: `evt_${number}`, type: 'check.updated', external_check_id: 'a' })
const body = (number: number, more = '') => JSON.stringify({ id: `evt_${number}`, more })

/** Three events: one endpoint must get all, another the last two. */
const good: History = {
  acknowledged: ['a'],
  stored: ['b', 'a'],
  expected: [event(1), event(2), event(3)],
  events: [event(1), event(2), event(3)],
  endpoints: [0, 1],
  received: [
    { endpoint: 0, body: body(1) },
    { endpoint: 1, body: body(2) },
    { endpoint: 0, body: body(3) },
    { endpoint: 1, body: body(3) },
    { endpoint: 0, body: body(2) },
    { endpoint: 0, body: body(2) },
  ],
  requestIds: ['req_1', 'req_2'],
}
const nothing = { lost: [], unexpected: [], changed: [], repeated: [], different: [] }

describe('the check of histories', () => {
  test('finds nothing when all events arrived, even twice and in another order', () => {
    expect(judge(good)).toEqual(nothing)
  })

  test.each<[what: string, wrong: Partial<History>, verdict: object]>([
    ['a check that is gone', { stored: ['b'] }, { lost: ['a'] }],
    ['an event that never came', { received: good.received.slice(1) }, { lost: ['0 evt_1'] }],
    [
      'an unknown event',
      { received: [...good.received, { endpoint: 0, body: body(9) }] },
      { unexpected: ['0 evt_9'] },
    ],
    [
      'an event from before the endpoint',
      { received: [...good.received, { endpoint: 1, body: body(1) }] },
      { unexpected: ['1 evt_1'] },
    ],
    [
      'other bytes for an event',
      { received: [...good.received, { endpoint: 1, body: body(2, 'x') }] },
      { changed: ['evt_2'] },
    ],
    ['an id for two answers', { requestIds: ['req_1', 'req_1'] }, { repeated: ['req_1'] }],
    [
      'an unexpected event',
      { expected: good.expected.slice(0, 2) },
      { different: ['2: check.updated a for nothing'] },
    ],
  ])('finds %s', (_what, wrong, verdict) => {
    expect(judge({ ...good, ...wrong })).toEqual({ ...nothing, ...verdict })
  })
})
