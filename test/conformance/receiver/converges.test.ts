import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { stateCheck } from '../../../src/cli/conformance/receiver.ts'
import { converges } from '../../../src/conformance/receiver/convergence/judge.ts'
import type { ConformanceReport } from '../../../src/conformance/report.ts'
import type { ReceiverCase } from '../../../src/conformance/receiver/case.ts'
import type { EventType } from '../../../src/model/event.ts'
import { startReceiver, type Answer, type Handle, type Receiver } from '../../support/https-receiver.ts'
import { isSoak } from '../../soak/seeded.ts'
import { examine, secret, startReference } from './check.ts'
import { verify } from '../../../src/signature/index.ts'

const folder = fileURLToPath(new URL('./strangers/', import.meta.url))

/** The cases about duplicates and order. Receivers of this file that verify nothing cannot be judged by forged deliveries. */
const ofOrder: readonly ReceiverCase[] = converges.filter(({ id }) => id !== 'ignores_forged')

/** Shorter than for users, whose receivers may be further away. The soak tries as many sequences on each machine. */
const waits = isSoak
  ? ({ quietMs: [300, 1_500], limitMs: 4_000, searchMs: 6_000, sequences: 12 } as const)
  : ({ quietMs: [300, 1_500], limitMs: 4_000, searchMs: 400, sequences: 2 } as const)

function judge(
  receiver: string,
  view: string,
  {
    seed = 1,
    headers = [] as string[],
    signal = new AbortController().signal,
    change = {},
    events = undefined as readonly EventType[] | undefined,
    ignore = undefined as string[] | undefined,
    cases = ofOrder,
  } = {},
) {
  const asked = { 'state-url': view, 'state-header': headers, 'state-ignore': ignore, seed }
  const state = stateCheck(asked, { ca: [], insecure: false })
  return examine(receiver, {
    cases,
    state: state && { ...state, waits: { ...waits, ...change } },
    signal,
    events,
  })
}

/** Judges a program of `strangers`, which shows its state at the path. */
async function judged(
  name: string,
  path: string,
  { env = {}, seed = 1, cases = ofOrder } = {},
): Promise<ConformanceReport> {
  const { url, running } = await startReference([process.execPath, `${folder}${name}.mjs`], { env })
  try {
    return await judge(url, url + path, { seed, cases })
  } finally {
    running.child.kill('SIGKILL')
    await running.ended
  }
}

/** Judges a receiver that accepts everything and shows what `show` returns. */
async function judgedView(show: (events: readonly string[]) => [status: number, body: string]) {
  const events: string[] = []
  const answer: Handle = (response, { method, body }) => {
    if (method !== 'GET') {
      events.push(body.toString())
      return response.writeHead(204).end()
    }
    const [status, text] = show(events)
    return response.writeHead(status).end(text)
  }
  return withReceiver(answer, ({ url }) => judge(url, `${url}view/{check_id}?token=hidden`))
}

async function withReceiver<T>(answer: Answer, use: (receiver: Receiver) => Promise<T>): Promise<T> {
  const receiver = await startReceiver({ answer })
  try {
    return await use(receiver)
  } finally {
    await receiver.close()
  }
}

function ofConverges(cases: ConformanceReport['cases']) {
  return cases.filter(({ group }) => group === 'converges')
}

function results({ cases }: ConformanceReport) {
  return Object.fromEntries(ofConverges(cases).map(({ id, verdict }) => [id, verdict]))
}

function detailOf({ cases }: ConformanceReport, id: string): string {
  return cases.find((one) => one.id === id)?.detail ?? ''
}

function details({ cases }: ConformanceReport): string {
  return ofConverges(cases)
    .map(({ detail }) => detail)
    .join('\n')
}

const [BY_EXTERNAL_ID, BY_ID, ALL] = ['checks/{external_check_id}', 'tabs/{check_id}', 'all']

