import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, type List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { startSimulator } from '../../src/simulator.ts'
import { checkBody, emptyDirectory, startService, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { createManualClock } from '../support/manual-clock.ts'

const DAY_MS = 24 * 3_600_000

let service: RunningService
let receiver: Receiver
let alive: string
let disabled: string
/** When lunch has died already, and dinner has not happened yet. */
let between: string

/**
 * A service that finds five dead deliveries: of lunch and dinner to an endpoint that still takes them, and of both and a
 * closed lunch to one that is disabled; and a dead ping.
 */
beforeAll(async () => {
  receiver = await startReceiver({ answer: 500 })
  const cwd = await emptyDirectory()
  const clock = createManualClock('2026-01-01T18:00:00.000Z')
  const settings = { port: 0, dataDirectory: join(cwd, '.tabwire'), allowHttpLoopback: true, disableAfter: 3 }
  const simulator = await startSimulator({ ...settings, clock })
  const { endpoints, checks } = createClient(simulator)
  const register = async (event_types: ('check.created' | 'check.closed')[]) =>
    (await endpoints.create({ url: receiver.url, event_types })).id
  alive = await register(['check.created'])
  disabled = await register(['check.created', 'check.closed'])
  const push = async (id: string, changes = {}) => {
    await checks.push(id, JSON.stringify(checkBody(changes)))
    await simulator.idle()
    for (const _retry of [1, 2, 3, 4, 5, 6]) {
      clock.advance(DAY_MS)
      await simulator.idle()
    }
  }
  await push('lunch')
  between = new Date(clock.now().getTime() + 1).toISOString()
  clock.advance(DAY_MS)
  await push('dinner')
  await push('lunch', { status: 'closed' })
  await endpoints.ping(alive)
  await simulator.close()
  receiver.answer(200)
  service = await startService(['--allow-http-loopback'], { cwd })
  return async () => {
    await service.stop()
    await receiver.close()
  }
})

const list = async (...args: string[]) =>
  (await service.json<List<Delivery>>('deliveries', 'list', '--limit', '100', ...args)).data
const resend = (...args: string[]) => service.run(['deliveries', 'resend', ...args])

// Each step changes what the next one finds.
describe('tabwire deliveries resend', { shuffle: false }, () => {
  test('finds five dead deliveries and a dead ping to resend', async () => {
    expect(await list('--status', 'dead')).toHaveLength(6)
    expect(
      (await list('--status', 'dead', '--endpoint', disabled)).map(({ attempts }) => attempts.length),
    ).toEqual([1, 7, 7])
  })

  test('show prints how many attempts were not made when a delivery died early', async () => {
    const [closed] = await list('--type', 'check.closed')
    const { stdout } = await service.run(['deliveries', 'show', closed?.id ?? ''])
    expect(stdout).toContain(
      '\nstatus        dead (endpoint_disabled)\nnext attempt  none, after 1 of 7 attempts; 6 not made\n',
    )
  })

  test('--dead --since resends only dead deliveries whose last attempt is newer', async () => {
    for (const none of ['2999-01-01', '1s']) {
      const { code, stdout } = await resend('--dead', '--since', none)
      expect({ code, stdout }).toEqual({ code: 0, stdout: '0 deliveries resent.\n' })
    }
    const { code, stdout, stderr } = await resend('--dead', '--since', between)
    // Two of them are refused.
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(new RegExp(`^✓ Resent check\\.created to ${alive} as dlv_\\w{26}$`))
    for (const line of lines.slice(1, 3))
      expect(line).toMatch(
        new RegExp(`^✗ dlv_\\w{26}: Webhook endpoint ${disabled} is disabled \\(3 consecutive deliveries`),
      )
    expect(lines.slice(3)).toEqual(['1 delivery resent, 2 refused.', ''])
    const arrived = await service.run(['deliveries', 'wait', '--check', 'dinner', '--timeout', '600'])
    expect(arrived.code).toBe(0)
  })

  test('--dead resends each remaining dead delivery once, and none a second time', async () => {
    const first = JSON.parse((await resend('--dead', '--json')).stdout) as Report
    expect(first.data).toMatchObject([{ external_check_id: 'lunch', endpoint_id: alive, status: 'pending' }])
    expect(first.refused.map(({ code }) => code)).toEqual(Array(3).fill('endpoint_disabled'))
    const arrived = await service.run(['deliveries', 'wait', '--check', 'lunch', '--timeout', '600'])
    expect(arrived.code).toBe(0)
    const second = JSON.parse((await resend('--dead', '--json')).stdout) as Report
    expect(second).toEqual({ data: [], refused: first.refused })
  })

  test('resends one delivery, and prints its new id and its endpoint', async () => {
    const [ping] = await list('--type', 'ping')
    const { code, stdout } = await resend(ping?.id ?? '')
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^✓ Resent ping to ${alive} as dlv_\\w{26}\n$`))
    const [delivered] = await list('--check', 'lunch', '--status', 'delivered')
    const again = await service.json<Delivery>('deliveries', 'resend', delivered?.id ?? '')
    expect(again).toMatchObject({ event_id: delivered?.event_id, endpoint_id: alive, status: 'pending' })
  })

  test('--verbatim sends the header and the bytes of the first attempt again', async () => {
    const [delivered] = await list('--check', 'lunch', '--status', 'delivered')
    const before = receiver.requests.length
    expect((await resend(delivered?.id ?? '', '--verbatim')).code).toBe(0)
    const again = (await receiver.received(before + 1)).at(-1)
    const headers = receiver.requests.slice(0, before).filter(({ body }) => again?.body.equals(body) === true)
    expect(headers.map((request) => request.headers['x-service-signature'])).toContain(
      again?.headers['x-service-signature'],
    )
  })

  test('fails with the reason for a disabled endpoint and for an unknown delivery', async () => {
    const [dead] = await list('--endpoint', disabled)
    const refused = await resend(dead?.id ?? '')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^Error: 409 endpoint_disabled: Webhook endpoint we_\w+ is disabled/)
    expect((await resend('dlv_none')).stderr).toMatch(/^Error: 404 not_found: No delivery with this id/)
  })

  test.each([
    [[], /^Error: Pass either the id of a delivery or --dead\./],
    [['dlv_1', '--dead'], /^Error: Pass either the id of a delivery or --dead\./],
    [['dlv_1', '--since', '2h'], /--dead/],
    [
      ['--dead', '--since', '2'],
      /--since must be an ISO 8601 time or a duration ago such as 90s, 30m, 2h or 1d, got "2"\./,
    ],
    [['--dead', '--since', 'noon'], /--since must be .* got "noon"\./],
    [
      ['--dead', '--since', '2026-11-21T18:00'],
      /--since must end with Z or an offset .* got "2026-11-21T18:00"\./,
    ],
    [
      ['--dead', '--since', '2026-02-30'],
      /--since must be an ISO 8601 time or a duration .* got "2026-02-30"\./,
    ],
  ])('%j exits with 2', async (args, pattern) => {
    const { code, stderr } = await resend(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(pattern)
  })
})

interface Report {
  data: Delivery[]
  refused: { id: string; code: string; message: string }[]
}
