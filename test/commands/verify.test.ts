import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { secret, vectors } from '../signature/vectors.ts'
import { emptyDirectory, tabwire, type RunOptions } from '../support/cli.ts'

// OpenSSL made it: see vectors.ts.
const [{ t, payload, v1 }] = vectors
const header = `t=${t},v1=${v1}`

let cwd: string
beforeAll(async () => {
  cwd = await emptyDirectory()
  await writeFile(join(cwd, 'body.json'), payload)
})

/** Verifies what OpenSSL signed, at the time at which it did, with whatever is to be different. */
const verify = (args: readonly string[], options: RunOptions = {}) => {
  const given = { '--secret': secret, '--header': header, '--now': String(t) }
  const defaults = Object.entries(given).filter(
    ([flag]) => !args.includes(flag) && !(options.env && flag === '--secret'),
  )
  return tabwire(['verify', ...defaults.flat(), ...args], { cwd, ...options })
}

describe.concurrent('tabwire verify', () => {
  test('takes what OpenSSL signed, from a file or standard input, and leaves no file', async () => {
    const ended = {
      code: 0,
      signal: null,
      stdout: '✓ The signature is right; it was made 0 s ago.\n',
      stderr: '',
    }
    expect(await verify(['--body', 'body.json'])).toEqual(ended)
    expect(await verify([], { input: payload })).toEqual(ended)
    expect(await readdir(cwd)).toEqual(['body.json'])
  })

  test('names a newline too many, with 3', async () => {
    const { code, stdout, stderr } = await verify(['--body', '-'], { input: `${payload}\n` })
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatch(/^✗ signature_mismatch: .*\n {2}trailing_newline: .*echo.*\n$/)
    expect(stdout).not.toContain(secret)
  })

  test('names a body that was parsed and written again, and a secret without its prefix, with --json', async () => {
    const pretty = await verify(['--json'], { input: JSON.stringify(JSON.parse(payload), null, 2) })
    expect(pretty.code).toBe(3)
    expect(JSON.parse(pretty.stdout)).toMatchObject({
      ok: false,
      code: 'signature_mismatch',
      mistake: 'json_reserialised',
    })
    const bare = secret.replace('whsec_', '')
    const other = await verify(['--json', '--secret', bare], { input: payload })
    expect(JSON.parse(other.stdout)).toMatchObject({ mistake: 'secret_without_prefix' })
    expect(other.stdout).not.toContain(bare)
  })

  test('the tolerance is 300 s by default, can be 0, and holds both ways', async () => {
    const at = async (seconds: number, ...more: string[]) =>
      (await verify(['--now', String(t + seconds), ...more], { input: payload })).code
    const zero = ['--tolerance', '0']
    expect(await Promise.all([at(300), at(301), at(-301), at(0, ...zero), at(1, ...zero)])).toEqual([
      0, 3, 3, 0, 3,
    ])
  })

  test('--now takes an ISO time, and is now by default', async () => {
    const iso = new Date((t + 61) * 1000).toISOString()
    expect((await verify(['--now', iso], { input: payload })).stdout).toContain('it was made 61 s ago')
    const late = await tabwire(['verify', '--secret', secret, '--header', header, '--json'], {
      input: payload,
    })
    expect(JSON.parse(late.stdout)).toMatchObject({ code: 'timestamp_too_old' })
    const never = await verify(['--now', 'yesterday'], { input: payload })
    expect(never.code).toBe(2)
    expect(never.stderr).toContain('--now: yesterday is neither unix seconds nor an ISO 8601 time.')
  })

  test('the secret can come from TABWIRE_SECRET, and is never printed', async () => {
    const right = await verify([], { input: payload, env: { TABWIRE_SECRET: secret } })
    expect(right).toMatchObject({ code: 0, stderr: '' })
    const padded = await verify([], { input: payload, env: { TABWIRE_SECRET: ` ${secret}` } })
    expect(padded.code).toBe(3)
    expect(padded.stdout).toContain('secret_padded')
    expect(padded.stdout + padded.stderr).not.toContain(secret)
  })

  test('without a secret, or a header, or with an empty secret, it is wrong usage', async () => {
    const none = await tabwire(['verify', '--header', header], { input: payload })
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'Error: Missing required flag --secret\nSee more help with --help\n',
    })
    const both = await tabwire(['verify', '--json'], { input: payload })
    expect(JSON.parse(both.stdout)).toMatchObject({
      error: { code: 'usage', message: expect.stringContaining('--header') as string },
    })
    const empty = await verify(['--secret', ''], { input: payload })
    expect(empty).toMatchObject({ code: 2, stdout: '' })
  })

  test('a header that cannot be read is a failed check, and cannot steer the terminal', async () => {
    const { code, stdout } = await verify(['--header', 't=1\u001b[2J'], { input: payload })
    expect(code).toBe(3)
    expect(stdout).toMatch(/^✗ malformed_header: /)
    expect(stdout).not.toContain('\u001b')
  })
})