/** Right receivers, and where they show their state. */
const right: Record<string, string> = {
  asynchronous: BY_EXTERNAL_ID,
  'asks-for-later-attempts': BY_EXTERNAL_ID,
  batches: BY_ID,
  'by-table': ALL,
  'counts-deliveries': BY_EXTERNAL_ID,
  'keeps-all-states': BY_EXTERNAL_ID,
  ledger: ALL,
  'list-of-all': ALL,
  'marks-removed-items': BY_EXTERNAL_ID,
  'newest-by-created-at': BY_ID,
  'newest-by-updated-at': BY_EXTERNAL_ID,
  'one-transaction-at-a-time': BY_EXTERNAL_ID,
  'plain-text': BY_EXTERNAL_ID,
  'refuses-what-it-knows': BY_ID,
  'revenue-alone': ALL,
  'row-numbers-and-times': BY_EXTERNAL_ID,
  'waits-for-the-first': BY_EXTERNAL_ID,
  'web-page': ALL,
  'worker-pool': BY_EXTERNAL_ID,
}

interface Mistake {
  path: string
  /** The cases that fail. */
  fails: string[]
  advice: RegExp
}

const deduplication = (path: string): Mistake => ({
  path,
  fails: ['deduplicates'],
  advice: /Deduplication is missing\. Store the envelope id/,
})
const ordering = (path: string, advice = /Ordering is missing: keep the state with the newest/): Mistake => ({
  path,
  fails: ['orders'],
  advice,
})

const acrossBoundary = (boundary: string): Mistake =>
  ordering(
    BY_EXTERNAL_ID,
    new RegExp(
      `^A newer state is ignored when ${boundary} lies between it and the older one\\. .* Compare updated_at as a time, or`,
    ),
  )

const forgetting: Mistake = {
  path: BY_EXTERNAL_ID,
  fails: ['deduplicates'],
  advice:
    /^Events that were repeated after \d+ other deliveries and \d+ s change the state\. paid: \d+ before, \d+ after.*for at least 35 hours/,
}

const wrong: Record<string, Mistake> = {
  'adds-every-payment': deduplication(BY_EXTERNAL_ID),
  'appends-items': deduplication(ALL),
  'asynchronous-last-wins': ordering(BY_EXTERNAL_ID),
  'checks-then-stores': {
    path: BY_EXTERNAL_ID,
    fails: ['deduplicates'],
    advice:
      /^Two deliveries of one event at the same time change the state\. paid_by_card: \d+ one after the other, \d+ at the same time.*unique constraint/,
  },
  'compares-american-dates': acrossBoundary('the end of a year'),
  'compares-german-dates': acrossBoundary('the end of a year'),
  'compares-seconds': ordering(BY_EXTERNAL_ID),
  'compares-time-of-day': acrossBoundary('the end of a year'),
  'compares-twelve-hours': acrossBoundary('13:00'),
  'counts-every-payment': deduplication(BY_EXTERNAL_ID),
  'deduplicates-by-created-at': ordering(
    BY_EXTERNAL_ID,
    /Deduplicate only on the envelope id, because several events share one created_at/,
  ),
  'deduplicates-by-header': deduplication(BY_EXTERNAL_ID),
  'deduplicates-by-type': ordering(
    BY_EXTERNAL_ID,
    /Deduplicate only on the envelope id, not on type or check/,
  ),
  'drops-early-payments': ordering(
    BY_EXTERNAL_ID,
    /The receiver ignores payment\.succeeded of a check that it does not know yet\. Store the payment/,
  ),
  'drops-unknown-checks': ordering(
    BY_EXTERNAL_ID,
    /The receiver ignores check\.updated of a check that it does not know yet\. Create the check from its data/,
  ),
  'first-arrival-stays': ordering(BY_EXTERNAL_ID, /Ordering is missing: the second delivery was ignored/),
  'goes-on-after-rejecting': {
    path: BY_EXTERNAL_ID,
    fails: ['ignores_forged'],
    advice:
      /^Forged deliveries change the state, although the receiver rejects them\. .* without them, .* after them.* Stop after the rejection, for example with return\./,
  },
  'forgets-after-a-second': forgetting,
  'forgets-both': { path: ALL, fails: ['deduplicates', 'orders'], advice: /is missing/ },
  'ignores-the-same-second': ordering(
    BY_EXTERNAL_ID,
    /The second delivery was ignored\..* Keep the newer updated_at, compared with its milliseconds\./,
  ),
  'keeps-removed-items': ordering(
    BY_EXTERNAL_ID,
    /^After all events of a check in order, items\[\] has an item that the newest state lacks: .*\{line 2\}.* Replace all items/,
  ),
  'last-arrival-wins': ordering(BY_EXTERNAL_ID),
  'last-refund-wins': ordering(
    BY_EXTERNAL_ID,
    /keep the newest state of each payment, by the created_at of the envelope/,
  ),
  'loses-payments-to-older-states': ordering(
    BY_EXTERNAL_ID,
    /The receiver loses payment\.succeeded when an older check\.updated arrives after it/,
  ),
  'one-clock-for-all': ordering(BY_EXTERNAL_ID, /the newest updated_at per check/),
  'one-clock-per-check': ordering(
    BY_EXTERNAL_ID,
    /The receiver ignores check\.updated after a newer payment\.succeeded\. Compare the times of checks and of payments separately/,
  ),
  'one-payment': ordering(BY_EXTERNAL_ID, /keep each payment under its own id/),
  'page-counts-twice': deduplication(ALL),
  'remembers-a-hundred-events': forgetting,
  'remembers-one-event': deduplication(BY_EXTERNAL_ID),
  'revenue-counts-twice': deduplication(ALL),
  'status-of-the-last': ordering(ALL),
  upserts: ordering(BY_ID),
  'writes-whole-records': {
    path: BY_EXTERNAL_ID,
    fails: ['orders'],
    advice:
      /^Events at the same time change the state\. .* Read and write the state of a check in one transaction/,
  },
}

