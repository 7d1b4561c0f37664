import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { Exploration } from '../../src/cli/scenario/explore/explore.ts'
import type { Scenario } from '../../src/cli/scenario/schema.ts'
import { emptyDirectory, serve, spawnTabwire, tabwire } from '../support/cli.ts'
import { SECRET, startExploredReceiver, type IntakeName } from '../support/explored-receiver.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { stale, usual } from '../support/pos-histories.ts'

const FILE = 'tabwire-counterexample.json'

let cwd: string
beforeAll(async () => {
  cwd = await emptyDirectory()
  const bodies = (histories: ReturnType<typeof stale>) => histories[0]?.pushes.map(({ body }) => body)
  await writeFile(join(cwd, 'stale.json'), JSON.stringify(bodies(stale())))
  await writeFile(join(cwd, 'usual.json'), JSON.stringify(bodies(usual())))
})

const explore = (...args: string[]) => tabwire(['scenario', 'explore', ...args], { cwd })

async function withReceiver<T>(
  name: IntakeName,
  use: (flags: string[], receiver: Receiver) => Promise<T>,
): Promise<T> {
  const receiver = await startExploredReceiver(name)
  try {
    return await use(
      ['--receiver', receiver.url, '--secret', SECRET, '--state-url', receiver.stateUrl],
      receiver,
    )
  } finally {
    await receiver.close()
  }
}

