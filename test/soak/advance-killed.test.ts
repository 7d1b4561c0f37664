import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ClockReport, List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Envelope } from '../../src/model/event.ts'
import { retryScheduleMs } from '../../src/model/retry-schedule.ts'
import { checkBody, startService, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

/** A fraction of the count in `npm run soak`. */
const count = process.env.npm_lifecycle_event === 'soak' ? 1000 : 40
const options = ['--allow-http-loopback', '--disable-after', '0']
const ATTEMPTS = retryScheduleMs.length + 1

let receiver: Receiver
beforeAll(async () => void (receiver = await startReceiver({ answer: 500 })))
afterAll(() => receiver.close())

test(`one advance over ${count} retry schedules, with kill -9 in between: no delivery is lost, stuck or early`, async () => {
  const first = await startService(options)
  await first.call('POST', '/_sim/clock', { freeze: true })
  await first.call('POST', '/v1/webhook-endpoints', { url: receiver.url, event_types: ['check.created'] })
  await pushAll(first)
  // Half of the attempts have come by then, and some are on their way.
  const middle = receiver.received((ATTEMPTS * count) / 2)
  const advance = first.call('POST', '/_sim/clock', { advance: '35h' }).catch(() => undefined)
  await middle
  expect(await first.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  await advance

  const second = await startService(options, { cwd: first.cwd })
  // The clock was kept where it was to go: the remaining retries begin there, and need another 35 hours.
  for (const advance of ['35h', '35h']) await second.call('POST', '/_sim/clock', { advance })
  const deliveries = await paginate(second)
  expect(deliveries).toHaveLength(count)
  for (const { status, dead_reason, attempts } of deliveries) {
    expect([status, dead_reason, attempts.length]).toEqual(['dead', 'exhausted', ATTEMPTS])
    const times = attempts.map(({ started_at }) => Date.parse(started_at))
    for (const [retry, wait] of retryScheduleMs.entries())
      expect((times[retry + 1] ?? 0) - (times[retry] ?? 0)).toBeGreaterThanOrEqual(wait)
  }
  expectEveryEvent(deliveries)
  const nothing = (await (await second.call('POST', '/_sim/clock', { advance: '35h' })).json()) as ClockReport
  expect(nothing.attempted_total).toBe(0)
  await second.stop()
}, 60_000)

async function pushAll(service: RunningService): Promise<void> {
  let next = 0
  const pushOn = async () => {
    while (next < count) await service.call('PUT', `/v1/checks/external/check-${next++}`, checkBody())
  }
  await Promise.all(Array.from({ length: 8 }, pushOn))
}

async function paginate(service: RunningService): Promise<Delivery[]> {
  const all: Delivery[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const answer = await service.call('GET', `/_sim/deliveries?limit=100${query}`)
    const page = (await answer.json()) as List<Delivery>
    all.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

/** The receiver has seen every attempt that was recorded, and each event with the same bytes every time. */
function expectEveryEvent(deliveries: readonly Delivery[]): void {
  const bodies = new Map<string, string[]>()
  for (const { body } of receiver.requests) {
    const { id } = JSON.parse(body.toString()) as Envelope
    bodies.set(id, [...(bodies.get(id) ?? []), body.toString()])
  }
  expect(new Set(bodies.keys())).toEqual(new Set(deliveries.map(({ event_id }) => event_id)))
  for (const texts of bodies.values()) {
    expect(texts.length).toBeGreaterThanOrEqual(ATTEMPTS)
    expect(new Set(texts).size).toBe(1)
  }
}
