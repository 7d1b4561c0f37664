import { expect, test } from 'vitest'
import { wrapped } from '../../../src/cli/render/wrap.ts'

const text = 'Names in many scripts, 明子 and مريم among them, are verified as bytes and never as text.'

test('lines fit the terminal, at words, and are indented alike', () => {
  expect(wrapped(text, '  ', 50).split('\n')).toEqual([
    '  Names in many scripts, 明子 and مريم among them,',
    '  are verified as bytes and never as text.',
  ])
})

test('a terminal that is too narrow for that is not served one word a line', () => {
  expect(wrapped(text, '', 10)).toBe(wrapped(text, '', 40))
})

test('a wide terminal has lines that can still be read, and a pipe has one', () => {
  const long = `${text} ${text}`
  expect(wrapped(long, '', 300)).toBe(wrapped(long, '', 120))
  expect(wrapped(long, '', Infinity)).toBe(long)
})