/** Judges a receiver of `keep`, which keeps something of each event of a check, and shows the result of `show`. */
async function judgedState<T>(
  keep: (kept: T | undefined, event: Event) => T | undefined,
  show: (kept: T) => unknown,
  change: { searchMs?: number } = {},
  events?: readonly EventType[],
  ignore?: string[],
) {
  const states = new Map<string, T>()
  const answer: Handle = (response, { method, url, body }) => {
    if (method === 'GET') {
      const kept = states.get(url.split('/').at(-1) ?? '')
      if (kept === undefined) return response.writeHead(404).end()
      const shown = show(kept)
      return response.end(typeof shown === 'string' ? shown : JSON.stringify(shown))
    }
    const event = JSON.parse(body.toString()) as Event
    const id = event.type.startsWith('payment.') ? event.data.check_id : event.data.id
    const kept = id === undefined ? undefined : keep(states.get(id), event)
    if (id !== undefined && kept !== undefined) states.set(id, kept)
    return response.writeHead(204).end()
  }
  return withReceiver(answer, ({ url }) => judge(url, `${url}{check_id}`, { change, events, ignore }))
}

interface Event {
  id: string
  type: string
  created_at: string
  data: {
    id?: string
    check_id?: string
    status: string
    updated_at: string
    balance_cents: number
    amount_cents: number
    refunded_cents: number
  }
}

/** A receiver of payments alone, which keeps one state of each; `isKept` decides whether that stays. */
function judgedPayments(isKept: (kept: Event, event: Event) => boolean) {
  const keep = (payments: Record<string, Event> = {}, event: Event) => {
    if (!event.type.startsWith('payment.')) return payments
    const { id = '' } = event.data
    const kept = payments[id]
    return kept !== undefined && isKept(kept, event) ? payments : { ...payments, [id]: event }
  }
  return judgedState(keep, (payments) =>
    Object.values(payments)
      .map(({ data: { id, status, refunded_cents } }) => ({ id, status, refunded_cents }))
      .sort((one, other) => one.refunded_cents - other.refunded_cents),
  )
}

