import { describe, expect, test } from 'vitest'
import { renderBody, renderHeaded } from '../../../src/cli/render/attempt.ts'

describe('a body', () => {
  test('is shown line by line, with control characters made visible', () => {
    expect(renderBody('one\r\n\u001b[2Jtwo\n')).toBe('\n    │ one\n    │ \u241b[2Jtwo')
    expect(renderBody('')).toBe('')
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
    expect(renderHeaded('answered', null)).toBe('\n    answered: none')
  })
})
