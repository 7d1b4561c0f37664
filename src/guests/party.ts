import type { Check, CheckItem } from '../model/check.ts'
import type { ClaimView, PaymentView } from '../model/guests/records.ts'
import { isClaimable, roundToThousandths, unclaimedQuantity } from '../model/guests/claimed-items.ts'
import { seededRandom } from '../model/simulator/fault-rules.ts'

export interface ClaimWanted {
  external_id: string
  quantity: number
}

export interface PaymentWanted {
  guest_name: string
  claim_ids?: string[]
  amount_cents?: number
  tip_cents: number
  card?: 'declined'
}

/** The next action of a guest. */
export type NextAct =
  | { act: 'claim'; guest: string; item: ClaimWanted; item_name: string }
  | { act: 'release'; guest: string; claim: string; item_name: string }
  | { act: 'pay'; guest: string; body: PaymentWanted }
  | { act: 'refund'; guest: string; payment: PaymentView; amount_cents: number }
  | { act: 'rate'; guest: string; rating: number; comment: string | null }

const names = [
  'Anna',
  'Ben',
  'Cleo',
  'Dan',
  'Eva',
  'Finn',
  'Gia',
  'Hugo',
  'Ida',
  'Jon',
  'Kim',
  'Lou',
] as const
const comments = ['We will be back.', 'The soup was cold.', 'Great service!', null, null] as const

/** Most guests that a party may have: each has a name of their own. */
export const LARGEST_PARTY = names.length

/** Most guests of a party by default. */
export const MOST_GUESTS = 4

/** Refused acts in a row after which guests give up a check. */
const MOST_REFUSALS = 5

/** Largest quantity of which guests claim single pieces. Of more, they claim a fifth at a time. */
const MOST_PIECES = 20

/** How a party shares its check. */
const ways = ['items', 'items', 'even', 'one', 'amounts'] as const

/** The guests of one check, who decide by the seed. */
export class Party {
  readonly guests: readonly string[]
  readonly location_id: string
  readonly external_check_id: string
  /** Unpaid claims of the party, oldest first. */
  private readonly claims: { id: string; guest: string }[] = []
  private readonly way: (typeof ways)[number]
  /** Acts that come before all others, in order. */
  private readonly queue: NextAct[] = []
  private readonly seed: number
  private turn = 0
  private payers: string[] = []
  private refusals = 0
  /** The total that the party has paid up. */
  private settled: number | undefined

  /** `most` is the most guests of a party, up to {@link LARGEST_PARTY}. */
  constructor(seed: number, check: Check, most = MOST_GUESTS) {
    this.seed = seed
    this.external_check_id = check.external_id
    this.location_id = check.location_id
    const first = Math.floor(this.random('first') * names.length)
    const size = 1 + Math.floor(this.random('size') * most)
    this.guests = Array.from({ length: size }, (_, at) => names[(first + at) % names.length] ?? names[0])
    this.way = this.choice('way', ways)
  }

  get isStuck(): boolean {
    return this.refusals >= MOST_REFUSALS
  }

  /** Returns the next act; `undefined` when the party waits or has left. `check` is undefined once it is closed. */
  next(check: Check | undefined): NextAct | undefined {
    const queued = this.queue.shift()
    if (queued !== undefined) return queued
    if (check === undefined || this.isStuck || this.settled === check.totals.total_cents) return undefined
    if (check.balance_cents <= 0) return undefined
    return this.way === 'items' ? (this.claimNext(check) ?? this.payNext(check)) : this.payNext(check)
  }

  claimed({ id }: ClaimView, { guest, item_name }: Extract<NextAct, { act: 'claim' }>): void {
    this.claims.push({ id, guest })
    if (this.random('release') < 0.08) this.queue.push({ act: 'release', guest, claim: id, item_name })
    this.finishTurn()
  }

  released({ id }: ClaimView): void {
    this.forget([id])
    this.finishTurn()
  }

