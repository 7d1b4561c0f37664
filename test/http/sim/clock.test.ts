import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { Stripe } from 'stripe'
import { describe, expect, it } from 'vitest'
import type { ClockReport, ClockView, PlayedAttempt } from '../../../src/client.ts'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { errorOf, openReceiver, openSimulator, temporaryDirectory } from '../../support/simulator.ts'
import type { TestSimulator } from '../../support/simulator.ts'
import type { ValidationIssue } from '../../../src/model/validation.ts'
import { isSoak } from '../../soak/seeded.ts'

const start = '2026-11-21T18:00:00.000Z'
const startAt = new Date(start)
/** So many that their attempts are more than are listed. */
const MANY = isSoak ? 1000 : 200
const minutes = (n: number) => n * 60_000
/** The times of all attempts in milliseconds from the first one (specification section 6, rule 5). */
const schedule = [0, 1, 6, 36, 156, 636, 2076].map(minutes)

/** A service with a frozen clock at `start` and a receiver of new checks. */
async function openFrozen(answer: Parameters<typeof openReceiver>[0], options: SimulatorOptions = {}) {
  const simulator = await openSimulator({ startAt, ...options })
  await simulator.client.clock.freeze(true)
  await simulator.client.clock.moveTo('2026-11-22T00:00:00.000Z')
  const receiver = await openReceiver(answer)
  const endpoint = await simulator.client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created'],
  })
  return { ...simulator, receiver, endpoint }
}

const deliveriesOf = async ({ client }: Pick<TestSimulator, 'client'>) =>
  (await client.deliveries.list({ limit: 100 })).data

function times(attempts: readonly { started_at: string }[], from = attempts[0]?.started_at ?? ''): number[] {
  return attempts.map(({ started_at }) => Date.parse(started_at) - Date.parse(from))
}

async function issuesOf(simulator: TestSimulator, json: unknown): Promise<ValidationIssue[]> {
  const answer = await simulator.call('POST /_sim/clock', { json })
  expect(answer.status).toBe(422)
  return errorOf(answer).issues as ValidationIssue[]
}

