import { describe, expect, test } from 'vitest'
import { mismatches } from '../../../src/cli/scenario/expect.ts'
import { referredTo, resolved } from '../../../src/cli/scenario/schema.ts'

const answers = new Map<string, unknown>([
  ['anna', { id: 'clm_1', amount_cents: 7, items: [{ external_id: 'x' }] }],
])

describe('references of a step', () => {
  test('are replaced by their values at any depth', () => {
    const step = {
      claim_ids: ['$anna.id'],
      amount_cents: '$anna.amount_cents',
      of: { item: '$anna.items[0].external_id' },
    }
    expect(resolved(step, answers)).toEqual({ claim_ids: ['clm_1'], amount_cents: 7, of: { item: 'x' } })
    expect(referredTo(step)).toEqual(['anna', 'anna', 'anna'])
  })

  test.each(['$5 off', 'a $anna.id', '$', '$anna.id!'])('%s is not a reference', (text) => {
    expect(resolved(text, answers)).toBe(text)
    expect(referredTo(text)).toEqual([])
  })

  test('are refused when the response has no such field', () => {
    expect(() => resolved('$anna.idd', answers)).toThrow('$anna.idd is not in the response of anna')
    expect(() => resolved('$anna.constructor', answers)).toThrow('is not in the response')
  })
})

describe('expectations', () => {
  test.each<[unknown, unknown, unknown[]]>([
    [{ a: 1 }, { a: 1, b: 2 }, []],
    [{ a: { b: null } }, { a: { b: null } }, []],
    [{ a: 1 }, { a: '1' }, [{ path: 'a', expected: 1, actual: '1' }]],
    [{ a: [{ b: 1 }] }, { a: [{ b: 2, c: 3 }] }, [{ path: 'a[0].b', expected: 1, actual: 2 }]],
    [{ a: [1] }, { a: [1, 2] }, [{ path: 'a.length', expected: 1, actual: 2 }]],
    [{ a: [] }, { a: {} }, [{ path: 'a', expected: [], actual: {} }]],
    [{ a: 1, b: 2 }, null, [{ path: 'body', expected: { a: 1, b: 2 }, actual: null }]],
    [{ constructor: 1 }, {}, [{ path: 'constructor', expected: 1, actual: undefined }]],
  ])('%j compared with %j', (expected, actual, found) => {
    expect(mismatches(expected, actual)).toEqual(found)
  })
})
