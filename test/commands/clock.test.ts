import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClockReport, ClockView } from '../../src/client.ts'
import { checkBody, serve, tabwire, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

const startAt = new Date('2026-11-21T18:00:00Z')

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver({ answer: 500 })))
afterAll(() => receiver.close())

/** A service whose clock is frozen, with a delivery that has failed once. */
async function openFrozen(): Promise<RunningService & { now: string }> {
  const service = await serve({ startAt, allowHttpLoopback: true })
  const { now } = await service.json<ClockView>('clock', 'freeze')
  const { url } = receiver
  await service.call('POST', '/v1/webhook-endpoints', { url, event_types: ['check.created'] })
  await service.call('PUT', '/v1/checks/external/a', checkBody())
  return { ...service, now }
}

describe.concurrent('tabwire clock', () => {
  test('show prints the time, the state and the offset', async () => {
    const service = await serve({ startAt })
    const { stdout } = await service.run(['clock', 'show'])
    expect(stdout).toMatch(/^clock {3}2026-11-21 18:\d\d:\d\d UTC\nstate {3}running\noffset {2}.+\n$/)
    const shown = await service.json<ClockView>('clock', 'show')
    expect(Object.keys(shown)).toEqual(['now', 'frozen', 'offset_ms', 'moving'])
    await service.stop()
  })

  test('freeze stops the clock, and freeze --off runs it again', async () => {
    const service = await serve({ startAt })
    const frozen = await service.json<ClockView>('clock', 'freeze')
    expect(await service.json('clock', 'show')).toMatchObject({ now: frozen.now, frozen: true })
    const { stdout } = await service.run(['clock', 'freeze', '--off'])
    expect(stdout).toContain('\nstate   running\n')
    await service.stop()
  })

  test('advance --json prints the response of the API: all retries at their times', async () => {
    const service = await openFrozen()
    const report = await service.json<ClockReport>('clock', 'advance', '35h')
    expect(Date.parse(report.now) - Date.parse(service.now)).toBe(35 * 3_600_000)
    const retries = report.attempted.filter(({ attempt }) => attempt > 1)
    const minutes = retries.map(({ at }) => (Date.parse(at) - Date.parse(service.now)) / 60_000)
    expect(minutes).toEqual([1, 6, 36, 156, 636, 2076])
    expect(report.attempted.at(-1)).toMatchObject({ attempt: 7, outcome: 'bad_status', status: 'dead' })
    await service.stop()
  })

  test('advance names the deliveries that it waits for after two seconds, and stops after --timeout', async () => {
    const service = await serve({ startAt, allowHttpLoopback: true })
    const hanging = await startReceiver({ answer: 'hang' })
    const { url } = hanging
    await service.call('POST', '/v1/webhook-endpoints', { url, event_types: ['check.created'] })
    await service.call('PUT', '/v1/checks/external/a', checkBody())
    const { code, stdout, stderr } = await service.run(['clock', 'advance', '1h', '--timeout', '3'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^The clock is at 2026-11-21 18:\d\d:\d\d UTC, advancing to 2026-11-21 19:\d\d:\d\d UTC\. Waiting for dlv_\w+: a receiver has 10 s to answer\.$/m,
    )
    expect(stderr).toMatch(/^Error: The service did not finish within 3 s and stopped the operation\.$/m)
    const failed = await service.run(['clock', 'advance', '1h', '--timeout', '1', '--json'])
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'timeout' } })
    await service.stop()
    await hanging.close()
  })

  test('advance prints the attempts, grouped by outcome, and the new time', async () => {
    const service = await openFrozen()
    await service.run(['clock', 'advance', '0s'])
    const { stdout } = await service.run(['clock', 'advance', '10m'])
    expect(stdout).toMatch(/^OUTCOME {5}ATTEMPTS {2}FIRST \(UTC\) {10}LAST \(UTC\)\n/)
    expect(stdout).toMatch(/\nbad_status {2}2 {9}2026-11-21 18:\d\d:\d\d {2}2026-11-21 18:\d\d:\d\d\n/)
    expect(stdout).toMatch(/\n2 attempts\n\nclock {3}2026-11-21 18:\d\d:\d\d UTC\nstate {3}frozen\n/)
    const nothing = await service.run(['clock', 'advance', '1s'])
    expect(nothing.stdout).toMatch(/^No delivery was due\.\n\nclock/)
    await service.stop()
  })

  test('advance exits with 2 and shows valid durations for an invalid one', async () => {
    const service = await serve({ startAt })
    const { code, stdout, stderr } = await service.run(['clock', 'advance', 'tomorrow'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      'Error: DURATION must be a duration such as 90s, 5m, 36h, 1d or 1h30m, got "tomorrow". Run `tabwire clock advance --help`.',
    )
    await service.stop()
  })

  test('start --clock accepts only ISO times, and --sign-time only real or virtual', async () => {
    for (const wrong of ['noon', '1969-12-31T23:59:59Z', '12026-01-01']) {
      const { code, stderr } = await tabwire(['start', '--in-memory', '--clock', wrong])
      expect(code).toBe(2)
      expect(stderr).toContain(
        `--clock must be a time from 1970 to 9998, such as 2026-11-21T18:00:00Z, got "${wrong}".`,
      )
    }
    expect(await tabwire(['start', '--sign-time', 'never'])).toMatchObject({ code: 2 })
  })

  test('start --sign-time virtual signs with the time of the service clock', async () => {
    const stamped = await startReceiver()
    const service = await serve({ startAt, allowHttpLoopback: true, signTime: 'virtual' })
    const created = await service.call('POST', '/v1/webhook-endpoints', {
      url: stamped.url,
      event_types: ['check.created'],
    })
    const { id } = (await created.json()) as { id: string }
    await service.call('POST', `/v1/webhook-endpoints/${id}/test`)
    const stamp = /^t=(\d+),/.exec(String(stamped.requests[0]?.headers['x-service-signature']))?.[1]
    expect(new Date(Number(stamp) * 1000).toISOString()).toMatch(/^2026-11-21T18:/)
    await service.stop()
    await stamped.close()
  })
})
