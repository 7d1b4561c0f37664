import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sign } from '../../src/signature/sign.ts'
import { bin, emptyDirectory, spawnProcess } from '../support/cli.ts'

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
})

describe.skipIf(process.platform === 'win32').concurrent.each(commands)('tabwire %s', (words) => {
  test('prints no error when its output has no reader', async () => {
    const { stderr } = await shell(words, '| true')
    expect(stderr.replace(/^Next: .*\n/, '')).toBe('')
  })
})

describe.skipIf(process.platform === 'win32').concurrent('a failed command', () => {
  /** Runs `tabwire WORDS` whose output, and what `also` adds to it, has no reader. Returns its exit code. */
  async function codeWithoutReader(words: string, also = ''): Promise<string> {
    const script = `exec 3>&1; { "$0" "$1" ${words} ${also}; echo $? >&3; } | true`
    const { ended } = await spawnProcess('sh', ['-c', script, process.execPath, bin], {})
    return (await ended).stdout.trim()
  }
  const wrong = `--secret whsec_x --header 't=1,v1=00' --tolerance 0`

  test('keeps its exit code when its errors have no reader', async () => {
    expect(await codeWithoutReader('push no-file.json', '2>&1 >/dev/null')).toBe('2')
  })

  test('keeps its exit code when its results have no reader', async () => {
    expect(await codeWithoutReader(`verify ${wrong}`, '</dev/null')).toBe('3')
  })

  test('has the exit code of all results, also of those behind the last one that was read', async () => {
    const right = JSON.stringify({ header: sign({ payload: '{}', secret: 'whsec_x' }), body: '{}' })
    const lines = [...Array.from({ length: 2_000 }, () => right), right.replace('v1=', 'v1=00')]
    const directory = await emptyDirectory()
    const file = join(directory, 'many.ndjson')
    await writeFile(file, lines.join('\n'))
    expect(await codeWithoutReader(`verify --secret whsec_x --many '${file}'`)).toBe('3')
  })
})
