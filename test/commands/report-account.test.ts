import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Parser } from 'tap-parser'
import { beforeAll, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { readFileSync } from 'node:fs'
import type { Account } from '../../src/client.ts'
import { accountCodes, findingCodes, type Report } from '../../src/model/simulator/report.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'

const PUSH = '/v1/checks/external/table-12'
/** Number of cases in a report with an account. */
const all = findingCodes.length + accountCodes.length
const xsd = readFileSync(new URL('../conformance/junit.xsd', import.meta.url), 'utf8')

let unpaid: RunningService
/** Its check is fully paid, and open. */
let service: RunningService
beforeAll(async () => {
  ;[unpaid, service] = await Promise.all([serve(), serve()])
  await Promise.all([unpaid.call('PUT', PUSH, checkBody()), service.call('PUT', PUSH, checkBody())])
  await service.call('POST', '/_sim/checks/table-12/payments', { tip_cents: 200 })
  return () => Promise.all([unpaid.stop(), service.stop()])
})

describe('tabwire report --account', () => {
  test('exits with 0 while nothing is paid, and --all-closed requires closed checks', async () => {
    const { code, stdout } = await unpaid.run(['report', '--account'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ No problems found in 1 push\.\n\n✓ The account adds up\.\n\nACCOUNT +PUSHED /)
    const closed = await unpaid.run(['report', '--all-closed'])
    expect(closed.code).toBe(3)
    expect(closed.stdout).toContain('✗ check_left_open  table-12\n  Check table-12 is still open, but ')
  })

  test('exits with 3 for a paid check that is open, and prints its event and the amounts', async () => {
    const { code, stdout, stderr } = await service.run(['report', '--account'])
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatch(
      /✗ check_left_open {2}table-12\n {2}Check table-12 was fully paid .*\n {4}evt_\w+\n/,
    )
    expect(stdout).toMatch(/\ntable-12 +\$\d+\.\d\d .* check_left_open\nall 1 check +\$\d/)
  })

  test.each([
    [['--fail-on', 'none', '--account'], 0],
    [['--fail-on', 'overpaid', '--account'], 0],
    [['--fail-on', 'check_left_open'], 3],
    [[], 0],
  ])('%j exits with %i', async (args, code) => {
    expect((await service.run(['report', ...args])).code).toBe(code)
  })

  test('--json prints the account beside the findings', async () => {
    const { code, stdout } = await service.run(['report', '--account', '--json'])
    const { findings, account } = JSON.parse(stdout) as Report & { account: Account }
    expect({ code, findings }).toEqual({ code: 3, findings: [] })
    expect(account).toMatchObject({
      currency: 'USD',
      sums: { tipped_cents: 200, owed_cents: 0 },
      problems: [{ code: 'check_left_open', external_check_id: 'table-12' }],
    })
  })

  test('--junit writes a valid file with a failure, and --fail-on without that code exits with 0', async () => {
    const { code, stdout } = await service.run(['report', '--account', '--junit', 'report.xml'])
    expect(code).toBe(3)
    expect(stdout).toContain('✗ check_left_open')
    const xml = await readFile(join(service.cwd, 'report.xml'), 'utf8')
    const { errors } = await validateXML({
      xml: { fileName: 'report.xml', contents: xml },
      schema: { fileName: 'junit.xsd', contents: xsd },
    })
    expect(errors).toEqual([])
    expect(xml).toContain(`<testsuites tests="${all}" failures="1" errors="0" skipped="0">`)
    expect(xml).toContain('<failure message="Check table-12 was fully paid and is still open.')
    await service.run(['report', '--account', '--fail-on', 'overpaid', '--junit', 'report.xml'])
    expect(await readFile(join(service.cwd, 'report.xml'), 'utf8')).toContain('failures="0"')
  })

  test('--tap prints a line for each finding and problem', async () => {
    const { code, stdout } = await service.run(['report', '--account', '--tap'])
    expect(code).toBe(3)
    const results = Parser.parse(stdout, { strict: true }) as [string, { count?: number; fail?: number }][]
    expect(results.find(([name]) => name === 'complete')?.[1]).toMatchObject({ count: all, fail: 1 })
    expect(stdout).toContain(`not ok ${all} - account/check_left_open: paid checks are closed at the end\n`)
    expect((await service.run(['report', '--tap'])).stdout).toContain(`\n1..${findingCodes.length}\n`)
  })
})