describe('the retry schedule', () => {
  it('is seven attempts at exact times, of the same bytes, each with a valid signature, and then dead', async () => {
    const simulator = await openFrozen(500)
    await simulator.push('a')
    const report = await simulator.client.clock.advance('35h')
    const [delivery] = await deliveriesOf(simulator)
    expect(delivery).toMatchObject({ status: 'dead', dead_reason: 'exhausted', next_attempt_at: null })
    expect(times(delivery?.attempts ?? [])).toEqual(schedule)
    const { requests } = simulator.receiver
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1)
    expect(requests).toHaveLength(7)
    for (const { body, headers } of requests) {
      const header = String(headers['x-service-signature'])
      const { id } = Stripe.webhooks.constructEvent(body, header, simulator.endpoint.signing_secret)
      expect(id).toBe(delivery?.event_id)
    }
    expect(report).toMatchObject({ now: '2026-11-23T11:00:00.000Z', frozen: true })
  })

  it('counts from the end of the first attempt, also while the clock runs', async () => {
    const simulator = await openSimulator({ startAt })
    const receiver = await openReceiver(500)
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('a')
    await simulator.idle()
    const next = (await deliveriesOf(simulator))[0]?.next_attempt_at ?? ''
    await simulator.client.clock.advance('35h')
    const [delivery] = await deliveriesOf(simulator)
    expect(delivery).toMatchObject({ status: 'dead' })
    const retries = schedule.slice(1).map((ms) => ms - minutes(1))
    expect(times(delivery?.attempts.slice(1) ?? [], next)).toEqual(retries)
    expect(receiver.requests).toHaveLength(7)
  })

  it('is followed one attempt at a time as far as the clock moves', async () => {
    const simulator = await openFrozen(500)
    const { clock } = simulator.client
    await simulator.push('a')
    await simulator.idle()
    expect((await clock.advance('59s')).attempted).toEqual([])
    expect((await clock.advance('999ms')).attempted).toEqual([])
    expect((await clock.advance('1ms')).attempted).toMatchObject([{ attempt: 2 }])
    expect((await clock.advance('5m')).attempted).toMatchObject([
      { attempt: 3, at: '2026-11-22T00:06:00.000Z' },
    ])
  })

  it('is reported attempt by attempt, with counts of the outcomes', async () => {
    const simulator = await openFrozen([500, 503, 200])
    await simulator.push('a')
    await simulator.idle()
    const report = await simulator.client.clock.advance('1d')
    const [delivery] = await deliveriesOf(simulator)
    const common = {
      delivery_id: delivery?.id,
      event_type: 'check.created',
      endpoint_id: simulator.endpoint.id,
    }
    expect(report).toEqual({
      now: '2026-11-23T00:00:00.000Z',
      frozen: true,
      moving: null,
      offset_ms: expect.any(Number) as number,
      attempted_total: 2,
      outcomes: { bad_status: 1, succeeded: 1 },
      attempted: [
        {
          ...common,
          attempt: 2,
          at: '2026-11-22T00:01:00.000Z',
          outcome: 'bad_status',
          response_status: 503,
          status: 'pending',
        },
        {
          ...common,
          attempt: 3,
          at: '2026-11-22T00:06:00.000Z',
          outcome: 'succeeded',
          response_status: 200,
          status: 'delivered',
        },
      ],
    })
  })

  it(`of ${MANY} concurrent deliveries is completed, and the first thousand attempts are listed`, async () => {
    const simulator = await openFrozen(500, { disableAfter: 0 })
    const names = Array.from({ length: MANY }, (_, index) => `check-${index}`)
    // Not a thousand connections at once: on a busy machine some of them are not served within their time.
    for (let pushed = 0; pushed < names.length; pushed += 50)
      await Promise.all(names.slice(pushed, pushed + 50).map((name) => simulator.push(name)))
    await simulator.idle()
    const report = await simulator.client.clock.advance('35h')
    expect(report.attempted_total).toBe(6 * MANY)
    expect(report.attempted).toHaveLength(1000)
    expect(report.outcomes).toEqual({ bad_status: 6 * MANY })
    expect(simulator.receiver.requests).toHaveLength(7 * MANY)
    const { data } = await simulator.client.deliveries.list({ status: 'dead', limit: 100 })
    expect(data).toHaveLength(100)
    for (const { attempts } of data) expect(times(attempts)).toEqual(schedule)
    expect((await simulator.client.deliveries.list({ status: 'pending' })).data).toEqual([])
  }, 120_000)

  it('signs with real time, or with the clock’s time when configured', async () => {
    const stamps = async (signTime: 'real' | 'virtual') => {
      const simulator = await openFrozen(500, { signTime })
      await simulator.push('a')
      await simulator.client.clock.advance('6m')
      return simulator.receiver.requests.map(({ headers }) =>
        Number(/^t=(\d+),/.exec(String(headers['x-service-signature']))?.[1]),
      )
    }
    const first = Date.parse('2026-11-22T00:00:00.000Z') / 1000
    expect(await stamps('virtual')).toEqual([first, first + 60, first + 360])
    const before = Math.floor(Date.now() / 1000)
    for (const stamp of await stamps('real')) {
      expect(stamp).toBeGreaterThanOrEqual(before)
      expect(stamp).toBeLessThanOrEqual(Date.now() / 1000)
    }
  })
})