describe.concurrent('a refund that comes before its payment', { timeout: 180_000 }, () => {
  test.runIf(isSoak)('is lost by a receiver that keeps the payment that came last', async () => {
    const report = await judgedPayments(() => false)
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'failed' })
    expect(detailOf(report, 'orders')).toMatch(
      /\[\d+ payment\.succeeded, \d+ payment\.refunded\] and .* keep the newest state of each payment, by the created_at of the envelope\./,
    )
  })

  const orders: [by: string, isKept: (kept: Event, event: Event) => boolean][] = [
    ['the time of the envelope', (kept, event) => kept.created_at > event.created_at],
    ['the refunded amount', ({ data: kept }, { data }) => kept.refunded_cents > data.refunded_cents],
  ]
  test.each(isSoak ? orders : orders.slice(0, 1))(
    'is kept by a receiver that compares %s',
    async (_by, isKept) => {
      const report = await judgedPayments(isKept)
      expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
    },
  )

  test.runIf(isSoak)('is counted by a receiver that books amounts', async () => {
    const book = (kept: { ids: string[]; paid: number } | undefined, { id, type, data }: Event) => {
      const { ids, paid } = kept ?? { ids: [], paid: 0 }
      if (!type.startsWith('payment.') || ids.includes(id)) return { ids, paid }
      const amount = type === 'payment.succeeded' ? data.amount_cents : -data.refunded_cents
      return { ids: [...ids, id], paid: paid + amount }
    }
    const report = await judgedState(book, ({ paid }) => ({ paid }))
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
  })
})

describe.concurrent('with --events', { timeout: 180_000 }, () => {
  /** Keeps each record as it last arrived, and returns the types of the events that came. */
  async function judgedRows(events: readonly EventType[]) {
    const types = new Set<string>()
    const keep = (rows: Record<string, Event['data']> = {}, { type, data }: Event) => {
      types.add(type)
      return { ...rows, [data.id ?? '']: data }
    }
    return { report: await judgedState(keep, (rows) => Object.values(rows), {}, events), types }
  }

  test('a receiver of payments that keeps each as it last arrived passes, and gets no other events', async () => {
    const { report, types } = await judgedRows(['payment.succeeded'])
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
    expect([...types]).toEqual(['payment.succeeded'])
  })

  test('a receiver of one event for each check is not checked', async () => {
    const { report, types } = await judgedRows(['check.closed'])
    expect(results(report)).toEqual({ deduplicates: 'not_checked', orders: 'not_checked' })
    expect(detailOf(report, 'orders')).toContain('at most one event for each check')
    expect([...types]).toEqual(['check.closed'])
  })

  const isOlder = (before: Event | undefined, event: Event) =>
    before !== undefined && before.created_at > event.created_at

  test('a receiver that shows no status while it knows only a payment passes', async () => {
    interface Kept {
      check?: Event | undefined
      payments: Record<string, unknown>
    }
    const keep = (kept: Kept = { payments: {} }, event: Event): Kept =>
      event.type.startsWith('payment.')
        ? { ...kept, payments: { ...kept.payments, [event.data.id ?? '']: event.data } }
        : { ...kept, check: isOlder(kept.check, event) ? kept.check : event }
    const show = ({ check, payments }: Kept) => ({
      status: check?.data.status ?? null,
      updated_at: check?.data.updated_at ?? null,
      payments,
    })
    const report = await judgedState(keep, show, {}, ['check.created', 'check.updated', 'payment.succeeded'])
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
  })

  test('a receiver of check.updated that counts deliveries passes', async () => {
    const keep = (kept: { event?: Event | undefined; count: number } = { count: 0 }, event: Event) => ({
      event: isOlder(kept.event, event) ? kept.event : event,
      count: kept.count + 1,
    })
    const show = ({ event, count }: { event?: Event | undefined; count: number }) => ({
      count,
      check: event?.data,
    })
    const report = await judgedState(keep, show, {}, ['check.updated'])
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
  })

  test('a receiver of two last events that keeps the last arrival fails', async () => {
    const { report } = await judgedRows(['check.fully_paid', 'check.closed'])
    expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'failed' })
  })
})

