import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ConformanceReport } from '../../src/conformance/report/result.ts'
import { emptyDirectory, serve, tabwire } from '../support/cli.ts'

describe('tabwire contract check', () => {
  test('checks a fresh service of our own, and leaves no progress in a pipe', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await tabwire(
      ['contract', 'check', '--json', '--junit', 'contract.xml'],
      {
        cwd,
      },
    )
    const { ok, suite, totals } = JSON.parse(stdout) as ConformanceReport
    expect({ code, stderr, ok, suite, failed: totals.failed }).toEqual({
      code: 0,
      stderr: '',
      ok: true,
      suite: 'contract check',
      failed: 0,
    })
    expect(await readFile(join(cwd, 'contract.xml'), 'utf8')).toContain('contract check: retries')
  })

  test('checks a service that runs elsewhere, and leaves nothing registered', async () => {
    const service = await serve()
    const args = [
      '--base-url',
      `${service.url}/v1`,
      '--api-key',
      service.key,
      '--only',
      'deliveries',
      '--tap',
    ]
    const { code, stdout } = await service.run(['contract', 'check', ...args])
    const endpoints = await service.json<{ data: unknown[] }>('endpoints', 'list')
    await service.stop()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^TAP version 14\n[^]*\nok 1 - deliveries\/ping: a ping arrives, signed\n/)
    expect(stdout).not.toContain('not ok')
    expect(endpoints.data).toEqual([])
  })

  test('ends with 3 when a rule is broken, here for want of a key', async () => {
    const service = await serve()
    const args = ['--base-url', `${service.url}/v1`, '--only', 'checks/accepted']
    const { code, stdout } = await service.run(['contract', 'check', ...args])
    await service.stop()
    expect(code).toBe(3)
    expect(stdout).toContain('A push was answered 401')
  })

  test.each([
    [['--base-url', 'http://127.0.0.1:1/v1'], 1, 'GET /locations was not answered'],
    [['--base-url', 'nowhere'], 2, 'nowhere is no http or https URL.'],
    [['--only', 'nothing'], 2, 'There is no case or group nothing.'],
  ])('%j ends with %i and says why', async (args, code, message) => {
    const ended = await tabwire(['contract', 'check', ...args])
    expect(ended.code).toBe(code)
    expect(ended.stderr).toContain(message)
  })
})
