import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { check } from '../support/simulator.ts'
import { countsIn, type Sent } from './refused-pushes-fixtures.ts'

/** Contents that a sender pushes, each with the answer. */
const anyHistory = fc.array(fc.record({ content: fc.nat(3), isRefused: fc.boolean() }), { maxLength: 30 })

/** The pushes of one check under rising revisions, or without. */
function historyOf(pushes: readonly { content: number; isRefused: boolean }[], isOrdered: boolean): Sent[] {
  return pushes.map(({ content, isRefused }, at) => ({
    check: 'a',
    body: JSON.stringify(
      check({ table: { number: `table ${content}` }, ...(isOrdered && { revision: at + 1 }) }),
    ),
    ...(isRefused ? { status: 409, code: 'conflict_with_paid_items' } : { status: 200 }),
  }))
}

describe('conflict_ignored', () => {
  test('is not found when the sender repeats no refused content before an accepted push', () => {
    const isQuiet = (pushes: readonly { content: number; isRefused: boolean }[], isOrdered: boolean) => {
      const refused = new Set<number>()
      const honest = pushes.filter(({ content, isRefused }) => {
        if (refused.has(content)) return false
        if (isRefused) refused.add(content)
        else refused.clear()
        return true
      })
      expect(countsIn(historyOf(honest, isOrdered))).toEqual({})
    }
    fc.assert(fc.property(anyHistory, fc.boolean(), isQuiet))
  })

  test('is found as often with revisions as without', () => {
    const isSame = (pushes: readonly { content: number; isRefused: boolean }[]) => {
      expect(countsIn(historyOf(pushes, true))).toEqual(countsIn(historyOf(pushes, false)))
    }
    fc.assert(fc.property(anyHistory, isSame))
  })
})
