import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'fast-string-width'
import { describe, expect, test } from 'vitest'
import {
  breakTo,
  cutTo,
  fitTo,
  padTo,
  renderTable,
  widthOf,
  wrapped,
  wrapTo,
  renderFields,
} from '../../../src/cli/render/layout.ts'
import { printable } from '../../../src/cli/render/text.ts'

describe('a table', () => {
  test('aligns its columns in any script', () => {
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

  test('that is wider than the terminal moves whole identifiers below their rows, and cuts long cells', () => {
    expect(drawn(Infinity)[1]).toBe(rows[0]?.join('  '))
    expect(drawn(200)).toHaveLength(2)
    expect(drawn(80)).toEqual([
      'STATUS     URL',
      'delivered  https://receiver.example.com/a/rather/long/path/of/webhooks',
      `  ${id}`,
    ])
    expect(drawn(40)[1]).toBe('delivered  https://receiver.example.com…')
  })

  test('joins the lines of a cell, and never cuts a date', () => {
    const rows = [['2026-11-21 18:04:05', 'one\n  two']]
    const [, line = ''] = renderTable(['at', 'note'], rows, '', 30).split('\n')
    expect(line).toBe('2026-11-21 18:04:05  one two')
    const narrow = stripVTControlCharacters(renderTable(['at', 'note'], rows, '', 20))
    expect(narrow).toBe('AT\n2026-11-21 18:04:05\n  note one two')
  })

  test('narrows columns before it moves one below its row, and cuts no identifier in the middle', () => {
    const rows = [
      ['a-check-with-a-rather-long-name', 'GET /v1/checks/chk_01K9YQ3S2M6W5VJ8T4R7N0ZBCD', '$12.00'],
    ]
    const drawn = (columns: number) =>
      stripVTControlCharacters(renderTable(['check', 'call', 'total'], rows, '', columns))
        .split('\n')
        .slice(1)
    expect(drawn(60)).toEqual(['a-check-with-a-rather-lo…  GET /v1/checks/…           $12.00'])
    expect(drawn(36)).toEqual(['a-check-with…  GET /v1/chec…  $12.00'])
    expect(drawn(30)).toEqual(['a-check-with-…  GET /v1/check…', '  total $12.00'])
  })

  test('moves its first column below when a cell is an identifier or a long name of its own', () => {
    const url = 'https://receiver.example.com/a/rather/long/path'
    const lines = (names: readonly string[], columns: number, hasKeys = false) =>
      stripVTControlCharacters(
        renderTable(
          ['name', 'url'],
          names.map((name) => [name, url]),
          '',
          columns,
          undefined,
          hasKeys,
        ),
      ).split('\n')
    expect(lines([id, '-'], 60)).toEqual(['URL', url, `  ${id}`, url, '  -'])
    expect(lines(['a-check-with-a-long-name'], 60, true)).toEqual(['URL', url, '  a-check-with-a-long-name'])
    expect(lines(['table-12'], 40, true)).toEqual([
      'NAME      URL',
      'table-12  https://receiver.example.com/…',
    ])
  })

  test('puts cells below their row beside each other where they fit, and leaves out empty ones', () => {
    const at = '2026-11-21 18:04:05'
    const rows = [
      [at, 'one', 'two', 'three'],
      [at, '', 'two', ''],
    ]
    expect(
      stripVTControlCharacters(renderTable(['at', 'note', 'type', 'by'], rows, '', 20)).split('\n'),
    ).toEqual(['AT', at, '  note one  type two', '  by three', at, '  type two'])
  })

  test('has no trailing blanks, and shows a message when it is empty', () => {
    expect(renderTable(['a', 'b'], [['1', '']], 'Nothing.')).toBe('A  B\n1')
    expect(renderTable(['a', 'b'], [], 'Nothing.')).toBe('Nothing.')
  })
})

describe('a text that is wider than the terminal', () => {
  const id = 'dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD'
  test.each([
    ['is wrapped below its beginning', 16, '✓ one two three four', '✓ one two three\n  four'],
    ['keeps identifiers whole', 34, `Resent check.created as ${id}`, `Resent check.created as\n  ${id}`],
    ['has a word that is wider alone on its line', 12, `to ${id} now`, `to\n${id}\n  now`],
    [
      'continues a command as shells do',
      40,
      `Next: tabwire deliveries resend ${id}`,
      `Next: tabwire deliveries resend \\\n  ${id}`,
    ],
    [
      'keeps the quotes of a command together',
      24,
      "  $ tabwire push --id 'a b c' x.json",
      "  $ tabwire push --id \\\n      'a b c' x.json",
    ],
    [
      'puts the comment of a command above it',
      24,
      '  tabwire report   # or any',
      '  # or any\n  tabwire report',
    ],
    [
      'puts the comment of a command above its prompt',
      24,
      '  $ tabwire report   # or any',
      '  # or any\n  $ tabwire report',
    ],
    [
      'stays as it is where it fits',
      80,
      `Next: tabwire deliveries resend ${id}`,
      `Next: tabwire deliveries resend ${id}`,
    ],
  ])('%s', (_what, columns, text, shown) => {
    // PowerShell continues a line after a backtick.
    const expected = process.platform === 'win32' ? shown.replace(/ \\$/m, ' `') : shown
    expect(fitTo(columns, text)).toBe(expected)
  })

  test('continues with a deeper indentation, and is broken within a word that is too long', () => {
    expect(breakTo(20, '  "name": "copper pan"')).toEqual(['  "name": "copper', '    pan"'])
    expect(breakTo(16, `  ${'x'.repeat(20)}`)).toEqual(['  xxxxxxxxxxxx', '    xxxxxxxx'])
  })

  test('in a field is wrapped in its column', () => {
    const fields = renderFields(
      [
        ['event', `check.created  ${id}`],
        ['url', 'https://a.test/hooks'],
      ],
      40,
    )
    expect(stripVTControlCharacters(fields)).toBe(
      `event  check.created\n       ${id}\nurl    https://a.test/hooks`,
    )
    expect(stripVTControlCharacters(renderFields([['identifier', id]], 32))).toBe(`identifier\n  ${id}`)
  })
})

test('fields stand below each other', () => {
  expect(
    renderFields([
      ['id', '1'],
      ['status', 'open'],
    ]),
  ).toBe('id      1\nstatus  open')
  expect(renderFields([['name', 'a\nb']])).toBe('name  a\u240ab')
})

describe('text from outside', () => {
  test.each([
    ['clears the screen', '\u001b[2Jx', '\u241b[2Jx'],
    ['sets the title', '\u001b]0;title\u0007x', '\u241b]0;title\u2407x'],
    ['goes back over what stands there', 'good\rbad\u0008', 'good\u240dbad\u2408'],
    ['is a C1 control', 'a\u009b2J', 'a<U+009B>2J'],
  ])('cannot control the terminal: one that %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is unchanged when it has no control characters', () => {
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
])('%j, cut to %i columns, is %j', (text, columns, shown) => {
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

test('lines are at least 40 columns wide, even on a narrower terminal', () => {
  expect(wrapped(text, '', 10)).toBe(wrapped(text, '', 40))
})

test('lines are at most 120 columns wide on a terminal, and a pipe gets one line', () => {
  const long = `${text} ${text}`
  expect(wrapped(long, '', 300)).toBe(wrapped(long, '', 120))
  expect(wrapped(long, '', Infinity)).toBe(long)
})