  /** `check` is the check before the payment. */
  paid(payment: PaymentView, guest: string, check: Check): void {
    this.payers = this.payers.filter((one) => one !== guest)
    this.forget(payment.claim_ids)
    if (payment.amount_cents >= check.balance_cents) this.settle(check, payment, guest)
    this.finishTurn()
  }

  finishTurn(): void {
    this.refusals = 0
    this.turn += 1
  }

  /** The check changed in the meantime, so the party looks again. */
  refused(next: NextAct): void {
    this.refusals += 1
    this.turn += 1
    if (next.act === 'pay') this.forget(next.body.claim_ids ?? [])
    if (next.act === 'release') this.forget([next.claim])
  }

  private settle(check: Check, payment: PaymentView, payer: string): void {
    this.settled = check.totals.total_cents
    for (const guest of this.guests)
      if (this.random('rates', guest) < 0.4)
        this.queue.push({
          act: 'rate',
          guest,
          rating: 1 + Math.floor(this.random('rating', guest) * 5),
          comment: this.choice('comment', comments, guest),
        })
    if (this.random('refund') < 0.06)
      this.queue.push({
        act: 'refund',
        guest: payer,
        payment,
        amount_cents: Math.ceil(payment.amount_cents / 2),
      })
  }

  private claimNext({ items }: Check): NextAct | undefined {
    const free = items.filter(isClaimable)
    const item = free[Math.floor(this.random('item') * free.length)]
    if (item === undefined) return undefined
    return {
      act: 'claim',
      guest: this.choice('claimer', this.guests),
      item: { external_id: item.external_id, quantity: this.quantityOf(item) },
      item_name: item.name,
    }
  }

  /** One piece, half of a single one that two guests share, the rest of it, or a fifth of a large quantity. */
  private quantityOf(item: CheckItem): number {
    const left = unclaimedQuantity(item)
    if (left === 1 && this.guests.length > 1 && this.random('half') < 0.2) return 0.5
    return roundToThousandths(Math.min(left, item.quantity > MOST_PIECES ? item.quantity / 5 : 1))
  }

  private payNext({ balance_cents }: Check): NextAct {
    if (this.way === 'items') {
      const [first] = this.claims
      const guest = first?.guest ?? this.choice('payer', this.guests)
      const claim_ids = this.claims.filter((claim) => claim.guest === guest).map(({ id }) => id)
      return this.payment(guest, balance_cents, claim_ids.length === 0 ? {} : { claim_ids })
    }
    if (this.payers.length === 0) this.payers = this.way === 'one' ? [this.guests[0] ?? ''] : [...this.guests]
    const guest = this.payers[0] ?? ''
    if (this.payers.length === 1) return this.payment(guest, balance_cents, {})
    const share = this.way === 'even' ? 1 / this.payers.length : this.random('share')
    return this.payment(guest, balance_cents, { amount_cents: Math.max(1, Math.ceil(balance_cents * share)) })
  }

  private payment(guest: string, balance: number, what: Partial<PaymentWanted>): NextAct {
    const rate = this.choice('tip', [0, 0, 0.1, 0.15, 0.2])
    // Payers of their own items do not know the amount yet: about a share of the balance.
    const base = what.amount_cents ?? (what.claim_ids === undefined ? balance : balance / this.guests.length)
    const tip_cents = Math.round(base * rate)
    const card = this.random('card') < 0.07 ? ({ card: 'declined' } as const) : {}
    return { act: 'pay', guest, body: { guest_name: guest, tip_cents, ...what, ...card } }
  }

  private forget(ids: readonly string[]): void {
    for (const id of ids) {
      const at = this.claims.findIndex((claim) => claim.id === id)
      if (at >= 0) this.claims.splice(at, 1)
    }
  }

  private random(...what: string[]): number {
    return seededRandom(this.seed, this.external_check_id, this.turn, ...what)
  }

  private choice<T>(what: string, of: readonly T[], ...more: string[]): T {
    return of[Math.floor(this.random(what, ...more) * of.length)] as T
  }
}
