import { expect, test } from 'vitest'
import { cutTo, padTo, widthOf, wrapTo } from '../../../src/cli/render/width.ts'

test.each([
  ['Burger', 6, 'Burger'],
  ['Burger', 5, 'Burg…'],
  ['刺身盛り', 8, '刺身盛り'],
  ['刺身盛り', 6, '刺身…'],
  ['🍣🍣🍣', 5, '🍣🍣…'],
  ['👨‍👩‍👧 family', 4, '👨‍👩‍👧 …'],
  ['\u001b[31mred\u001b[39m', 3, '\u001b[31mred\u001b[39m'],
  ['\u001b[31mreddish\u001b[39m', 3, '\u001b[31mre…\u001b[39m'],
])('%j in %i columns is %j', (text, columns, shown) => {
  expect(cutTo(columns, text)).toBe(shown)
  expect(widthOf(cutTo(columns, text))).toBeLessThanOrEqual(columns)
})

test('blanks fill up what a terminal shows, not what JavaScript counts', () => {
  expect([padTo(6, '寿司'), padTo(2, 'abc')]).toEqual(['寿司  ', 'abc'])
})

test('lines break between words, and a long word stays whole', () => {
  expect(wrapTo(9, 'one two three extraordinary 4')).toEqual(['one two', 'three', 'extraordinary', '4'])
})
