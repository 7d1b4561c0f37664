import { describe, expect, test } from 'vitest'
import { placeOfError, plainText, shortened } from '../../../src/model/text/advice.ts'

describe('the place where a text stops being JSON', () => {
  const text = '{"a":[true,null,-1.5e+10],\n "b":"x\\u00e9\\n\\"q",\n "c":{}}'

  test('is none in JSON', () => expect(placeOfError(text)).toBeUndefined())

  test('is the end of a text that was cut anywhere', () => {
    for (let end = 0; end < text.length; end += 1) {
      const lines = text.slice(0, end).split('\n')
      expect(placeOfError(text.slice(0, end))).toEqual({
        index: end,
        line: lines.length,
        column: (lines.at(-1) ?? '').length + 1,
      })
    }
  })

  test.each([
    ['a comma before the end', '{"a":1,\n}', 2, 1],
    ['a missing comma', '[1\n 2]', 2, 2],
    ['a name without quotes', '{\n  a:1}', 2, 3],
    ['a text in single quotes', "{'a':1}", 1, 2],
    ['a value without quotes', '{"status": open}', 1, 12],
    ['a number that is none', '{"a": NaN}', 1, 7],
    ['a line break in a text', '{"a":"x\ny"}', 1, 8],
    ['an unknown escape', '{"a":"\\x"}', 1, 8],
    ['a brace too many', '{"a":1}}', 1, 8],
    ['a comment', '// c\n{}', 1, 1],
  ])('is that of %s', (_what, wrong, line, column) => {
    expect(placeOfError(wrong)).toMatchObject({ line, column })
  })

  test.each([0, 1, 100, 100_000])('is found behind %i elements', (count) => {
    const start = `[\n${'1,'.repeat(count)}`
    expect(placeOfError(`${start}NaN]`)).toMatchObject({ line: 2, column: 2 * count + 1 })
  })

  test('is unknown late in a long text, if V8 does not tell it', () => {
    expect(placeOfError(`[${'1,'.repeat(600_000)}NaN]`)).toBeUndefined()
  })
})

test('a shortened text ends between characters', () => {
  expect(shortened('a🍣b', 4)).toBe('a🍣b')
  expect(shortened('a🍣b', 3)).toBe('a🍣…')
  expect(shortened('a🍣b', 2)).toBe('a…')
})

test.each([
  ['{"error":\n "no" }\u001b[0m', '{"error": "no" } [0m'],
  ['a < b and c > d', 'a < b and c > d'],
  [
    '<html><head><style>a{}</style><title>T</title></head><h1>It&#39;s &#x27;&lt;b&gt;&#039;&unknown;</h1></html>',
    "T It's '<b>'&unknown;",
  ],
  ['<!DOCTYPE html>\n<!-- x --><p>one<br>two<script>if (a < b) {}</script></p>', 'one two'],
  ['<html><style>p { never ended', ''],
  ['  \n', ''],
])('the text of the response %j is %j', (body, text) => {
  expect(plainText(body)).toBe(text)
})

test('the text of a long page is found in time', () => {
  expect(plainText(`<html>${'<style'.repeat(20_000)}`)).toBe('')
})
