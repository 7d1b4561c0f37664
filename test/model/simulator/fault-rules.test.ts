import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/model/simulator/fault-rules.ts'

test('a random number depends only on its seed and its subject', () => {
  expect(seededRandom(7, 'drop', 0, 12, 1)).toBe(seededRandom(7, 'drop', 0, 12, 1))
  const others = [
    seededRandom(8, 'drop', 0, 12, 1),
    seededRandom(7, 'delay', 0, 12, 1),
    seededRandom(7, 'drop', 0, 13, 1),
  ]
  expect(others).not.toContain(seededRandom(7, 'drop', 0, 12, 1))
  expect(seededRandom(1, 'drop', 2, 3)).not.toBe(seededRandom(1, 'drop', 23))
})

test.each([0.1, 0.3, 0.5, 0.9])(
  'draws for neighbouring subjects are below %f with that probability',
  (chance) => {
    const kinds = ['duplicate', 'reorder', 'delay', 'drop']
    const draws = kinds.flatMap((kind) =>
      Array.from({ length: 5_000 }, (_, n) => seededRandom(1, kind, 0, n, 1)),
    )
    expect(draws.every((drawn) => drawn >= 0 && drawn < 1)).toBe(true)
    const share = draws.filter((drawn) => drawn < chance).length / draws.length
    expect(share).toBeGreaterThan(chance - 0.02)
    expect(share).toBeLessThan(chance + 0.02)
  },
)