describe.concurrent('a receiver that shows a log of its deliveries', { timeout: 180_000 }, () => {
  interface Kept {
    event: Event
    log: { text: string }[]
  }
  const keep = (kept: Kept | undefined, event: Event): Kept => {
    const isNewer = event.type.startsWith('check.') && !(kept && kept.event.created_at > event.created_at)
    const log = [...(kept?.log ?? []), { text: `${event.type} in place ${kept?.log.length ?? 0}` }]
    return { event: isNewer || kept === undefined ? event : kept.event, log }
  }
  const show = ({ event, log }: Kept) => ({ status: event.data.status, log })
  const judgedLog = (ignore?: string[]) =>
    judgedState(keep, show, {}, ['check.created', 'check.updated', 'check.closed'], ignore)

  test.runIf(isSoak)('fails with the log', async () => {
    expect(results(await judgedLog())).toMatchObject({ deduplicates: 'failed' })
  })

  test('passes when the log is ignored', async () => {
    const report = await judgedLog(['log[].text'])
    expect(results(report)).toMatchObject({ deduplicates: 'failed' })
    const without = await judgedLog(['log'])
    expect(results(without), details(without)).toEqual({ deduplicates: 'passed', orders: 'passed' })
  })

  test('is not judged when no field has the name', async () => {
    const report = await judgedLog(['logs'])
    expect(results(report)).toEqual({ deduplicates: 'error', orders: 'error' })
    expect(detailOf(report, 'orders')).toBe(
      'The response of --state-url has no logs, which --state-ignore names.',
    )
  })
})

describe.concurrent('the state after the newest event must show', { timeout: 180_000 }, () => {
  const isCheck = ({ type }: Event) => type.startsWith('check.')
  const newest = (kept: Event | undefined, event: Event) =>
    !isCheck(event) || (kept && kept.data.updated_at > event.data.updated_at) ? kept : event

  const withMinutes = ({ data: { id, status, updated_at } }: Event) => ({
    id,
    status,
    as_of: updated_at.slice(11, 16),
  })

  test.runIf(isSoak)(
    'a receiver that shows a time without seconds, and keeps the older state, fails',
    async () => {
      const report = await judgedState(
        (kept: Event | undefined, event: Event) => (isCheck(event) ? event : kept),
        withMinutes,
      )
      expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'failed' })
    },
  )

  test.runIf(isSoak)('a receiver that keeps the oldest state fails', async () => {
    const report = await judged('wrong/keeps-the-oldest', BY_EXTERNAL_ID)
    expect(results(report)).toEqual({ deduplicates: 'passed', orders: 'failed' })
    expect(detailOf(report, 'orders')).toMatch(
      /^After all events of a check in order, status is as after its first event: "open"\. The newest event alone gives "closed"\. Ordering is missing: keep the state with the newest/,
    )
  })

  test.runIf(isSoak).each(['json', 'text'])(
    'a receiver that applies only check.created is not checked: %s',
    async (kind) => {
      const created = (kept: Event | undefined, event: Event) =>
        event.type === 'check.created' ? event : kept
      const report = await judgedState(created, ({ data }) =>
        kind === 'json' ? data : `${data.status}, ${data.balance_cents} due`,
      )
      expect(results(report)).toEqual({ deduplicates: 'passed', orders: 'not_checked' })
      expect(detailOf(report, 'orders')).toMatch(/^Not checked: newer states of a check do not appear/)
    },
  )

  test('a view that shows no state of the check is not checked', async () => {
    const last = (_kept: Event | undefined, event: Event) => (event.type.startsWith('check.') ? event : _kept)
    const report = await judgedState(last, ({ data }) => ({ id: data.id }))
    expect(results(report)).toEqual({ deduplicates: 'passed', orders: 'not_checked' })
    expect(detailOf(report, 'orders')).toMatch(
      /^Not checked: the response of --state-url is the same after each event of a check\./,
    )
  })

  test.runIf(isSoak)('a view of the first ten checks is an error', async () => {
    const checks = new Map<string, Event['data']>()
    const answer: Handle = (response, { method, body }) => {
      if (method === 'GET') return response.end(JSON.stringify([...checks.values()].slice(0, 10)))
      const { type, data } = JSON.parse(body.toString()) as Event
      if (type.startsWith('check.')) checks.set(data.id ?? '', data)
      return response.writeHead(204).end()
    }
    const report = await withReceiver(answer, ({ url }) => judge(url, url))
    expect(results(report)).toMatchObject({ orders: 'error' })
    expect(detailOf(report, 'orders')).toContain('It may be one page of a list.')
  })

  const views: [shown: string, show: (event: Event) => unknown][] = [
    ['whether it is paid', ({ data }) => ({ id: data.id, paid: data.balance_cents === 0 })],
    ['its status as text', ({ data }) => data.status],
    ['its last event', ({ id }) => ({ last: id })],
    ['its status and a time without seconds', withMinutes],
  ]
  test.each(isSoak ? views : views.slice(0, 1))(
    'a right receiver passes that shows only %s',
    async (_shown, show) => {
      const report = await judgedState(newest, show)
      expect(results(report), details(report)).toEqual({ deduplicates: 'passed', orders: 'passed' })
    },
  )

  test.runIf(isSoak)(
    'no verdict is given when all fields of the state differ between identical runs',
    async () => {
      const report = await judgedState(newest, ({ data }) => ({ id: data.id, status: Math.random() }))
      expect(results(report)).toEqual({ deduplicates: 'error', orders: 'error' })
      expect(detailOf(report, 'orders')).toMatch(
        /^The state after identical deliveries differs at status\. No other field/,
      )
    },
  )

  test.runIf(isSoak)(
    'no verdict is given when one field of the state differs between identical runs',
    async () => {
      const counted = (kept: { count: number; event: Event } | undefined, event: Event) => {
        const state = newest(kept?.event, event)
        return state && { count: (kept?.count ?? 0) + 1, event: state }
      }
      const report = await judgedState(counted, ({ count, event: { data } }) => ({
        status: count > 1 ? Math.random() : data.status,
        due: data.balance_cents,
        shown_at: Date.now(),
      }))
      expect(results(report), details(report)).toEqual({ deduplicates: 'error', orders: 'error' })
      expect(detailOf(report, 'orders')).toMatch(
        /^The state after identical deliveries differs at status\. So the check did not compare/,
      )
    },
  )

  test('no verdict is given when there is no time for two sequences', async () => {
    const report = await judgedState(newest, ({ data }) => data, { searchMs: -Infinity })
    expect(results(report)).toEqual({ deduplicates: 'error', orders: 'error' })
    expect(detailOf(report, 'orders')).toMatch(/^Only 0 sequences were compared in the time limit\./)
  })
})

