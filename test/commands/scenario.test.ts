import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import type { ScenarioReport } from '../../src/cli/scenario/play.ts'
import type { Envelope } from '../../src/model/event.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { checkBody, fixtures, serve, spawnTabwire, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { startServiceAndReceiver } from '../support/https-service.ts'

let service: RunningService
let receiver: Receiver
let endpoint: WebhookEndpointView
beforeAll(async () => {
  const pair = await startServiceAndReceiver()
  ;({ service, receiver, endpoint } = pair)
  return () => pair.stop()
})

interface Report {
  passed: number
  failed: number
  scenarios: ScenarioReport[]
}
const run = (...args: string[]) => service.run(['scenario', 'run', ...args])
const shipped = readdirSync(join(fixtures, 'scenarios')).map((file) => file.replace(/\.json$/, ''))

describe.each(sampled(shipped, 3))('the scenario %s', (name) => {
  test('passes repeatedly against a real service, and a receiver on HTTPS gets the expected deliveries', async () => {
    const report = await service.json<Report>('scenario', 'run', name, name, '--endpoint', endpoint.id)
    expect(report).toMatchObject({ passed: 2, failed: 0 })
    for (const { steps, steps_total, checks } of report.scenarios) {
      expect(steps).toHaveLength(steps_total)
      expect(steps.at(-1)).toMatchObject({ step: { do: 'expect' }, skipped_deliveries: false })
      for (const check of Object.values(checks)) {
        const received = receiver.requests
          .map(({ body }) => JSON.parse(body.toString()) as Envelope)
          .filter(({ data }) => Object.values(data as object).includes(check))
          .map(({ type }) => type)
        expect(deliveriesAtTheEnd(steps, checks, check)).toEqual(received.sort())
      }
    }
  })
})

/** Returns the event types that the last expectation of a check lists. */
function deliveriesAtTheEnd(
  steps: ScenarioReport['steps'],
  checks: ScenarioReport['checks'],
  external_id: string,
): string[] | undefined {
  const last = steps.findLast(
    ({ step }) => step.do === 'expect' && step.deliveries !== undefined && checks[step.check] === external_id,
  )
  return last?.step.do === 'expect' ? last.step.deliveries?.toSorted() : undefined
}

describe('close', () => {
  const push = (changes: Record<string, unknown>) => ({ do: 'push', check: 'a', body: checkBody(changes) })
  const closing = [
    { do: 'close', check: 'a' },
    { do: 'expect', check: 'a', is: { status: 'closed' } },
  ]

  async function played(at: RunningService, steps: object[]) {
    const file = join(at.cwd, 'close.json')
    await writeFile(file, JSON.stringify({ title: 'Close', steps }))
    return at.run(['scenario', 'run', file])
  }

  test('raises the field that orders pushes', async () => {
    const ordered = await serve({ orderBy: 'version' })
    expect(await played(ordered, [push({ version: 1 }), ...closing])).toMatchObject({ code: 0, stderr: '' })
    await ordered.stop()
  })

  test('closes the state that was pushed last, also when its response was lost', async () => {
    const lost = {
      do: 'faults',
      faults: [{ on: 'api', lost_answer_rate: 1, times: 1, paths: ['PUT /v1/checks/*'] }],
    }
    const steps = [
      push({ revision: 1 }),
      lost,
      { ...push({ revision: 2, table: { number: '13' } }), expect: { lost: true } },
      ...closing,
      { do: 'expect', check: 'a', is: { table: { number: '13' } } },
    ]
    expect(await played(service, steps)).toMatchObject({ code: 0, stderr: '' })
  })
})

test('scenario run checks the secret of --forward-to only with --forward-to', async () => {
  const run = (...flags: string[]) =>
    service.run(['scenario', 'run', 'walk-out', ...flags], { env: { TABWIRE_SECRET: 'whsec_short' } })
  expect(await run()).toMatchObject({ code: 0, stderr: '' })
  const { code, stderr } = await run('--forward-to', receiver.url)
  expect(code).toBe(2)
  expect(stderr).toMatch(/^Error: TABWIRE_SECRET must be whsec_ and 43 letters/)
})

