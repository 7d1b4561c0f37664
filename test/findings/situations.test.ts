import { describe, expect, test } from 'vitest'
import { findingsOf, findingsWithHistory } from '../../src/findings/index.ts'
import { contentOf, parsePush, type Check } from '../../src/model/check.ts'
import { checkAfter, decide } from '../operations/push-fixtures.ts'
import { situations } from './situations.ts'

/** Expected finding of each situation that has one. */
const expected: Record<string, string[]> = { 'service-charge-outside-lines': ['totals_mismatch'] }

describe.each(situations)('$name', ({ name, bodies }) => {
  test('pushed in order takes effect at every step', () => {
    expect(outcomesOf(bodies)).toEqual(bodies.map((_, at) => (at === 0 ? 'created' : 'updated')))
  })

  test('shows only the finding that it demonstrates', () => {
    expect(codesOf(bodies)).toEqual(expected[name] ?? [])
  })
})

function codesOf(bodies: readonly unknown[]): string[] {
  const pushes = bodies.map((body) => parsePush(body))
  return pushes.flatMap((push, at) => {
    const before = at === 0 ? null : checkAfter(...pushes.slice(0, at))
    const { outcome } = decide(before ?? undefined, push).reply
    const repeatsEarlier = pushes
      .slice(0, Math.max(at - 1, 0))
      .map(contentOf)
      .includes(contentOf(push))
    const earlierStates = () => pushes.slice(0, at).map((_, last) => checkAfter(...pushes.slice(0, last + 1)))
    const seen = {
      body: bodies[at],
      push,
      before,
      outcome,
      orderBy: 'revision',
      repeatsEarlier,
      earlierStates,
      now: new Date(),
    }
    const found = findingsOf(seen)
    const all = before === null ? found : findingsWithHistory(found, { ...seen, before })
    return all.map(({ code }) => code)
  })
}

function outcomesOf(bodies: readonly unknown[]): string[] {
  let check: Check | undefined
  return bodies.map((body) => {
    const { reply } = decide(check, parsePush(body))
    check = reply.check
    return reply.outcome
  })
}
