import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const folder = new URL('../../src/signature/', import.meta.url)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))

describe.each(files)('$name', ({ text }) => {
  test('imports node:crypto and relative paths, and nothing else', () => {
    const imported = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, path]) => path)
    expect(imported.filter((path) => path !== 'node:crypto' && !/^\.[\w./-]+\.ts$/.test(path ?? ''))).toEqual(
      [],
    )
  })

  test('compares no signature with == or ===, whose duration depends on the content', () => {
    expect(text).not.toMatch(/\b(?:v1|hex|signature|candidate|given|wanted)\b\s*[!=]==?/i)
  })
})

test('signatures are compared in constant time', () => {
  expect(files.filter(({ text }) => text.includes('timingSafeEqual(')).map(({ name }) => name)).toEqual([
    'verify.ts',
  ])
})
