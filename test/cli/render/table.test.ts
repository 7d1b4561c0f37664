import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { renderTable } from '../../../src/cli/render/table.ts'
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
    ['clears the screen', '\u001b[2Jx', '\ufffd[2Jx'],
    ['sets the title', '\u001b]0;title\u0007x', '\ufffd]0;title\ufffdx'],
    ['goes back over what stands there', 'good\rbad\u0008', 'good\ufffdbad\ufffd'],
    ['is a C1 control', 'a\u009b2J', 'a\ufffd2J'],
  ])('cannot steer the terminal: one that %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is otherwise left as it is', () => {
    expect(printable('Jalapeño 🌶 日本\u001b[31m')).toBe('Jalapeño 🌶 日本\u001b[31m')
  })
})
