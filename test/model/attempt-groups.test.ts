import { describe, expect, it } from 'vitest'
import { groupsOf } from '../../src/model/attempt-groups.ts'
import type { Attempt } from '../../src/model/delivery.ts'

describe('equal attempts', () => {
  const attempt = (number: number, changes: Partial<Attempt> = {}): Attempt => ({
    number,
    started_at: '2026-11-21T18:00:00.000Z',
    duration_ms: number,
    outcome: 'bad_status',
    response_status: 503,
    response_body: 'out of order',
    error: 'The receiver returned 503.',
    ...changes,
  })

  it('are grouped when they follow one another, whatever their times and durations', () => {
    const other = { response_status: 500 }
    const attempts = [attempt(1), attempt(2), attempt(3, other), attempt(4), attempt(5)]
    const numbers = groupsOf(attempts).map((group) => group.map(({ number }) => number))
    expect(numbers).toEqual([[1, 2], [3], [4, 5]])
    const dated = { response_headers: [{ name: 'Date', value: 'Sat, 21 Nov 2026 18:00:00 GMT' }] }
    expect(groupsOf([attempt(1), attempt(2, dated)])).toHaveLength(1)
    for (const change of [{ response_body: 'x' }, { error: null }, { faults: ['drop' as const] }])
      expect(groupsOf([attempt(1), attempt(2, change)])).toHaveLength(2)
  })
})