test('the built-in scenarios are those that the package documents', () => {
  expect(shipped.sort()).toEqual([
    'cash-rounding',
    'cents-as-dollars',
    'check-id-reused',
    'comp-after-payment',
    'dinner-for-four',
    'late-service-charge',
    'line-split-by-seat',
    'lines-merged',
    'offline-backlog',
    'paid-and-never-closed',
    'paid-at-the-till',
    'payment-as-negative-line',
    'refund-after-closing',
    'tab-reopened',
    'tables-merged',
    'two-terminals',
    'uneven-even-split',
    'void-after-claim',
    'void-as-quantity-zero',
    'walk-out',
  ])
})

test('tabwire scenario list prints the built-in scenarios', async () => {
  const { stdout } = await service.run(['scenario', 'list'])
  for (const name of shipped) expect(stdout).toMatch(new RegExp(`^${name} +\\d+ +[A-Z]`, 'm'))
  const { data } = await service.json<{ data: { name: string }[] }>('scenario', 'list')
  expect(data.map((one) => one.name)).toEqual(shipped.sort())
})

async function file(name: string, ...steps: unknown[]): Promise<string> {
  await writeFile(join(service.cwd, name), JSON.stringify({ title: 'Dinner', steps }))
  return name
}
const push = { do: 'push', check: 'table', body: checkBody(), as: 'bill' }

