import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Check } from '../../src/model/check.ts'
import type { LoggedRequest } from '../../src/model/simulator/request-entry.ts'
import { checkBody, fixtures, serve, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** Writes a check where the commands run, and returns the name of the file. */
async function file(name: string, content: unknown): Promise<string> {
  const text = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content)
  await writeFile(join(service.cwd, name), text)
  return name
}

const [burger, tart] = checkBody().items
const totals = { subtotal_cents: 2900, tax_cents: 254, total_cents: 3154 }

describe.concurrent('tabwire push', () => {
  test('prints created, unchanged, updated with the item diff, and stale', async () => {
    const first = await file('growing.json', checkBody({ revision: 1 }))
    const created = await service.run(['push', first])
    expect(created).toMatchObject({ code: 0, stderr: '' })
    expect(created.stdout).toBe(
      [
        'created  growing  table 12  open  2 items  total $40.02',
        '  + 2 × Copper Burger  $14.50  line-1',
        '  + 1 × Plum Tart       $7.80  line-2',
        '',
      ].join('\n'),
    )
    const unchanged = await service.run(['push', first])
    expect(unchanged.stdout).toMatch(
      /^unchanged {2}growing {2}.*\n {2}the check already has this state: .*no event\n$/,
    )
    const items = [
      { ...burger, quantity: 3, price_cents: 1500, note: 'rare' },
      { ...tart, external_id: 'line-3' },
    ]
    const updated = await service.run([
      'push',
      await file('next.json', checkBody({ revision: 3, items })),
      '--id',
      'growing',
    ])
    expect(updated.stdout).toContain(
      [
        'updated  growing  table 12  open  2 items  total $40.02',
        '  -     1 × Plum Tart                $7.80  line-2',
        '  +     1 × Plum Tart                $7.80  line-3',
        '  ~ 2 → 3 × Copper Burger  $14.50 → $15.00  line-1',
        '      note none → rare',
        '',
      ].join('\n'),
    )
    const stale = await service.run(['push', first])
    expect(stale.stdout).toMatch(/^stale {2}growing {2}.*\n {2}the service has a newer state: .*no event\n$/)
  })

  test('prints the findings of the linter', async () => {
    const { code, stdout } = await service.run([
      'push',
      await file('odd.json', checkBody({ totals, tipp: 1 })),
    ])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ {2}! totals_mismatch .+$/m)
    expect(stdout).toMatch(/^ {2}! unknown_field .*tipp.*$/m)
  })

  test('removes $schema, which is only for editors', async () => {
    const body = { $schema: './node_modules/tabwire/fixtures/check.schema.json', ...checkBody() }
    const { code } = await service.run(['push', await file('with-schema.json', body)])
    expect(code).toBe(0)
    const { data } = await service.json<{ data: LoggedRequest[] }>(
      'requests',
      'list',
      '--check',
      'with-schema',
    )
    expect(JSON.parse(data[0]?.request_body ?? '')).toEqual(checkBody())
  })

  test('--json prints the same check as GET', async () => {
    const pushed = await service.json<Check>('push', join(fixtures, 'checks', 'two-top.json'))
    const got = await service.call('GET', '/v1/checks/external/two-top')
    expect(pushed).toEqual(await got.json())
  })

  test('prints the result when the currencies of the locations cannot be read', async () => {
    const faulty = await serve()
    await faulty.json('faults', 'set', 'reset', '--path', 'GET /v1/locations')
    const { code, stdout, stderr } = await faulty.run(['push', '--sample', 'two-top'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^created {2}two-top {2}table 12 {2}open {2}4 items {2}total 67\.50\n/)
    await faulty.stop()
  })

  test('exits with 2 for a check from standard input without --id', async () => {
    const input = JSON.stringify(checkBody())
    const nameless = await service.run(['push', '-', '--json'], { input })
    expect(nameless).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(nameless.stdout)).toEqual({
      error: { code: 'usage', message: '--id is missing. A check from standard input has no file name.' },
    })
    const named = await service.run(['push', '-', '--id', 'from stdin/1', '--repeat', '2'], { input })
    expect(named.stdout).toMatch(/^created {2}from stdin\/1 [^]*^unchanged {2}from stdin\/1 /m)
  })

  test('an unreadable file is reported in one line', async () => {
    expect(await service.run(['push', 'nowhere.json'])).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'Error: Cannot read nowhere.json: no such file.\n',
    })
  })

  test('the name of a sample in place of a file is reported with its flag', async () => {
    expect((await service.run(['push', 'two-top'])).stderr).toBe(
      'Error: Cannot read two-top: no such file. For the built-in sample, pass --sample two-top.\n',
    )
  })

  test('invalid JSON is reported with its position, and bytes that are not UTF-8 are not converted', async () => {
    const broken = await service.run(['push', await file('broken.json', '{"table":')])
    expect(broken).toMatchObject({ code: 1, stdout: '' })
    expect(broken.stderr).toMatch(
      /^Error: 400 invalid_json: The body is not valid JSON: [^\n]+\n {2}X-Request-Id: req_\w{26}\n$/,
    )
    const comma = await file('comma.json', '{"table":{"number":"1"},\n "items":[],\n}')
    const atComma = await service.run(['push', comma, '--json'])
    expect(JSON.parse(atComma.stdout)).toMatchObject({
      error: {
        message: expect.stringContaining(
          ` at line 3, column 1 of ${comma}. Remove the comma before }.`,
        ) as string,
      },
    })
    const latin = Buffer.from(JSON.stringify(checkBody({ table: { number: 'Café' } })), 'latin1')
    const { code, stdout } = await service.run(['push', await file('latin.json', latin), '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_json' } })
  })

  test('all problems of a check are reported at once, each with its path', async () => {
    const items = [burger, { external_id: 'line-1', quantity: 0, price_cents: 1.5 }]
    const wrong = await file('wrong.json', checkBody({ status: 'paid', items }))
    const { code, stdout, stderr } = await service.run(['push', wrong])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const paths = stderr.split('\n').map((line) => /^ {2}(\S+) \w/.exec(line)?.[1] ?? line.trim())
    expect(paths.slice(0, -2)).toEqual([
      'Error: 422 validation_failed: the body is not valid.',
      'status',
      'items[1].name',
      'items[1].quantity',
      'items[1].price_cents',
      'items[1].external_id',
    ])
    const asJson = await service.run(['push', wrong, '--json'])
    const { error } = JSON.parse(asJson.stdout) as { error: { issues: unknown[] } }
    expect(error).toMatchObject({
      code: 'validation_failed',
      request_id: expect.stringMatching(/^req_/) as string,
    })
    expect(error.issues).toHaveLength(5)
  })
})