describe('while the clock moves', () => {
  it('new deliveries are attempted too, at the clock’s current time', async () => {
    const pushes: Promise<unknown>[] = []
    const simulator = await openFrozen((response, _received, index) => {
      if (index !== 2) return void response.writeHead(500).end()
      // The third attempt of the first delivery: the receiver has another check pushed before it answers.
      pushes.push(simulator.push('b').finally(() => response.writeHead(500).end()))
    })
    await simulator.push('a')
    await simulator.client.clock.advance('35h')
    await Promise.all(pushes)
    const [second, first] = await deliveriesOf(simulator)
    expect(first).toMatchObject({ status: 'dead', external_check_id: 'a' })
    expect(times(first?.attempts ?? [])).toEqual(schedule)
    expect(second).toMatchObject({ status: 'dead', external_check_id: 'b' })
    expect(times(second?.attempts ?? [], first?.attempts[0]?.started_at)).toEqual(
      schedule.map((ms) => ms + minutes(6)),
    )
  })

  it('an endpoint that is removed gets nothing more, and its deliveries are dead', async () => {
    const removals: Promise<unknown>[] = []
    const simulator = await openFrozen((response, _received, index) => {
      const answer = () => response.writeHead(500).end()
      if (index !== 2) return void answer()
      removals.push(simulator.client.endpoints.delete(simulator.endpoint.id).finally(answer))
    })
    await simulator.push('a')
    await simulator.client.clock.advance('35h')
    await Promise.all(removals)
    expect(simulator.receiver.requests).toHaveLength(3)
    expect((await deliveriesOf(simulator))[0]).toMatchObject({
      status: 'dead',
      dead_reason: 'endpoint_disabled',
    })
  })

  it('an endpoint that is disabled by its failures gets nothing more', async () => {
    const simulator = await openFrozen(500, { disableAfter: 2 })
    await simulator.push('a')
    await simulator.idle()
    await simulator.client.clock.advance('2m')
    await simulator.push('b')
    const report = await simulator.client.clock.advance('35h')
    expect(report.attempted_total).toBeLessThanOrEqual(1)
    expect(simulator.receiver.requests).toHaveLength(3)
    for (const delivery of await deliveriesOf(simulator))
      expect(delivery).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled' })
  })

  it('another move waits for its end', async () => {
    const simulator = await openFrozen(500)
    const { clock } = simulator.client
    await simulator.push('a')
    await simulator.idle()
    const [one, two, shown] = await Promise.all([
      clock.advance('1m'),
      clock.advance('5m'),
      clock.freeze(false),
    ])
    const both = [one, two].sort((a, b) => a.now.localeCompare(b.now))
    expect(both.flatMap(({ attempted }) => attempted).map(({ attempt }) => attempt)).toEqual([2, 3])
    // The clock runs from here on: the duration of the call adds to the six minutes.
    expect(both[1]?.now.slice(0, 'YYYY-MM-DDThh:mm'.length)).toBe('2026-11-22T00:06')
    expect(shown.frozen).toBe(false)
  })

  it('the service can be closed: the move is refused, and the clock keeps its time', async () => {
    const simulator = await openFrozen((response, _received, index) => {
      if (index < 2) response.writeHead(500).end()
      else void simulator.close().catch(() => undefined)
    })
    await simulator.push('a')
    const refused = simulator.client.clock.advance('35h').catch((error: unknown) => error)
    await simulator.receiver.received(3)
    expect(await refused).toMatchObject({ status: 503, code: 'shutting_down' })
  })
})

describe('the order of attempts', () => {
  it('is the order of their due times, whatever is pushed when', async () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 10_000_000 }),
      pushes: fc.integer({ min: 0, max: 3 }),
    })
    const statuses = fc.array(fc.constantFrom(200, 500), { minLength: 1, maxLength: 12 })
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 6 }),
      statuses,
      async (steps, answers) => {
        const simulator = await openFrozen(
          (response, _received, index) =>
            void response.writeHead(answers[index % answers.length] ?? 200).end(),
          { disableAfter: 0 },
        )
        const attempted: PlayedAttempt[] = []
        const advance = async (duration: string) =>
          attempted.push(...(await simulator.client.clock.advance(duration)).attempted)
        for (const [index, { wait, pushes }] of steps.entries()) {
          for (let made = 0; made < pushes; made++) await simulator.push(`check-${index}-${made}`)
          await advance(`${wait}ms`)
        }
        await advance('40h')
        const at = attempted.map((attempt) => attempt.at)
        expect(at).toEqual(at.toSorted())
        for (const delivery of await deliveriesOf(simulator)) {
          expect(delivery.status).not.toBe('pending')
          expect(times(delivery.attempts)).toEqual(schedule.slice(0, delivery.attempts.length))
        }
        await simulator.close()
      },
    )
    await fc.assert(property, { numRuns: isSoak ? 15 : 6 })
  }, 60_000)
})

