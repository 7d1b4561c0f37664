import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Convergence } from '../../src/assertions/convergence.ts'
import type { List } from '../../src/client.ts'
import type { Report } from '../../src/model/simulator/report.ts'
import { checkBody, emptyDirectory, serve, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  for (const revision of [1, 2, 3])
    await service.call(
      'PUT',
      '/v1/checks/external/logged',
      checkBody({ revision, table: { number: `${revision}` } }),
    )
  await service.call('PUT', '/v1/checks/external/other', checkBody())
  return async () => {
    await service.stop()
  }
})

/** A directory with three states of a check in files, with revisions or without. */
async function pushFiles(ordered: boolean) {
  const cwd = await emptyDirectory()
  const files = ['1', '2', '3'].map((number) => `${number}.json`)
  for (const [index, file] of files.entries())
    await writeFile(
      join(cwd, file),
      JSON.stringify(
        checkBody({ table: { number: `${index + 1}` }, ...(ordered && { revision: index + 1 }) }),
      ),
    )
  const env = { TABWIRE_URL: service.url, TABWIRE_API_KEY: service.key }
  return (...args: string[]) =>
    service.run(['push', ...files, '--id', 'dinner', '--permute', '12', ...args], { cwd, env })
}

describe('tabwire push --permute', () => {
  test('exits with 0 when pushes with revisions end in one state in any order', async () => {
    const run = await pushFiles(true)
    expect(await run()).toMatchObject({
      code: 0,
      stdout: '✓ dinner  3 pushes: one state after 12 other orders with repetitions, seed 1\n',
      stderr: '',
    })
  })

  test('exits with 3 at the first order that ends in another state, and prints both orders', async () => {
    const run = await pushFiles(false)
    const { code, stdout } = await run()
    expect(code).toBe(3)
    expect(stdout).toMatch(/^✗ dinner {2}3 pushes: two orders end in different states/)
    expect(stdout).toMatch(/\n {2}1 2 3 {2}→ {2}open, table 3, 2 items, total \$40\.02, revision none\n/)
    expect(stdout).toMatch(/\n {2}They differ in table\.\n {2}Pushes without a revision have no order\./)
  })

  test('tries the same orders for the same seed, and --json prints them', async () => {
    const run = await pushFiles(false)
    const ofSeed = async (seed: string) =>
      JSON.parse((await run('--seed', seed, '--json')).stdout) as Convergence
    const orderOf = ({ divergence }: Convergence) => divergence?.endings.map(({ order }) => order)
    const [one, same, other] = await Promise.all([ofSeed('7'), ofSeed('7'), ofSeed('80')])
    expect(one).toMatchObject({ external_check_id: 'dinner', orders: 12, seed: 7, converged: false })
    expect(orderOf(one)).toEqual(orderOf(same))
    expect(orderOf(one)).not.toEqual(orderOf(other))
  })

  test('leaves no finding behind in the report', async () => {
    await (
      await pushFiles(false)
    )()
    const { findings } = await service.json<Report>('report')
    expect(findings).toEqual([])
  })

  test('--from-log takes received pushes, each check separately, and no trial checks', async () => {
    await (
      await pushFiles(true)
    )()
    const { code, stdout } = await service.run(['push', '--from-log', '--permute', '6'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        '✓ logged  3 pushes: one state after 6 other orders with repetitions, seed 1\n✓ other  1 push: one state after 6 other orders with repetitions, seed 1\n',
    })
  })
})

describe('tabwire push --from-log', () => {
  test('keeps checks of two locations apart that have one external id', async () => {
    const both = await serve()
    onTestFinished(async () => void (await both.stop()))
    const [one, other] = (await both.json<List<{ id: string }>>('locations')).data
    const keyOf = async (id = '') =>
      (await both.json<{ api_key: string }>('keys', 'create', '--name', 'n', '--location', id)).api_key
    const keys = [await keyOf(one?.id), await keyOf(other?.id)]
    for (const [index, key] of keys.entries())
      await both.run(['push', '--sample', ['two-top', 'tax-exclusive'][index] ?? '', '--id', 'x'], {
        env: { TABWIRE_API_KEY: key },
      })
    const compared = await both.run(['push', '--from-log', '--permute', '3'])
    expect(compared.stdout.match(/^✓ x {2}1 push:/gm)).toHaveLength(2)
    const repeated = await both.run(['push', '--from-log'], { env: { TABWIRE_API_KEY: keys[1] ?? '' } })
    expect(repeated.code).toBe(0)
    expect(repeated.stdout.match(/^unchanged {2}x /gm)).toHaveLength(1)
    expect(repeated.stderr).toContain('Not repeated: 1 push of other locations. Pass a key of theirs.')
  })

  test('pushing a received body again changes nothing', async () => {
    const other = await serve()
    for (const revision of [1, 2])
      await other.call('PUT', '/v1/checks/external/a%2Fb', checkBody({ revision }))
    const { code, stdout } = await other.run(['push', '--from-log', '--id', 'a/b'])
    await other.stop()
    expect(code).toBe(0)
    expect(stdout.split('\n').filter((line) => /^\w/.test(line))).toEqual([
      expect.stringMatching(/^stale {2}a\/b /),
      expect.stringMatching(/^unchanged {2}a\/b /),
    ])
  })

  test.each([
    [['--from-log', 'a.json'], 'Pass one of: files, --sample, --from-log.', 2],
    [[], 'FILE is missing. Pass files, --sample two-top, or --from-log.', 2],
    [['--from-log', '--id', 'nobody'], 'The log has no push to repeat.', 1],
    [['a.json', '--permute', '3', '--repeat', '2'], '--permute', 2],
  ])('%j is refused with the reason', async (args, message, code) => {
    const ended = await service.run(['push', ...args])
    expect(ended.stderr).toContain(message)
    expect(ended.code).toBe(code)
  })
})
