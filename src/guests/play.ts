import type { Check } from '../model/check.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../model/guests/records.ts'
import { lookUntil } from '../assertions/wait.ts'
import {
  MOST_TIMER_MS,
  requireKnownOptions,
  requireSetting,
  wholeNumber,
  wholeNumbers,
} from '../model/simulator/settings.ts'
import { durationText } from '../model/text/time.ts'
import { timers } from '../timers.ts'
import {
  LARGEST_PARTY,
  MOST_GUESTS,
  Party,
  type ClaimWanted,
  type PaymentWanted,
  type NextAct,
} from './party.ts'
import { ApiError } from '../client/errors.ts'
import type { CallOptions } from '../client/limit.ts'
import type { Listing, StreamOptions } from '../client/reads.ts'
import type { ChecksQuery, ClockReport, StreamMessage } from '../client/types.ts'

/** Options of played guests. */
export interface GuestsWanted extends Pick<CallOptions, 'signal'> {
  /**
   * All choices follow from it and from the external ids of the checks.
   * @default 1
   */
  seed?: number | undefined
  /**
   * Plays at this table only.
   * @default undefined, at all tables of the key's location
   */
  table?: string | undefined
  /**
   * Most guests at each check, from 1 to 12. The seed decides how many come.
   * @default 4
   */
  guests?: number | undefined
  /**
   * Milliseconds between two rounds. In a round, the guests of each open check do one act.
   * @default 0
   */
  pace?: number | undefined
  /**
   * Moves the service's clock by `pace` after each round, and does not wait.
   * @default false
   */
  virtual?: boolean | undefined
  /**
   * Ends when no open check is left to pay. Otherwise guests play on every check that comes, until `signal`.
   * @default true
   */
  untilPaid?: boolean | undefined
  /**
   * Called after each act.
   * @default undefined
   */
  onAct?: ((act: GuestAct) => void) | undefined
}

/** An act of a guest, with the answer of the service. */
export type GuestAct = ActHead & (Taken | Declined | Refused)

interface ActHead {
  /** From 1. */
  number: number
  /** Location of the check, whose currency the amounts have. */
  location_id: string
  external_check_id: string
  guest_name: string
}

type Taken =
  | { act: 'claim'; item_name: string; resource: ClaimView }
  | { act: 'release'; item_name: string; resource: ClaimView }
  | { act: 'pay'; resource: PaymentView }
  | { act: 'refund'; resource: PaymentView }
  | { act: 'rate'; resource: FeedbackView }

/** The simulated card was declined; the guest tries another one next. */
interface Declined {
  act: 'decline'
  message: string
}

/** The service refused the act, because the check had changed. */
interface Refused {
  act: 'refused'
  tried: NextAct['act']
  code: string
  message: string
}

/** Totals of the played guests. Money is in integer minor units of the location's currency. */
export interface GuestsReport {
  /** Location of the checks; `null` without checks. */
  location_id: string | null
  checks: number
  guests: number
  acts: Record<GuestAct['act'], number>
  paid_cents: number
  tip_cents: number
  refunded_cents: number
  /** External ids of open checks with a balance that guests cannot pay, because every act was refused. */
  stuck: string[]
}

/** The calls that guests need. */
interface GuestCalls {
  checks: Pick<Listing<Check, ChecksQuery>, 'all'>
  claim(check: string, body: { guest_name: string; items: ClaimWanted[] }): Promise<ClaimView>
  release(claim: string): Promise<ClaimView>
  pay(check: string, body: PaymentWanted): Promise<PaymentView>
  refund(payment: string, body: { amount_cents: number }): Promise<PaymentView>
  rate(
    check: string,
    body: { guest_name: string; rating: number; comment: string | null },
  ): Promise<FeedbackView>
  advance(duration: string): Promise<ClockReport>
  stream(options: StreamOptions): AsyncGenerator<StreamMessage>
}

/** Returns true when the check changed, or when a replaced state has no such check, claim or payment. */
function isRefusal({ status, code }: ApiError): boolean {
  return status === 409 || code === 'not_found' || code === 'validation_failed'
}

const optionNames: readonly (keyof GuestsWanted)[] = [
  'seed',
  'table',
  'guests',
  'pace',
  'virtual',
  'untilPaid',
  'onAct',
  'signal',
]

