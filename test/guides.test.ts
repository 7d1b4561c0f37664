import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './support/packed.ts'

const read = (path: string) => readFile(join(root, path), 'utf8')

describe('the security guide', () => {
  test('names an existing test for each boundary', async () => {
    const [, ...rows] = [...(await read('src/guides/security.md')).matchAll(/^\|(.*)\|$/gm)].map(
      ([, row = '']) => row.split('|').map((cell) => cell.trim()),
    )
    const boundaries = rows.filter(([first = '']) => !first.startsWith('-'))
    expect(boundaries.length).toBeGreaterThan(15)
    for (const cells of boundaries) {
      expect(cells).toHaveLength(4)
      for (const cell of cells) expect(cell).not.toBe('')
      const [, path = ''] = /^`(test\/[\w/.-]+\.test\.ts)`$/.exec(cells[3] ?? '') ?? []
      expect([path, existsSync(join(root, path))]).toEqual([path, true])
    }
  })

  test('names only existing variables and flags', async () => {
    const manifest = await read('oclif.manifest.json')
    const text = await read('src/guides/security.md')
    for (const [name] of text.matchAll(/TABWIRE_[A-Z_]+(?=[^=A-Z_])/g))
      expect(manifest).toContain(`"${name}"`)
    for (const [, flag] of text.matchAll(/`--([a-z-]+)/g))
      if (flag !== 'build-arg') expect(manifest).toContain(`"name":"${flag}"`)
  })
})