/** Judging one takes two seconds of a processor, so only the soak judges all. */
const usual = new Set(['counts-deliveries', 'last-arrival-wins', 'goes-on-after-rejecting'])
function judgedHere<T>(programs: Record<string, T>): [name: string, T][] {
  return Object.entries(programs).filter(([name]) => isSoak || usual.has(name))
}

test('every program has a test', () => {
  const names = (part: string) => readdirSync(folder + part).map((file) => file.replace('.mjs', ''))
  expect(names('right').sort()).toEqual([...Object.keys(right), 'asks-the-service'].sort())
  expect(names('wrong').sort()).toEqual([...Object.keys(wrong), 'keeps-the-oldest'].sort())
})

/** Each takes as long as hundreds of deliveries. */
const timeout = 180_000

describe.concurrent('a receiver whose state converges passes', { timeout }, () => {
  test.each(judgedHere(right))('%s', async (name, path) => {
    const report = await judged(`right/${name}`, path, { cases: converges })
    expect(results(report), details(report)).toEqual({
      deduplicates: 'passed',
      orders: 'passed',
      ignores_forged: 'passed',
    })
    expect(detailOf(report, 'orders')).toMatch(
      /^\d+ sequences of 14 deliveries ended in the same state \(seed 1\)\./,
    )
  })
})