describe('tabwire scenario explore', () => {
  test.runIf(isSoak)('finds no counterexample around the built-in samples', async () => {
    const { code, stdout, stderr } = await explore('--runs', '30', '--seed', '7')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe('✓ 30 runs, no counterexample (seed 7)\n')
  })

  test.runIf(isSoak)(
    'prints a counterexample with its steps, writes it as a scenario that fails, and exits 3',
    async () => {
      const { code, stdout } = await explore('stale.json', '--id', 'table-12', '--force')
      expect(code).toBe(3)
      expect(stdout).toMatch(
        new RegExp(
          [
            '^✗ counterexample after \\d+ runs? \\(seed 1\\)',
            'Revision 3 \\(stale\\.json, push 3\\) repeats the content of revision 1 \\(stale\\.json, push 1\\): the item[^]*refuses the push\\.',
            '',
            '   1  push table-12 revision [12]: 1 × Copper Burger[^]*',
            '   \\d  push table-12 revision 3: 1 × Copper Burger, total_cents 1566, expect 200',
            '',
            'Written to tabwire-counterexample\\.json\\. To repeat it, start a service and run:',
            '  tabwire scenario run tabwire-counterexample\\.json\n$',
          ].join('\n'),
        ),
      )
      const scenario = JSON.parse(await readFile(join(cwd, FILE), 'utf8')) as Scenario
      expect(scenario).toMatchObject({ title: 'A stale push is repeated with a new revision' })
      const service = await serve({ cwd })
      const run = await service.run(['scenario', 'run', FILE])
      await service.stop()
      expect(run.code).toBe(3)
      expect(run.stdout).toMatch(/status\n {10}expected 200\n {10}actual {3}409/)
    },
  )

  test('prints a counterexample that cannot be written, and exits 3', async () => {
    const own = await emptyDirectory()
    await mkdir(join(own, FILE))
    const input = await readFile(join(cwd, 'stale.json'))
    const words = ['scenario', 'explore', '-', '--id', 'bar']
    const { code, stdout, stderr } = await tabwire(words, { cwd: own, input })
    expect(code).toBe(3)
    expect(stdout).toMatch(/^✗ counterexample after /)
    expect(stdout).toMatch(/\n\nNot written to a file\. To try again, pass --seed 1 --out FILE\.\n$/)
    expect(stderr).toBe(`Error: --out: cannot write the scenario to ${FILE} (EISDIR).\n`)
    expect(await tabwire([...words, '--out', FILE], { cwd: own, input })).toMatchObject({
      code: 1,
      stdout: '',
    })
  })

  test.runIf(isSoak)('writes a new file, and replaces one with --force only', async () => {
    const own = await emptyDirectory()
    const input = await readFile(join(cwd, 'stale.json'))
    for (let run = 0; run < 2; run += 1)
      await tabwire(['scenario', 'explore', '-', '--id', 'bar'], { cwd: own, input })
    expect((await readdir(own)).sort()).toEqual(['tabwire-counterexample-2.json', FILE])
    await writeFile(join(cwd, 'kept.json'), 'kept')
    const refused = await explore('stale.json', '--out', 'kept.json')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toBe(
      'Error: --out: kept.json already exists. Pass --force to replace it, or another --out FILE.\n',
    )
    expect((await explore('stale.json', '--out', 'kept.json', '--force')).code).toBe(3)
    expect(JSON.parse(await readFile(join(cwd, 'kept.json'), 'utf8'))).toHaveProperty('steps')
  })

  test.runIf(isSoak)('--json prints the result, and - reads the file from standard input', async () => {
    const input = await readFile(join(cwd, 'usual.json'))
    const found = await tabwire(
      ['scenario', 'explore', '-', '--id', 'bar', '--runs', '5', '--out', 'new.json', '--json'],
      {
        cwd,
        input,
      },
    )
    expect(JSON.parse(found.stdout)).toEqual({
      runs: 5,
      seed: 1,
      interrupted: false,
      compared: [],
      counterexample: null,
      file: null,
    })
  })

  test.runIf(isSoak)(
    'finds a receiver that orders by arrival, and scenario run repeats the failure',
    async () => {
      await withReceiver('ordering by arrival', async (flags, { url }) => {
        const { code, stdout } = await explore('usual.json', '--out', 'arrival.json', ...flags, '--json')
        expect(code).toBe(3)
        const { counterexample, compared } = JSON.parse(stdout) as Exploration
        expect(compared).toContain('lines[].qty')
        expect(counterexample?.code).toBe('receiver_disagrees')
        const service = await serve({ cwd })
        const [, , , , ...state] = flags
        const run = ['scenario', 'run', 'arrival.json', '--forward-to', url, '--secret', SECRET]
        const repeated = await service.run([...run, ...state])
        const unjudged = await service.run(run)
        await service.stop()
        expect(repeated.code).toBe(3)
        expect(repeated.stdout).toMatch(
          /✗ +\d+ +expect usual[^]*receiver's \S+\n {10}expected .*\n {10}actual/,
        )
        expect(unjudged.code).toBe(0)
        expect(unjudged.stdout).toContain("Receiver's view not checked (pass --state-url)")
      })
    },
  )

  test.skipIf(process.platform === 'win32')(
    'prints its results so far on Ctrl-C, and exits with 130',
    async () => {
      await withReceiver('right', async (flags, { received }) => {
        const args = ['scenario', 'explore', 'usual.json', '--runs', '1000000', ...flags]
        const running = await spawnTabwire(args, { cwd })
        // More than the examples that it learns from.
        await received(100)
        running.child.kill('SIGINT')
        const { code, stdout } = await running.ended
        expect(code).toBe(130)
        expect(stdout).toMatch(/no counterexample \(seed 1, interrupted\)/)
      })
    },
  )

  test.each<[string, string[], number, RegExp]>([
    ['a file that is not there', ['nowhere.json'], 2, /Cannot read nowhere\.json: no such file\./],
    ['a pattern without files', ['none/*.json'], 2, /No file matches none\/\*\.json\./],
    ['--sample beside files', ['usual.json', '--sample', 'bar-tab'], 2, /Pass files or --sample, not both\./],
    ['a receiver alone', ['--receiver', 'localhost:9'], 2, /--receiver also needs --state-url/],
    ['a state alone', ['--state-url', 'http://localhost:9/'], 2, /--state-url also needs --receiver/],
    [
      'a receiver without its secret',
      ['--receiver', 'localhost:9', '--state-url', 'http://localhost:9/'],
      2,
      /--receiver also needs --secret or --secret-file/,
    ],
    [
      'a receiver that is not there',
      ['--receiver', 'localhost:9', '--state-url', 'http://localhost:9/', '--secret', SECRET],
      1,
      /The receiver did not accept a valid delivery\. No server listens at localhost:9\. Start the receiver/,
    ],
  ])('reports %s', async (_what, args, code, message) => {
    const ended = await explore(...args)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })

  test.runIf(isSoak)('prints the error of the service when a push is refused', async () => {
    await writeFile(
      join(cwd, 'wrong.json'),
      JSON.stringify({ table: { number: '1' }, status: 'open', items: [] }),
    )
    const { code, stderr } = await explore('wrong.json')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'Error: wrong.json: 422 validation_failed: totals is required.\n',
    })
  })

  test.each<[string, number, string, RegExp]>([
    ['404', 404, '', /shows nothing of a check that the receiver got: it is 404/],
    ['a web page', 200, '<h1>Tabs</h1>', /is not JSON\. Pass a URL that returns the stored check as JSON/],
    ['something else', 200, '{"ok":true}', /shows no value of a check/],
    ['an error', 500, '', /Cannot read --state-url: .* returned 500\./],
  ])('reports a state URL that answers %s', async (_what, status, body, message) => {
    const receiver = await startReceiver({
      answer: (response, { method }) => response.writeHead(method === 'GET' ? status : 204).end(body),
    })
    try {
      const flags = [
        '--receiver',
        receiver.url,
        '--state-url',
        `${receiver.url}tabs/{external_check_id}`,
        '--secret',
        SECRET,
      ]
      const ended = await explore('usual.json', ...flags)
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toMatch(message)
    } finally {
      await receiver.close()
    }
  })

  test.runIf(isSoak)('reports a receiver with another secret', async () => {
    await withReceiver('right', async ([receiver = '', url = '', secret = '', , ...state]) => {
      const { code, stderr } = await explore(
        'usual.json',
        receiver,
        url,
        secret,
        `whsec_${'b'.repeat(43)}`,
        ...state,
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /The receiver did not accept a valid delivery\. It answered 401\. Check its secret/,
      )
    })
  })
})
