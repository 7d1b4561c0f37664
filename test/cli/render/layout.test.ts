import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { cutTo, padTo, renderTable, widthOf, wrapped, wrapTo } from '../../../src/cli/render/layout.ts'
import { printable, renderFields } from '../../../src/cli/render/text.ts'

describe('a table', () => {
  test('aligns its columns whatever script they are in', () => {
    const names = ['Burger', '刺身盛り合わせ', 'مشاوي مشكلة', '🍔 Smash', 'Jalapen\u0303o']
    const lines = renderTable(
      ['name', 'each'],
      names.map((name) => [name, '14.50']),
      '',
    ).split('\n')
    expect(lines.map((line) => stringWidth(line.replace(/(EACH|14\.50)$/, '')))).toEqual(Array(6).fill(16))
  })

  const id = 'dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'
  const rows = [[id, 'delivered', 'https://receiver.example.com/a/rather/long/path/of/webhooks']]
  const drawn = (columns: number) =>
    stripVTControlCharacters(renderTable(['delivery', 'status', 'url'], rows, '', columns)).split('\n')

  test('that is wider than the terminal has its identifiers below its rows, whole, and cuts what is long', () => {
    expect(drawn(Infinity)[1]).toBe(rows[0]?.join('  '))
    expect(drawn(200)).toHaveLength(2)
    expect(drawn(80)).toEqual([
      'STATUS     URL',
      'delivered  https://receiver.example.com/a/rather/long/path/of/webhooks',
      `  ${id}`,
    ])
    expect(drawn(40)[1]).toBe('delivered  https://receiver.example.com…')
  })

  test('shows a note of several lines as one cell, and never cuts a date', () => {
    const [, line = ''] = renderTable(['at', 'note'], [['2026-11-21 18:04:05', 'one\n  two']], '', 10).split(
      '\n',
    )
    expect(line).toBe('2026-11-21 18:04:05  one two')
  })

  test('ends no line in blanks, and says so when it is empty', () => {
    expect(renderTable(['a', 'b'], [['1', '']], 'Nothing.')).toBe('A  B\n1')
    expect(renderTable(['a', 'b'], [], 'Nothing.')).toBe('Nothing.')
  })
})

test('fields stand below each other', () => {
  expect(
    renderFields([
      ['id', '1'],
      ['status', 'open'],
    ]),
  ).toBe('id      1\nstatus  open')
})

describe('text of others', () => {
  test.each([
    ['clears the screen', '\u001b[2Jx', '\u241b[2Jx'],
    ['sets the title', '\u001b]0;title\u0007x', '\u241b]0;title\u2407x'],
    ['goes back over what stands there', 'good\rbad\u0008', 'good\u240dbad\u2408'],
    ['is a C1 control', 'a\u009b2J', 'a<U+009B>2J'],
  ])('cannot steer the terminal: one that %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is otherwise left as it is', () => {
    expect(printable('Jalapeño 🌶 日本')).toBe('Jalapeño 🌶 日本')
  })
})

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

test('padding counts terminal columns, not JavaScript characters', () => {
  expect([padTo(6, '寿司'), padTo(2, 'abc')]).toEqual(['寿司  ', 'abc'])
})

test('lines break between words, and a long word stays whole', () => {
  expect(wrapTo(9, 'one two three extraordinary 4')).toEqual(['one two', 'three', 'extraordinary', '4'])
})

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
