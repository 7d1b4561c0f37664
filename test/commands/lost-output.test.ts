import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { spawnProcess } from '../support/cli.ts'

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url))

/** Runs `tabwire WORDS` in a shell, with what follows. */
async function shell(words: string, rest: string) {
  const { ended } = await spawnProcess('sh', ['-c', `"$0" "$1" ${words} ${rest}`, process.execPath, bin], {})
  return ended
}

const commands = ['checks samples', '--help', 'help webhooks', 'openapi']

describe.runIf(existsSync('/dev/full')).concurrent.each(commands)('tabwire %s', (words) => {
  test('exits with 1 and one line when the disk is full', async () => {
    const { code, stderr } = await shell(words, '>/dev/full')
    expect(code).toBe(1)
    expect(stderr.replace(/^Next: .*\n/, '')).toMatch(/^Error: Cannot write the output: ENOSPC: .+\.\n$/)
  })

  test('prints no error when its reader has closed the pipe', async () => {
    const { stderr } = await shell(words, '| head -c 1 >/dev/null')
    expect(stderr.replace(/^Next: .*\n/, '')).toBe('')
  })
})