describe('GET and POST /_sim/clock', () => {
  it('show the time and its offset from real time', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.call('GET /_sim/clock')
    expect(answer).toMatchObject({ status: 200, json: { frozen: false, offset_ms: 0 } })
    const moved = await simulator.client.clock.advance('1h30m')
    expect(moved).toMatchObject({ attempted: [], attempted_total: 0, outcomes: {} })
    expect((await simulator.client.clock.show()).offset_ms).toBeGreaterThan(minutes(89))
  })

  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['5m', minutes(5)],
    ['36h', minutes(36 * 60)],
    ['1d', minutes(24 * 60)],
    ['1h30m', minutes(90)],
    ['2d3h4m5s6ms', 183_845_006],
    ['5m5ms', 300_005],
    ['0s', 0],
  ])('advance by %s', async (advance, ms) => {
    const simulator = await openSimulator({ startAt })
    const { now } = await simulator.client.clock.freeze(true)
    const report = await simulator.client.clock.advance(advance)
    expect(Date.parse(report.now) - Date.parse(now)).toBe(ms)
  })

  it.each([
    '',
    '5',
    '5 m',
    '-5m',
    '1.5h',
    '5M',
    '30m1h',
    '1h1h',
    'm',
    '5m ',
    'P1D',
    '9999999999999s',
    5,
    null,
    {},
  ])('refuse to advance by %j', async (advance) => {
    const simulator = await openSimulator()
    expect(await issuesOf(simulator, { advance })).toEqual([
      { path: 'advance', message: 'must be a duration such as 90s, 5m, 36h, 1d, 1h30m or 500ms' },
    ])
  })

  it.each<{ body: unknown }>(
    [{}, [], null, 'advance', { advance: '5m', freeze: true }, { back: '5m' }, { toString: '5m' }].map(
      (body) => ({ body }),
    ),
  )('refuse the body $body', async ({ body }) => {
    const simulator = await openSimulator()
    const [issue] = await issuesOf(simulator, body)
    expect(issue?.path).toBe('body')
    expect(issue?.message).toContain('exactly one of the fields advance, to and freeze')
  })

  it.each(['tomorrow', '2026-11-21', '2026-11-21T18:00:00', '2026-13-01T00:00:00Z', 0])(
    'refuse to move to %j',
    async (to) => {
      const simulator = await openSimulator()
      expect(await issuesOf(simulator, { to })).toMatchObject([{ path: 'to' }])
    },
  )

  it('refuse to move to a day that no calendar has, and move nothing', async () => {
    const simulator = await openSimulator({ startAt })
    const before = await simulator.client.clock.freeze(true)
    expect(await issuesOf(simulator, { to: '2027-02-30T00:00:00Z' })).toMatchObject([{ path: 'to' }])
    expect(await simulator.client.clock.show()).toMatchObject({ now: before.now, moving: null })
  })

  it('refuse to freeze with anything but true and false', async () => {
    const simulator = await openSimulator()
    expect(await issuesOf(simulator, { freeze: 'yes' })).toMatchObject([{ path: 'freeze' }])
  })

  it('move to a time in any zone, never into the past, and not beyond the year 9998', async () => {
    const simulator = await openSimulator({ startAt })
    const { clock } = simulator.client
    await clock.freeze(true)
    expect(await clock.moveTo('2026-11-22T01:00:00+01:00')).toMatchObject({ now: '2026-11-22T00:00:00.000Z' })
    expect(await clock.moveTo('2026-11-22T00:00:00.000Z')).toMatchObject({ attempted: [] })
    const [issue] = await issuesOf(simulator, { to: '2026-11-21T23:59:59.999Z' })
    expect(issue).toMatchObject({ path: 'to', message: expect.stringContaining('in the past') as string })
    for (const to of ['9999-12-31T00:00:00Z', '9999-01-01T00:00:00Z'])
      expect(await issuesOf(simulator, { to })).toMatchObject([{ path: 'to' }])
    expect(await issuesOf(simulator, { advance: '999999999999d' })).toMatchObject([{ path: 'advance' }])
    expect(await clock.show()).toMatchObject({ now: '2026-11-22T00:00:00.000Z' })
  })

  it('make the clock date new records', async () => {
    const simulator = await openFrozen(200)
    await simulator.push('a')
    const [check] = (await simulator.client.checks.list()).data
    expect(check?.created_at).toBe('2026-11-22T00:00:00.000Z')
  })

  it('need the scope simulate', async () => {
    const simulator = await openSimulator()
    const key = await simulator.key(['read', 'write'])
    for (const method of ['GET', 'POST'])
      expect((await simulator.call(`${method} /_sim/clock`, { key })).status).toBe(403)
  })

  it('are missing for a clock that the caller provides', async () => {
    const simulator = await openSimulator({ clock: createManualClock() })
    const answer = await simulator.call('GET /_sim/clock')
    expect(answer.status).toBe(404)
    expect(errorOf(answer).message).toContain('cannot be moved')
  })
})

