import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Report } from '../../src/model/simulator/report.ts'
import { checkBody, emptyDirectory, serve, tabwire, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return () => service.stop().then(() => undefined)
})

interface Listed {
  data: { name: string; purpose: string; pushes: number; items: number; total_cents: number }[]
}

describe('tabwire checks samples', () => {
  test('lists the samples without a service, simple ones first', async () => {
    const { code, stdout } = await tabwire(['checks', 'samples'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^NAME +PUSHES +ITEMS +TOTAL +PURPOSE\ntwo-top +1 +4 +\S*67\.50 +Two guests/)
  })

  test('prints a sample as JSON that can be pushed, and a sample of several pushes as an array', async () => {
    const one = await tabwire(['checks', 'samples', 'two-top'])
    expect(JSON.parse(one.stdout)).toMatchObject({ table: { number: '12' }, status: 'open' })
    const { code } = await service.run(['push', '-', '--id', 'piped'], { input: one.stdout })
    expect(code).toBe(0)
    const several = await tabwire(['checks', 'samples', 'close'])
    expect(JSON.parse(several.stdout)).toMatchObject([{ status: 'open' }, { status: 'closed' }])
  })
})

describe('tabwire push --sample', () => {
  test('pushes each sample as it is listed; only the one whose totals do not add up has a finding', async () => {
    const { stdout } = await tabwire(['checks', 'samples', '--json'])
    const { data } = JSON.parse(stdout) as Listed
    expect(data.length).toBeGreaterThan(15)
    const own = await serve()
    for (const { name, pushes, items, total_cents } of data) {
      const ended = await own.run(['push', '--sample', name, '--json'])
      const checks = ended.stdout.trim().split(/\n(?=\{)/)
      expect([name, ended.code, checks.length]).toEqual([name, 0, pushes])
      const last = JSON.parse(checks.at(-1) ?? '') as { items: unknown[]; totals: { total_cents: number } }
      expect([last.items.length, last.totals.total_cents]).toEqual([items, total_cents])
    }
    const { findings } = JSON.parse((await own.run(['report', '--json'])).stdout) as Report
    const path = '/v1/checks/external/service-charge-outside-lines'
    expect(findings).toMatchObject([{ code: 'totals_mismatch', count: 1, requests: [{ path }] }])
    await own.stop()
  })

  test('takes another id with --id, and cannot be combined with files', async () => {
    const { stdout } = await service.run(['push', '--sample', 'two-top', '--id', 'table-99'])
    expect(stdout).toMatch(/^created {2}table-99 /)
    const both = await service.run(['push', 'check.json', '--sample', 'two-top'])
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Pass one of: files, --sample') as string,
    })
  })

  test('--permute needs no service, and leaves no trial checks in a running one', async () => {
    const alone = await tabwire(['push', '--sample', 'bar-tab', '--permute', '4'])
    expect(alone).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ bar-tab {2}6 pushes/) as string,
    })
    const before = await service.json('checks', 'list')
    await service.run(['push', '--sample', 'bar-tab', '--permute', '4'])
    expect(await service.json('checks', 'list')).toEqual(before)
  })
})

describe('a pattern instead of files', () => {
  test('selects the matching files in order of their names', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'tab'))
    for (const number of ['2', '1', '10'])
      await writeFile(join(cwd, 'tab', `${number}.json`), JSON.stringify(checkBody({ table: { number } })))
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
    const { code, stdout } = await tabwire(['push', 'tab/*.json', '--id', 'globbed'], { cwd, env })
    expect(code).toBe(0)
    expect([...stdout.matchAll(/^\w+ {2}globbed {2}table (\d+)/gm)].map(([, table]) => table)).toEqual([
      '1',
      '10',
      '2',
    ])
    const none = await tabwire(['push', 'tab/*.yaml'], { cwd, env })
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No file matches tab/*.yaml.') as string,
    })
  })

  test('is read as a file when a file has that name', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, '[1].json'), JSON.stringify(checkBody()))
    const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
    const { stdout } = await tabwire(['push', '[1].json'], { cwd, env })
    expect(stdout).toMatch(/^created {2}\[1\] /)
  })
})
