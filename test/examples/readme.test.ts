import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { spawnProcess } from '../support/cli.ts'

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

// The other examples are tests of this suite.
describe("the README's examples", () => {
  test.each([
    ['vitest.test.ts', 'ts'],
    ['node-test.mjs', 'js'],
    ['msw.test.ts', 'ts'],
  ])('%s stands there as it is run', async (file, language) => {
    const [readme, example] = await Promise.all(
      ['../../README.md', file].map((path) => readFile(here(path), 'utf8')),
    )
    expect(readme).toContain(`\n\`\`\`${language}\n${example}\`\`\`\n`)
  })

  test('that of node:test passes', async () => {
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