describe('the clock of a data directory', () => {
  /** Starts, acts and stops; resolves with the notices at start. */
  async function run<T>(options: SimulatorOptions, act: (simulator: TestSimulator) => Promise<T>) {
    const notices: string[] = []
    const simulator = await openSimulator({ ...options, onNotice: (notice) => notices.push(notice) })
    const result = await act(simulator)
    await simulator.close()
    return { notices, result }
  }
  const show = async ({ client }: TestSimulator): Promise<ClockView> => client.clock.show()

  it('continues where it stopped, and due deliveries are attempted', async () => {
    const dataDirectory = await temporaryDirectory()
    const receiver = await openReceiver(500)
    const advanced = await run({ dataDirectory }, async ({ client, push, idle }): Promise<ClockReport> => {
      await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
      await push('a')
      await idle()
      return client.clock.advance('3h')
    })
    const again = await run({ dataDirectory }, show)
    expect(again.result.now >= advanced.result.now).toBe(true)
    expect(again.notices.join()).toMatch(
      /^The clock continues at [^ ]+Z: it keeps its offset from real time\.$/,
    )
    const after = await run({ dataDirectory }, async (simulator): Promise<Delivery[]> => {
      await simulator.client.clock.advance('8h')
      return deliveriesOf(simulator)
    })
    expect(after.result[0]?.attempts).toHaveLength(6)
  })

  it('stays frozen at its time, until it runs or starts at a requested time', async () => {
    const dataDirectory = await temporaryDirectory()
    await run({ dataDirectory }, async ({ client }) => {
      await client.clock.advance('3h')
      await client.clock.freeze(true)
      await client.clock.advance('1h')
    })
    const frozen = await run({ dataDirectory }, show)
    const again = await run({ dataDirectory }, async (simulator) => {
      const shown = await show(simulator)
      await simulator.client.clock.freeze(false)
      return shown
    })
    const { now } = frozen.result
    expect([frozen, again].map(({ notices, result }) => [...notices, result.frozen, result.now])).toEqual(
      [1, 2].map(() => [
        `The clock is still frozen at ${now}. Let it run with: tabwire clock freeze --off`,
        true,
        now,
      ]),
    )
    const running = await run({ dataDirectory }, show)
    expect(running.result.frozen).toBe(false)
    expect(running.result.now >= now).toBe(true)
    expect(running.notices.join()).toContain('it keeps its offset from real time')
    await run({ dataDirectory }, ({ client }) => client.clock.freeze(true))
    const requested = await run({ dataDirectory, startAt: new Date('2100-01-01T00:00:00Z') }, show)
    expect(requested.result).toMatchObject({ frozen: false })
    expect(requested.result.now.slice(0, 16)).toBe('2100-01-01T00:00')
  })

  it.each([
    [7_200_000, /^The clock continues at /],
    [0, /^$/],
  ])('opens with the file of an earlier version, %i ms ahead', async (offset_ms, told) => {
    const dataDirectory = await temporaryDirectory()
    await writeFile(join(dataDirectory, 'clock.json'), `{"offset_ms":${offset_ms}}\n`)
    const { notices, result } = await run({ dataDirectory }, show)
    expect(notices.join()).toMatch(told)
    expect(result).toMatchObject({ frozen: false, offset_ms })
  })

  it.each([
    ['{"offset_ms":7200000,"zone":"UTC"}\n', 'it is damaged, or a newer version wrote it'],
    ['', 'it is damaged, or a newer version wrote it'],
    [undefined, '(EISDIR)'],
  ])('starts as without the file when its file is %j, and says so', async (text, reason) => {
    const dataDirectory = await temporaryDirectory()
    const path = join(dataDirectory, 'clock.json')
    await (text === undefined ? mkdir(path) : writeFile(path, text))
    const { notices, result } = await run({ dataDirectory }, show)
    expect(result).toMatchObject({ frozen: false, offset_ms: 0 })
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('clock.json')
    expect(notices[0]).toContain(reason)
    expect(notices[0]).toMatch(/The clock starts at [^ ]+Z, as without the file\. .+--clock\.$/)
    if (text === undefined) return
    expect(await readFile(path, 'utf8')).toBe(text)
    const requested = await run({ dataDirectory, startAt }, show)
    expect(requested.notices.join()).toContain(reason)
    expect(requested.result.now.slice(0, 16)).toBe(start.slice(0, 16))
  })

  it('starts at the requested time, but never before earlier records', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await run({ dataDirectory, startAt }, show)
    expect(first.notices).toEqual([])
    expect(first.result.now.slice(0, 16)).toBe(start.slice(0, 16))
    const back = await run({ dataDirectory, startAt: new Date('2020-01-01T00:00:00Z') }, show)
    expect(back.result.now >= first.result.now).toBe(true)
    expect(back.notices.join()).toContain('it never moves back')
  })

  it('never starts before the newest event, also when it was never moved', async () => {
    const dataDirectory = await temporaryDirectory()
    const receiver = await openReceiver()
    await run({ dataDirectory }, async ({ client, push }) => {
      await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
      await push('a')
    })
    const { notices } = await run({ dataDirectory, startAt: new Date('2001-01-01T00:00:00Z') }, show)
    expect(notices.join()).toContain('it never moves back')
  })
})
