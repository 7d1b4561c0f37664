import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { blocksOf } from '../documented/blocks.ts'
import { spawnProcess } from '../support/cli.ts'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const programs = readdirSync(here('.')).filter((name) => /\.mjs$|\.test\.ts$/.test(name))

/** The document that each example is in; README has the shortest one. */
const documentOf = (file: string) => (file === 'first.test.ts' ? 'README.md' : 'src/guides/testing.md')

// The other examples are tests of this suite.
describe('examples in the documents', () => {
  test.each(programs.filter((name) => name !== 'examples.test.ts'))(
    '%s is printed exactly as it runs',
    async (file) => {
      const printed = blocksOf(documentOf(file)).map(({ text }) => text)
      expect(printed).toContain(await readFile(here(file), 'utf8'))
    },
  )

  test('the one of the README has at most fifteen lines', async () => {
    expect((await readFile(here('first.test.ts'), 'utf8')).trimEnd().split('\n').length).toBeLessThanOrEqual(
      15,
    )
  })

  test('the one for node:test passes', async () => {
    const { ended } = await spawnProcess(
      process.execPath,
      ['--test', '--test-reporter=tap', here('node-test.mjs')],
      {},
    )
    const { code, stdout } = await ended
    expect(stdout).toMatch(/^# pass 1$/m)
    expect(code).toBe(0)
  })
})
