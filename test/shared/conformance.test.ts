import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ScenarioReport } from '../../src/cli/scenario/play.ts'
import { createClient } from '../../src/client.ts'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import { emptyDirectory, fixtures, tabwire } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { postgresPrograms } from '../support/postgres.ts'
import { sharedStore } from '../support/shared-store.ts'
import { startRoundRobin } from '../support/round-robin.ts'
import { check, item, openReceiver, openSimulator, totals } from '../support/simulator.ts'

const scenarios = readdirSync(join(fixtures, 'scenarios')).map((file) => file.replace(/\.json$/, ''))
const minutes = (n: number) => n * 60_000
/** The times of all attempts in milliseconds from the first one (specification section 6, rule 5). */
const schedule = [0, 1, 6, 36, 156, 636, 2076].map(minutes)
/** Slots change hands soon. */
const deliveryTimes = { renewMs: 500, pollMs: 50 }

describe.skipIf(postgresPrograms === undefined)('three instances behind a proxy', () => {
  const shared = sharedStore()

  /** Each request goes to the next instance. */
  async function openThree(allowHttpLoopback = true) {
    const cwd = await emptyDirectory()
    const common = {
      store: shared.database.url,
      sandbox: shared.sandbox,
      deliveryTimes,
      authorityDirectory: join(cwd, '.tabwire'),
    }
    const instance = () => openSimulator({ ...common, allowHttpLoopback })
    const first = await instance()
    const all = [first, ...(await Promise.all([instance(), instance()]))]
    const proxy = await startRoundRobin(all.map(({ url }) => url))
    onTestFinished(() => proxy.close())
    const { apiKey } = first
    const run = (...args: string[]) => tabwire([...args, '--api-key', apiKey], { cwd })
    return { all, url: proxy.url, client: createClient({ url: proxy.url, apiKey }), run }
  }

  async function openPlainReceiver(answer?: Parameters<typeof openReceiver>[0]): Promise<Receiver> {
    const receiver = await startReceiver(answer === undefined ? {} : { answer })
    onTestFinished(() => receiver.close())
    return receiver
  }

  /** Verdicts of the contract check, without the detail of those that are not failures. */
  const resultsOf = ({ cases }: ConformanceReport) =>
    cases.map(({ group, id, verdict, detail }) => [
      `${group}/${id}`,
      verdict,
      ...(verdict === 'failed' ? [detail] : []),
    ])

  test.runIf(isSoak)('pass the contract check', { timeout: 180_000 }, async () => {
    const { url, run } = await openThree(false)
    const { code, stdout } = await run('contract', 'check', '--json', '--base-url', `${url}/v1`)
    const report = JSON.parse(stdout) as ConformanceReport
    const results = resultsOf(report)
    expect(results.filter(([, verdict]) => verdict === 'failed')).toEqual([])
    expect(code).toBe(0)
    expect(report.totals.passed).toBeGreaterThan(60)
    if (!isSoak) return
    const alone = await tabwire(['contract', 'check', '--json'])
    expect(results).toEqual(resultsOf(JSON.parse(alone.stdout) as ConformanceReport))
  })

  test('pass the end-to-end scenarios', { timeout: 180_000 }, async () => {
    const { url, client, run } = await openThree()
    const receiver = await openPlainReceiver()
    const { id } = await client.endpoints.create({ url: receiver.url })
    const names = sampled(scenarios, 4)
    const { code, stdout, stderr } = await run(
      ...['scenario', 'run', ...names, '--json', '--url', url, '--endpoint', id],
    )
    const { passed, scenarios: reports } = JSON.parse(stdout) as {
      passed: number
      scenarios: ScenarioReport[]
    }
    const failed = reports.filter((report) => !report.passed)
    expect({ code, stderr, failed, passed }).toEqual({
      code: 0,
      stderr: '',
      failed: [],
      passed: names.length,
    })
  })

  test('have guests that pay every check to the cent', { timeout: 180_000 }, async () => {
    const { all, url, client, run } = await openThree()
    const count = sampled(Array.from({ length: 40 }), 5).length
    for (let number = 0; number < count; number += 1) {
      const items = [item('soup', { price_cents: 900 + number }), item('ale', { price_cents: 651 })]
      await client.checks.push(`bill-${number}`, check({ items, totals: totals(1551 + number) }))
    }
    const { code, stdout } = await run(
      ...[
        'guests',
        'play',
        '--seed',
        '1',
        '--until-paid',
        '--virtual',
        '--pace',
        '2s',
        '--json',
        '--url',
        url,
      ],
    )
    expect(code).toBe(0)
    const acts = stdout.trimEnd().split('\n')
    expect(acts.length).toBeGreaterThan(count)
    const states = await Promise.all(
      all.map(async (instance) => {
        const [checks, payments] = [[], []] as [object[], object[]]
        for await (const one of instance.client.checks.all()) checks.push(one)
        for await (const one of instance.client.payments.all()) payments.push(one)
        return { checks, payments }
      }),
    )
    expect(states[1]).toEqual(states[0])
    expect(states[2]).toEqual(states[0])
    const sum = (of: readonly number[]) => of.reduce((total, cents) => total + cents, 0)
    const checks = await all[0]?.client.checks.list({ limit: 100 })
    const payments = await client.payments.list({ limit: 100 })
    expect(checks?.data).toHaveLength(count)
    const paid = sum(checks?.data.map(({ paid_cents }) => paid_cents) ?? [])
    const amounts = payments.data.map(({ amount_cents, refunded_cents }) => amount_cents - refunded_cents)
    expect(paid).toBe(sum(amounts))
  })

  test('make all seven attempts of failing deliveries at their exact times', async () => {
    const { all, client } = await openThree()
    await client.clock.freeze(true)
    await client.clock.moveTo(new Date(Date.now() + minutes(10)).toISOString())
    const receiver = await openPlainReceiver(500)
    for (let endpoint = 0; endpoint < 6; endpoint += 1)
      await client.endpoints.create({ url: `${receiver.url}${endpoint}`, event_types: ['check.created'] })
    await client.checks.push('a', check())
    await client.checks.push('b', check())
    // Each step is played by the next instance.
    for (const step of ['1m', '5m', '29m', '1m', '120m', '8h', '24h']) await client.clock.advance(step)
    const { data } = await client.deliveries.list({ limit: 100 })
    const failing = data.filter(({ event_type }) => event_type !== 'ping')
    expect(failing).toHaveLength(12)
    for (const { status, dead_reason, attempts } of failing) {
      expect([status, dead_reason]).toEqual(['dead', 'exhausted'])
      const begun = attempts.map(({ started_at }) => Date.parse(started_at))
      expect(begun.map((time) => time - (begun[0] ?? 0))).toEqual(schedule)
    }
    expect(receiver.requests.filter(({ body }) => body.includes('check.created'))).toHaveLength(7 * 12)
    for (const instance of all)
      expect((await instance.client.deliveries.list({ limit: 100 })).data).toEqual(data)
  })
})
