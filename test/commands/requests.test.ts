import { beforeAll, describe, expect, test } from 'vitest'
import { checkBody, serve, type RunningService } from '../support/cli.ts'

let service: RunningService
/** `X-Request-Id` of a right push, of one with a finding, and of a refused one. */
let ids: { right: string; found: string; refused: string }
beforeAll(async () => {
  service = await serve()
  const push = async (id: string, body: unknown) =>
    (await service.call('PUT', `/v1/checks/external/${id}`, body)).headers.get('x-request-id') ?? ''
  ids = {
    right: await push('table-12', checkBody()),
    found: await push('table-13', checkBody({ totals: { subtotal_cents: 1, tax_cents: 0, total_cents: 1 } })),
    refused: await push('table-12', { table: 12 }),
  }
  return () => service.stop().then(() => undefined)
})

const listed = async (...args: string[]) => {
  const { data } = await service.json<{ data: { id: string }[] }>('requests', 'list', ...args)
  return data.map(({ id }) => id).filter((id) => Object.values(ids).includes(id))
}

describe('tabwire requests list', () => {
  test('prints the newest request first, with its outcome', async () => {
    expect(await listed()).toEqual([ids.refused, ids.found, ids.right])
    const { stdout } = await service.run(['requests', 'list', '--limit', '100'])
    expect(stdout).toMatch(/^REQUEST +STARTED \(UTC\) +CALL +STATUS +PUSH +FINDINGS\n/)
    const line = stdout.split('\n').find((text) => text.includes(ids.found)) ?? ''
    expect(line).toMatch(/ {2}PUT \/v1\/checks\/external\/table-13 +201 +created +totals_mismatch/)
  })

  test.each([
    [['--failed'], ['refused']],
    [['--finding', 'totals_mismatch'], ['found']],
    [
      ['--check', 'table-12'],
      ['refused', 'right'],
    ],
    [['--check', 'table-12', '--failed'], ['refused']],
    [['--check', 'no-such-check'], []],
  ] as const)('with %j lists %j', async (args, names) => {
    expect(await listed(...args)).toEqual(names.map((name) => ids[name]))
  })

  test('suggests a first push to a new service', async () => {
    const fresh = await serve()
    expect((await fresh.run(['requests', 'list'])).stdout).toBe(
      'No requests yet. Make one with: tabwire push --sample two-top\n',
    )
    await fresh.stop()
  })

  test('says when no request matches', async () => {
    const { code, stdout } = await service.run(['requests', 'list', '--check', 'no-such-check'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'No requests match. The service keeps at most the newest 1,000 requests.\n',
    })
  })
})

describe('tabwire requests show', () => {
  test('shows a push with its diff, its findings and both bodies', async () => {
    const { code, stdout } = await service.run(['requests', 'show', ids.found])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^request +req_\w+\ncall +PUT \/v1\/checks\/external\/table-13\nstatus +201\n/)
    expect(stdout).toMatch(/\npush +created table-13\n/)
    expect(stdout).toMatch(/\n {2}\+ 2 × Copper Burger +\S*14\.50 {2}line-1\n/)
    expect(stdout).toMatch(/\n {2}! totals_mismatch /)
    expect(stdout).toMatch(/\n {4}request body:\n {4}│ \{\n/)
    expect(stdout).toMatch(/\n {4}response body:\n {4}│ \{\n/)
  })

  test('shows why a push was refused', async () => {
    const { stdout } = await service.run(['requests', 'show', ids.refused])
    expect(stdout).toMatch(/\nstatus +422\n/)
    expect(stdout).toContain('validation_failed')
  })

  test('--json prints the resource, and an unknown id exits with 1', async () => {
    expect(await service.json('requests', 'show', ids.right)).toMatchObject({ id: ids.right, status: 201 })
    const { code, stderr } = await service.run(['requests', 'show', 'req_1'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Error: /)
  })
})