describe.concurrent(
  'a receiver whose state does not converge fails in the case about its mistake',
  { timeout },
  () => {
    test.each(judgedHere(wrong))('%s', async (name, { path, fails, advice }) => {
      const report = await judged(`wrong/${name}`, path, { cases: converges })
      const expected = converges
        .map(({ id }) => id)
        .map((id) => [id, fails.includes(id) ? 'failed' : 'passed'])
      expect(results(report), details(report)).toEqual(Object.fromEntries(expected))
      for (const id of fails) {
        expect(detailOf(report, id)).toMatch(advice)
        const [, one = '', other = ''] =
          /different states: \[(.*?)\] and \[(.*?)\]/.exec(detailOf(report, id)) ?? []
        expect(one.split(', ').length).toBeLessThanOrEqual(3)
        expect(other.split(', ').length).toBeLessThanOrEqual(3)
        expect(new Set(one.split(', '))).toEqual(new Set(other.split(', ')))
      }
    })
  },
)

test.runIf(isSoak)('a seed repeats the deliveries and the counterexample', { concurrent: true }, async () => {
  const [first, again, other] = await Promise.all(
    [7, 7, 8].map((seed) => judged('wrong/last-arrival-wins', BY_EXTERNAL_ID, { seed })),
  )
  const detail = first && detailOf(first, 'orders')
  expect(detail).toContain('Repeat with --seed 7.')
  expect(again && detailOf(again, 'orders')).toBe(detail)
  expect(other && detailOf(other, 'orders')).not.toBe(detail?.replace('--seed 7', '--seed 8'))
})

describe.concurrent('a receiver that reads checks from the service', () => {
  const path = BY_EXTERNAL_ID

  test('cannot be judged by order when the service knows only one state of the checks', async () => {
    const known: Handle = (response, { url }) =>
      response.end(JSON.stringify({ external_id: url, status: 'closed' }))
    const report = await withReceiver(known, ({ url }) =>
      judged('right/asks-the-service', path, { env: { SERVICE: url.replace(/\/$/, '') } }),
    )
    expect(results(report)).toEqual({ deduplicates: 'passed', orders: 'not_checked' })
  })

  test.runIf(isSoak)('gives an error when the service does not know them', async () => {
    const report = await judged('right/asks-the-service', path)
    expect(results(report)).toEqual({ deduplicates: 'error', orders: 'error' })
    expect(report.ok).toBe(false)
    expect(detailOf(report, 'orders')).toContain('A receiver that reads checks from the service')
  })
})

describe.concurrent('no verdict is given', () => {
  const unchecked = { deduplicates: 'not_checked', orders: 'not_checked' }
  const unjudged = { deduplicates: 'error', orders: 'error' }

  test('without --state-url', async () => {
    await withReceiver(200, async ({ url }) => {
      const report = await examine(url, { cases: converges })
      expect(results(report)).toEqual({ ...unchecked, ignores_forged: 'not_checked' })
      expect(detailOf(report, 'deduplicates')).toContain('Pass --state-url')
    })
  })

  test('when the view stays the same', async () => {
    const report = await judgedView(() => [200, '{"ok":true}'])
    expect(results(report)).toEqual(unjudged)
    expect(detailOf(report, 'orders')).toMatch(/^The deliveries did not change the response of --state-url\./)
  })

  test.runIf(isSoak)('when the view differs at each read', async () => {
    let reads = 0
    const report = await judgedView(() => [200, JSON.stringify({ etag: (reads += 1) })])
    expect(results(report)).toEqual(unjudged)
  })

  test('when everything that changes in the view also differs between identical runs', async () => {
    const report = await judgedView((events) => [200, `{"digest":${events.join('').length}}`])
    expect(results(report)).toEqual(unjudged)
    expect(detailOf(report, 'orders')).toMatch(/^The same deliveries in the same order, for another check/)
  })

  test.each([
    [401, /returned 401\. Pass its credentials with --state-header/],
    [302, /returned 302\.$/],
    [500, /returned 500\.$/],
  ])('when the view answers %i, and the report hides the query', async (status, words) => {
    const report = await judgedView(() => [status, ''])
    expect(results(report)).toEqual(unjudged)
    expect(detailOf(report, 'orders')).toMatch(words)
    expect(detailOf(report, 'orders')).toContain('/view/chk_')
    expect(JSON.stringify(report)).not.toContain('hidden')
  })

  test('when nothing listens at --state-url', async () => {
    const report = await withReceiver(200, ({ url }) => judge(url, 'http://127.0.0.1:1/'))
    expect(results(report)).toEqual(unjudged)
    expect(detailOf(report, 'orders')).toContain('ECONNREFUSED')
  })

  test('when no delivery is accepted', async () => {
    const refusing: Handle = (response, { method }) =>
      response.writeHead(method === 'GET' ? 200 : 422).end('{}')
    const report = await withReceiver(refusing, ({ url }) => judge(url, url))
    expect(results(report)).toEqual(unchecked)
    expect(detailOf(report, 'orders')).toBe('Not checked: see control/genuine_accepted.')
  })
})

