import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countsIn, type Sent } from './refused-pushes-fixtures.ts'

const invalid = (body: string, changes: Partial<Sent> = {}): Sent => ({
  check: 'a',
  body,
  status: 422,
  code: 'validation_failed',
  ...changes,
})

describe('invalid_push_repeated', () => {
  test.each([
    [422, 'validation_failed'],
    [400, 'invalid_json'],
    [415, 'unsupported_media_type'],
  ])('is found when a body that was refused with %i %s comes again unchanged', (status, code) => {
    const once = invalid('no JSON', { status, code })
    expect(countsIn([once, once, once])).toEqual({ push_refused: 1, invalid_push_repeated: 2 })
  })

  test.each<[string, Sent[]]>([
    ['another body', [invalid('1'), invalid('2')]],
    ['the same body for another check', [invalid('1'), invalid('1', { check: 'b' })]],
    [
      'the same body under another Content-Type',
      [invalid('1', { status: 415, code: 'unsupported_media_type' }), invalid('1')],
    ],
    [
      'the same body after a refused key, which says nothing of the body',
      [
        invalid('1', { status: 401, code: 'unauthorized' }),
        invalid('1', { status: 401, code: 'unauthorized' }),
      ],
    ],
    [
      'a body that was accepted meanwhile',
      [invalid('1'), invalid('1', { status: 200, code: '' }), invalid('1')],
    ],
    ['a body whose first answer was lost', [invalid('1', { faults: ['lost_answer'] }), invalid('1')]],
  ])('is not found for %s', (_what, history) => {
    expect(countsIn(history)).not.toHaveProperty('invalid_push_repeated')
  })

  test('is not found when the sender corrects each push that was refused', () => {
    const anyCode = fc.constantFrom('invalid_json', 'unsupported_media_type', 'validation_failed')
    const anyStep = fc.record({
      check: fc.constantFrom('a', 'b', 'c'),
      code: anyCode,
      accepted: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
        // Each push is another state; those that are accepted are replayed.
        const history = steps.flatMap(({ check, code, accepted }, index): Sent[] => {
          const sent = { check, body: JSON.stringify({ index }) }
          const applied = { ...sent, status: 200 }
          return accepted ? [applied, applied] : [{ ...sent, status: 422, code }, applied]
        })
        expect(countsIn(history)).not.toHaveProperty('invalid_push_repeated')
      }),
    )
  })
})