describe('tabwire scenario run', () => {
  test('prints expected and actual values of a failed step, runs no further step, and exits with 3', async () => {
    const wrong = await file(
      'wrong.json',
      push,
      { do: 'expect', note: 'Wrong', check: 'table', is: { balance_cents: 1 }, events: ['check.closed'] },
      { do: 'close', check: 'table' },
    )
    const { code, stdout } = await run(wrong)
    expect(code).toBe(3)
    expect(stdout).toMatch(
      new RegExp(
        [
          '^Dinner',
          ' {2}✓ {2}1 {2}push table {2}\\d+ ms',
          ' {2}✗ {2}2 {2}expect table {2}Wrong {2}\\d+ ms',
          ' {8}balance_cents',
          ' {10}expected 1',
          ' {10}actual {3}4002',
          ' {8}events',
          ' {10}expected \\["check.closed"\\]',
          ' {10}actual {3}\\["check.created"\\]',
          ' {2}failed at step 2, 1 step not run {2}in \\d+\\.\\d s {2}table-\\w{26}\n$',
        ].join('\n'),
      ),
    )
  })

  test('exits with 3 for an unexpected response, and continues with the next scenario', async () => {
    const kind = { do: 'rate', check: 'table', rating: 5, expect: { status: 422, code: 'validation_failed' } }
    const { code, stdout } = await run(
      await file('kind.json', push, kind),
      await file('right.json', push),
      '--json',
    )
    expect(code).toBe(3)
    const report = JSON.parse(stdout) as Report
    expect(report).toMatchObject({ passed: 1, failed: 1 })
    expect(report.scenarios[0]?.steps.at(-1)?.mismatches).toEqual([
      { path: 'status', expected: 422, actual: 201 },
      { path: 'code', expected: 'validation_failed' },
    ])
  })

  test.each<[string, unknown, RegExp]>([
    [
      'a refusal that no step expects',
      { do: 'rate', check: 'table', rating: 6 },
      /Expected 2xx\. The service answered 422: /,
    ],
    [
      'a reference that leads nowhere',
      { do: 'release', claim: '$bill.claim' },
      /\$bill\.claim is not in the response of bill/,
    ],
  ])('exits with 1 for %s', async (_what, step, message) => {
    const { code, stdout } = await run(await file('refused.json', push, step))
    expect(code).toBe(1)
    expect(stdout).toMatch(message)
  })

  test('a step that expects an unknown check fails, and the next scenario runs', async () => {
    const unknown = await file('unknown.json', { do: 'expect', check: 'nowhere', is: { status: 'open' } })
    const { code, stdout } = await run(unknown, await file('known.json', push))
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ {2}1 {2}expect nowhere .*\n.*not found/)
    expect(stdout).toMatch(/\n  passed, 1 step /)
  })

  test('exits with 2 for a file that is not a scenario, and names the file', async () => {
    const { code, stdout, stderr } = await run(await file('wrong.json', { do: 'dance' }))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Error: .*wrong\.json: step 1 \(dance\): /)
  })

  test('waits for deliveries at the given endpoint, and names those that did not arrive', async () => {
    const expects = { do: 'expect', check: 'table', deliveries: ['check.created', 'check.closed'] }
    const { code, stdout } = await run(
      await file('missing.json', push, expects),
      '--endpoint',
      endpoint.id,
      '--timeout',
      '1',
    )
    expect(code).toBe(3)
    expect(stdout).toMatch(
      /deliveries of check\.closed\n {10}expected 1\n {10}actual {3}Expected 1 delivered check\.closed for check .*; none arrived/,
    )
  })

  test('accepts more deliveries than the expected ones', async () => {
    const changed = { ...push, body: checkBody({ status: 'closed' }) }
    const expects = { do: 'expect', check: 'table', deliveries: ['check.created', 'check.closed'] }
    const resend = { do: 'resend', check: 'table', event: 1 }
    const both = { ...expects, deliveries: ['check.created', ...expects.deliveries] }
    const script = await file('more.json', push, changed, resend, both, expects)
    const { code, stdout } = await run(script, '--endpoint', endpoint.id)
    expect(stdout).not.toContain('actual')
    expect(code).toBe(0)
  })

  test('--forward-to sends deliveries to a receiver on plain HTTP, and leaves no endpoint behind', async () => {
    const plain = await startReceiver()
    try {
      const before = await service.json<{ data: unknown[] }>('endpoints', 'list')
      const expects = { do: 'expect', check: 'table', deliveries: ['check.created'] }
      const { code } = await run(await file('forward.json', push, expects), '--forward-to', plain.url)
      expect(code).toBe(0)
      expect(JSON.parse(plain.requests[0]?.body.toString() ?? '')).toMatchObject({ type: 'check.created' })
      expect(await service.json('endpoints', 'list')).toEqual(before)
    } finally {
      await plain.close()
    }
  })

  test.skipIf(process.platform === 'win32')(
    '--forward-to removes its endpoint on Ctrl-C, and that of a killed run',
    async () => {
      const plain = await startReceiver({ answer: 'hang' })
      const before = await service.json<{ data: unknown[] }>('endpoints', 'list')
      const endpoints = async () => (await service.json<typeof before>('endpoints', 'list')).data.length
      const expects = { do: 'expect', check: 'table', deliveries: ['check.created'] }
      const args = ['scenario', 'run', await file('hang.json', push, expects), '--forward-to', plain.url]
      const killed = await spawnTabwire(args, { cwd: service.cwd })
      await plain.received(1)
      killed.child.kill('SIGKILL')
      await killed.ended
      expect(await endpoints()).toBe(before.data.length + 1)
      const interrupted = await spawnTabwire(args, { cwd: service.cwd })
      await plain.received(2)
      expect(await endpoints()).toBe(before.data.length + 1)
      interrupted.child.kill('SIGINT')
      expect(await interrupted.ended).toMatchObject({ code: 130 })
      expect(await service.json('endpoints', 'list')).toEqual(before)
      await plain.close()
    },
  )

  test('--forward-to with --relay fetches the deliveries of a service that refuses this machine', async () => {
    const plain = await startReceiver()
    const strict = await serve({ denyPrivate: true })
    try {
      const expects = { do: 'expect', check: 'table', deliveries: ['check.created'] }
      const scenario = join(service.cwd, await file('relay.json', push, expects))
      const args = ['scenario', 'run', scenario, '--forward-to', plain.url]
      const refused = await strict.run(args)
      expect(refused).toMatchObject({ code: 1 })
      expect(refused.stderr).toMatch(
        /^Error: The service refuses to send deliveries to this machine: .* pass --relay\.\n$/,
      )
      expect(await strict.run([...args, '--relay'])).toMatchObject({ code: 0 })
      expect(plain.requests).toHaveLength(1)
      expect(await strict.json('endpoints', 'list')).toMatchObject({ data: [] })
    } finally {
      await strict.stop()
      await plain.close()
    }
  })

  test.each([
    ['nowhere.json', 2, /Cannot read nowhere\.json: no such file/],
    ['diner-for-four', 2, /Did you mean dinner-for-four\?/],
  ])('%s exits with %i', async (name, code, message) => {
    const ended = await run(name)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })
})