describe.concurrent('forged deliveries', { timeout: 180_000 }, () => {
  const forgedCase = converges.filter(({ id }) => id === 'ignores_forged')

  test('are not judged at a receiver that accepts them', async () => {
    const states = new Map<string, string>()
    const answer: Handle = (response, { method, url, body }) => {
      if (method === 'GET') return response.end(states.get(url.split('/').at(-1) ?? '') ?? 'null')
      const { data } = JSON.parse(body.toString()) as Event
      states.set(data.id ?? '', JSON.stringify(data))
      return response.writeHead(204).end()
    }
    const report = await withReceiver(answer, ({ url }) =>
      judge(url, `${url}{check_id}`, { cases: forgedCase }),
    )
    expect(results(report)).toEqual({ ignores_forged: 'not_checked' })
    expect(detailOf(report, 'ignores_forged')).toBe('Not checked: see control/forged_rejected.')
  })

  test('may be counted', async () => {
    const states = new Map<string, Event['data']>()
    let rejected = 0
    const answer: Handle = (response, { method, url, headers, body }) => {
      const id = url.split('/').at(-1) ?? ''
      if (method === 'GET') return response.end(JSON.stringify({ rejected, check: states.get(id) ?? null }))
      const header = String(headers['x-service-signature'])
      if (!verify({ payload: body, header, secret }).ok) {
        rejected += 1
        return response.writeHead(400).end()
      }
      const { data } = JSON.parse(body.toString()) as Event
      states.set(data.id ?? '', data)
      return response.writeHead(204).end()
    }
    const report = await withReceiver(answer, ({ url }) =>
      judge(url, `${url}{check_id}`, { cases: forgedCase }),
    )
    expect(results(report), details(report)).toEqual({ ignores_forged: 'passed' })
  })
})

test.concurrent('the view is requested with the given headers, and its URL has the identifiers percent-encoded', async () => {
  const answer: Handle = (response, { method }) => response.writeHead(method === 'GET' ? 404 : 204).end()
  await withReceiver(answer, async ({ url, requests }) => {
    await judge(url, `${url}a/{external_check_id}/%7Bcheck_id%7D?x={check_id}`, {
      headers: ['Authorization: Bearer abc'],
    })
    const view = requests.find(({ method }) => method === 'GET')
    expect(view?.headers.authorization).toBe('Bearer abc')
    expect(view?.headers.accept).toContain('application/json')
    expect(view?.url).toMatch(/^\/a\/tabwire-trial-\w{26}\/chk_(\w{26})\?x=chk_\1$/)
  })
})

test.concurrent('Ctrl-C ends the check at once, without a verdict', async () => {
  const interruption = new AbortController()
  const answer: Handle = (response, { method }, index) => {
    if (method === 'GET' && index > 5) interruption.abort()
    response.end('{}')
  }
  await withReceiver(answer, async ({ url }) => {
    const report = await judge(url, url, { signal: interruption.signal })
    expect(report).toMatchObject({ ok: false, interrupted: true })
    expect(results(report)).toEqual({ deduplicates: 'not_checked', orders: 'not_checked' })
    expect(detailOf(report, 'deduplicates')).toBe('Not checked: interrupted.')
  })
})
