import { describe, expect, test } from 'vitest'
import { bodyStart, renderBody, renderHeaded } from '../../../src/cli/render/attempt.ts'

describe('a body', () => {
  test('is shown line by line, with control characters made visible', () => {
    expect(renderBody('one\r\n\u001b[2Jtwo\n')).toBe('\n    │ one\n    │ \u241b[2Jtwo')
    expect(renderBody('')).toBe('')
    expect(renderBody('\n\ta')).toBe('\n    │ \n    │   a')
  })

  test('is cut after 20 lines and 400 characters per line, and never within a character', () => {
    const long = renderBody(Array.from({ length: 30 }, (_, n) => `line ${n}`).join('\n'))
    expect(long.split('\n')).toHaveLength(22)
    expect(long).toMatch(/│ line 19\n {4}│ \(10 more lines\)$/)
    expect(renderBody('🍣'.repeat(500))).toBe(`\n    │ ${'🍣'.repeat(400)}…`)
    expect(renderBody('🍣'.repeat(400))).toBe(`\n    │ ${'🍣'.repeat(400)}`)
  })

  test('of JSON is indented below its heading, other text is unchanged, and a missing body is shown as none', () => {
    expect(renderHeaded('event', '{"a":[1]}')).toBe(
      '\n    event:\n    │ {\n    │   "a": [\n    │     1\n    │   ]\n    │ }',
    )
    expect(renderHeaded('answered', 'oops')).toBe('\n    answered:\n    │ oops')
    for (const body of [null, '']) expect(renderHeaded('answered', body)).toBe('\n    answered: none')
  })

  test('on one line has its first 200 characters, and no half of one', () => {
    expect(bodyStart('  one\r\n\ttwo \n')).toBe('one two')
    expect(bodyStart('🍣'.repeat(200))).toBe('🍣'.repeat(200))
    expect(bodyStart(`a${'🍣'.repeat(200)}`)).toBe(`a${'🍣'.repeat(199)}…`)
  })

  test('on one line is the text of a page', () => {
    expect(bodyStart('<!DOCTYPE html><style>h1 { color: red }</style><h1>Forbidden</h1>')).toBe('Forbidden')
    expect(bodyStart('<!DOCTYPE html><style>h1')).toBe('<!DOCTYPE html><style>h1')
  })
})