/** Plays guests on the open checks, one act after another. @throws TypeError for unknown or wrong options. */
export async function playGuests(calls: GuestCalls, wanted: GuestsWanted = {}): Promise<GuestsReport> {
  requireKnownOptions(wanted, optionNames)
  const {
    seed = 1,
    table,
    guests = MOST_GUESTS,
    pace = 0,
    virtual = false,
    untilPaid = true,
    onAct,
    signal,
  } = wanted
  requireSetting('seed', wholeNumber(wholeNumbers.seed), seed)
  requireSetting('guests', wholeNumber({ min: 1, max: LARGEST_PARTY }), guests)
  requireSetting('pace', wholeNumber({ min: 0 }), pace)
  /** By check id: after a reset, another check can have the external id. */
  const parties = new Map<string, Party>()
  const report: GuestsReport = {
    location_id: null,
    checks: 0,
    guests: 0,
    acts: { claim: 0, release: 0, pay: 0, decline: 0, refund: 0, rate: 0, refused: 0 },
    paid_cents: 0,
    tip_cents: 0,
    refunded_cents: 0,
    stuck: [],
  }
  let number = 0

  /** Adds a party to a check that has none. */
  function addParty(check: Check): void {
    if (parties.has(check.id)) return
    const party = new Party(seed, check, guests)
    parties.set(check.id, party)
    report.location_id = check.location_id
    report.checks += 1
    report.guests += party.guests.length
  }

  function record(act: GuestAct): void {
    report.acts[act.act] += 1
    onAct?.(act)
  }

  async function take(next: NextAct, id: string, party: Party, check: Check | undefined): Promise<Taken> {
    const { act, guest } = next
    if (act === 'claim') {
      const resource = await calls.claim(id, { guest_name: guest, items: [next.item] })
      party.claimed(resource, next)
      return { act, item_name: next.item_name, resource }
    }
    if (act === 'release') {
      const resource = await calls.release(next.claim)
      party.released(resource)
      return { act, item_name: next.item_name, resource }
    }
    if (act === 'pay') {
      const resource = await calls.pay(id, next.body)
      if (check !== undefined) party.paid(resource, guest, check)
      report.paid_cents += resource.amount_cents
      report.tip_cents += resource.tip_cents
      return { act, resource }
    }
    party.finishTurn()
    if (act === 'refund') {
      const resource = await calls.refund(next.payment.id, { amount_cents: next.amount_cents })
      report.refunded_cents += next.amount_cents
      return { act, resource }
    }
    const { rating, comment } = next
    return { act, resource: await calls.rate(id, { guest_name: guest, rating, comment }) }
  }

  /** Lets the party of a check do one act. Returns false when it has nothing to do. */
  async function play(party: Party, check: Check | undefined): Promise<boolean> {
    const { external_check_id, location_id } = party
    const next = party.next(check)
    if (next === undefined) return false
    number += 1
    const head = { number, location_id, external_check_id, guest_name: next.guest }
    try {
      record({ ...head, ...(await take(next, external_check_id, party, check)) })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { code, message } = error
      if (code === 'card_declined') {
        party.finishTurn()
        record({ ...head, act: 'decline', message })
        return true
      }
      if (!isRefusal(error)) throw error
      party.refused(next)
      record({ ...head, act: 'refused', tried: next.act, code, message })
    }
    return true
  }

  async function round(): Promise<boolean> {
    const open: Check[] = []
    for await (const check of calls.checks.all({ status: 'open', ...(table !== undefined && { table }) }))
      open.push(check)
    const byId = new Map(open.toReversed().map((check) => [check.id, check]))
    for (const check of byId.values()) if (check.balance_cents > 0) addParty(check)
    let acted = false
    for (const [id, party] of parties) {
      if (signal?.aborted === true) return false
      acted = (await play(party, byId.get(id))) || acted
    }
    report.stuck = [...byId.values()]
      .filter(({ id, balance_cents }) => balance_cents > 0 && parties.get(id)?.isStuck === true)
      .map(({ external_id }) => external_id)
    return acted
  }

  const forever = new AbortController().signal
  const isEvent = (message: StreamMessage) => message.type === 'event'
  /** Plays rounds at each event until one has an act; resolves with false when the play is ended. */
  const untilActed = async () =>
    (await lookUntil(calls, signal ?? forever, async () => (await round()) || undefined, isEvent)) === true
  while (signal?.aborted !== true) {
    // Without an act, other guests and the POS are awaited.
    const acted = (await round()) || (!untilPaid && (await untilActed()))
    if (!acted) break
    if (virtual)
      await calls.advance(durationText(pace)).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'state_replaced') throw error
      })
    else if (pace > 0)
      await timers.sleep(Math.min(pace, MOST_TIMER_MS), undefined, { signal }).catch(() => undefined)
  }
  return report
}
