import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { FaultsView } from '../../src/model/simulator/fault.ts'
import {
  checkBody,
  emptyDirectory,
  spawnTabwire,
  serve,
  startService,
  tabwire,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver()))
afterAll(() => receiver.close())

const seeded = { allowHttpLoopback: true, seed: 7 }

const register = ({ call }: RunningService) =>
  call('POST', '/v1/webhook-endpoints', { url: receiver.url, event_types: ['check.created'] })

async function read<T>({ call }: RunningService, path: string): Promise<T> {
  return (await (await call('GET', path)).json()) as T
}

const push = (service: RunningService, id: string) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody())

const allDeliveries = async (service: RunningService) =>
  (await read<{ data: Delivery[] }>(service, '/_sim/deliveries')).data

describe('tabwire faults', () => {
  test('set, show and clear print the faults as a table and as the resource', async () => {
    const service = await serve(seeded)
    const none = await service.run(['faults', 'show'])
    expect(none.stdout).toBe('No faults are set. Set some with: tabwire faults set duplicate=0.3 drop=0.2\n')
    const set = await service.run(['faults', 'set', 'duplicate=0.3', 'delay', '--times', '3'])
    expect(set).toMatchObject({ code: 0, stderr: '' })
    expect(set.stdout).toBe(
      [
        'seed  7',
        '',
        'ON          FAULT      CHANCE  EFFECT          LIMITS  INJECTED',
        'deliveries  duplicate  0.3     sent twice      3 more  0',
        'deliveries  delay      1       delayed by 30s  3 more  0',
        '',
      ].join('\n'),
    )
    expect(await service.json('faults', 'show')).toEqual(await read(service, '/_sim/faults'))
    expect(await service.json('faults', 'clear')).toEqual({ seed: 7, faults: [] })
    expect((await service.run(['faults', 'clear'])).stdout).toBe('All faults cleared.\n')
    await service.stop()
  })

  test('with a limited number of times are left to the application when deliveries are listed', async () => {
    const service = await serve(seeded)
    await register(service)
    await push(service, 'dinner')
    await service.json('faults', 'set', 'error', '--times', '1')
    const { stdout } = await service.run(['deliveries', 'list'])
    expect(stdout).toContain(receiver.url)
    expect(await service.json('faults', 'show')).toMatchObject({ faults: [{ times: 1 }] })
    expect((await service.call('GET', '/v1/locations')).status).toBe(503)
    await service.stop()
  })

  test.runIf(isSoak)(
    'set keeps the other kind of faults, and names the faults that it replaces',
    async () => {
      const service = await serve(seeded)
      const names = async () => {
        const { faults } = await read<FaultsView>(service, '/_sim/faults')
        return faults.map(({ on, ...fault }) => `${on} ${Object.keys(fault)[0] ?? ''}`)
      }
      await service.run(['faults', 'set', 'drop=0.2'])
      const api = await service.run(['faults', 'set', 'error=0.1', '--status', '500', '--path', 'PUT /v1/*'])
      expect(api.stderr).toBe('The faults on deliveries are unchanged, and their counts begin again.\n')
      expect(await names()).toEqual(['deliveries drop', 'api error_rate'])
      const replaced = await service.run([
        'faults',
        'set',
        'delay',
        '--type',
        'check.closed',
        '--delay-for',
        '1h',
      ])
      expect(replaced.stdout).toMatch(/^deliveries {2}delay {2}1 {7}delayed by 1h +check\.closed +0$/m)
      expect(replaced.stdout).toMatch(/^api +error +0\.1 +answered 500; not processed +PUT \/v1\/\* +0$/m)
      expect(replaced.stderr).toBe(
        'Replaced the previous faults. Pass --add to keep them.\nThe faults on the API are unchanged, and their counts begin again.\n',
      )
      await service.run(['faults', 'set', 'drop', '--add'])
      expect(await names()).toEqual(['deliveries delay', 'deliveries drop', 'api error_rate'])
      await service.stop()
    },
  )

  test('set refuses an unknown fault, and an option without its fault', async () => {
    for (const [words, message] of [
      [
        ['dorp'],
        'Error: Unknown fault "dorp". Did you mean drop? Faults on deliveries: duplicate, reorder, delay, drop. Faults on the API: latency, error, reset, lost_answer.',
      ],
      [['drop', '--path', '/v1/checks'], '--path needs a fault on the API, such as error.'],
      [['drop', '--delay-for', '1m'], '--delay-for needs the fault delay.'],
      [
        ['delay', '--delay-for', 'long'],
        '--delay-for must be a duration such as 500ms, 30s, 5m or 1h, got "long".',
      ],
      [['delay', '--delay-for', '500h'], '--delay-for must be at most 24h, got "500h".'],
      [['reorder', '--reorder-for', '24h1ms'], '--reorder-for must be at most 24h, got "24h1ms".'],
      [
        ['latency=61s'],
        'FAULT must have a duration from 1ms to 60s, such as latency=200ms, got "latency=61s".',
      ],
      [[], 'FAULT is missing: '],
    ] as const) {
      const { code, stdout, stderr } = await tabwire(['faults', 'set', ...words])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(message)
    }
    const service = await serve(seeded)
    const unknown = await service.run(['faults', 'set', 'drop', '--endpoint', 'we_nowhere'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain("Webhook endpoint we_nowhere not found at this key's location.")
    const noUrl = await service.run(['faults', 'set', 'drop', '--endpoint', receiver.url])
    expect(noUrl).toMatchObject({ code: 1, stdout: '' })
    expect((await read<FaultsView>(service, '/_sim/faults')).faults).toEqual([])
    const { id } = (await (await register(service)).json()) as { id: string }
    expect(await service.run(['faults', 'set', 'drop', '--endpoint', receiver.url])).toMatchObject({
      code: 0,
    })
    expect((await read<FaultsView>(service, '/_sim/faults')).faults).toMatchObject([{ endpoint_ids: [id] }])
    await service.stop()
  })

  test('set takes several event types from TABWIRE_TYPE, and names an unknown one', async () => {
    const service = await serve(seeded)
    const set = (types: string) => service.run(['faults', 'set', 'drop'], { env: { TABWIRE_TYPE: types } })
    expect(await set('check.created,check.closed')).toMatchObject({ code: 0, stderr: '' })
    const { faults } = await read<FaultsView>(service, '/_sim/faults')
    expect(faults).toMatchObject([{ event_types: ['check.created', 'check.closed'] }])
    const { code, stderr } = await set('check.created,check.clsed')
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^Error: TABWIRE_TYPE must be one or more of check\.created, .+, got "check\.clsed"\. Did you mean check\.closed\?/,
    )
    await service.stop()
  })

  test('an injected status gets no advice about keys or lists', async () => {
    const service = await serve()
    for (const [status, args] of [
      ['401', ['checks', 'list']],
      ['404', ['endpoints', 'list']],
    ] as const) {
      await service.json('faults', 'set', 'error', '--status', status)
      const { code, stderr } = await service.run([...args])
      expect(code).toBe(1)
      expect(stderr).toMatch(new RegExp(`^Error: ${status} fault_injected: [^.]*Injected fault[^.]*\\.`))
      expect(stderr).not.toMatch(/--api-key|another deployment/)
    }
    await service.stop()
  })

  test('deliveries show and tail print injected faults', async () => {
    const service = await serve(seeded)
    await register(service)
    const tail = await spawnTabwire(['tail', '--requests'], { cwd: service.cwd })
    await tail.until('stderr', /Listening/)
    await service.run([
      'faults',
      'set',
      'duplicate',
      'delay',
      'latency=1ms',
      '--delay-for',
      '90s',
      '--times',
      '1',
    ])
    await push(service, 'lunch')
    const [held] = await allDeliveries(service)
    const before = await service.run(['deliveries', 'show', held?.id ?? ''])
    expect(before.stdout).toMatch(/^next attempt {2}2026-01-01 00:01:30 UTC, attempt 1 of 7$/m)
    expect(before.stdout).toMatch(/^held {10}since 2026-01-01 00:00:00 UTC {2}faults: duplicate, delay$/m)
    await service.run(['clock', 'advance', '2m'])
    const after = await service.run(['deliveries', 'show', held?.id ?? ''])
    expect(after.stdout).toMatch(/^attempt 1: faults: duplicate, delay, held for 1m30s$/m)
    const told = await tail.until('stdout', /✓.*\n/)
    expect(told).toMatch(/^→ .* PUT \/v1\/checks\/external\/lunch {2}201 .* {2}faults: latency$/m)
    expect(told).toMatch(
      /^✓ 00:01:30 {2}check\.created {2}lunch {2}200 {2}0 ms {2}faults: duplicate, delay {2}dlv_/m,
    )
    await service.stop()
  })

  test('held deliveries survive a kill, and are sent when the faults are cleared', async () => {
    const cwd = await emptyDirectory()
    const first = await startService(['--allow-http-loopback'], { cwd })
    await register(first)
    await first.run(['clock', 'freeze'])
    await first.run(['faults', 'set', 'delay', '--delay-for', '1h'])
    await push(first, 'killed')
    let held: Delivery | undefined
    while (held?.held === undefined) [held] = await allDeliveries(first)
    await first.stop('SIGKILL')
    const second = await startService(['--allow-http-loopback'], { cwd })
    expect(await allDeliveries(second)).toMatchObject([{ id: held.id, status: 'pending', attempts: [] }])
    // The clock is frozen: `clear` alone sends it.
    await second.run(['clock', 'freeze'])
    await second.run(['faults', 'clear'])
    await second.run(['deliveries', 'wait', '--status', 'delivered'])
    expect(await allDeliveries(second)).toMatchObject([{ id: held.id, status: 'delivered' }])
    await second.stop()
  })
})

describe('tabwire start --seed', () => {
  test.runIf(isSoak)(
    'repeats a run for the same seed, and says that secrets are predictable',
    async () => {
      const logOf = async (seed: string) => {
        const service = await startService(['--in-memory', '--allow-http-loopback', '--seed', seed])
        await register(service)
        await service.run(['faults', 'set', 'duplicate=0.3', 'reorder=0.5', 'delay', 'drop=0.2'])
        for (let n = 0; n < 8; n++) await push(service, `check-${n}`)
        await service.run(['clock', 'advance', '36h'])
        const log = await allDeliveries(service)
        const { stderr } = await service.stop()
        expect(stderr).toContain(`--seed ${seed}: secrets and keys are predictable`)
        return { key: service.key, log }
      }
      const [one, same, other] = [await logOf('7'), await logOf('7'), await logOf('8')]
      expect(same).toEqual(one)
      expect(other.log).not.toEqual(one.log)
      expect(one.log).toHaveLength(8)
      expect(other.key).not.toBe(one.key)
    },
    60_000,
  )

  test('exits with 2 without --in-memory, and says why', async () => {
    const { code, stderr } = await tabwire(['start', '--seed', '7', '--port', '0'])
    expect(code).toBe(2)
    expect(stderr).toBe(
      'Error: --seed needs --in-memory. With stored data, the next start would repeat identifiers.\n',
    )
  })
})

test('a push whose response is lost says that it may be stored, and its repetition changes nothing', async () => {
  const service = await serve(seeded)
  const path = 'PUT /v1/checks/*'
  await service.run(['faults', 'set', 'lost_answer=1', '--path', path, '--times', '1'])
  const push = ['push', '--sample', 'two-top', '--id', 'lost']
  const lost = await service.run(push)
  expect(lost).toMatchObject({ code: 1, stdout: '' })
  expect(lost.stderr).toMatch(
    /^Error: The connection to http:\S+ broke before a response \(.+\), so the request may have been handled\. Check the result, then repeat the command\./,
  )
  expect(await service.run(push)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('unchanged') as string,
  })
  await service.stop()
})
