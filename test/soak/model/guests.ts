import type { Push } from '../../../src/model/check.ts'

/** Guests' part of a check, modelled from the contract (section 7) without its code. Ids are the service's. */
export interface Guests {
  claims: Claim[]
  payments: Payment[]
}
export interface Line {
  external_id: string
  quantity: number
}
export interface Claim {
  id: string
  items: (Line & { price_cents: number })[]
  status: 'active' | 'paid' | 'released'
  payment_id: string | null
  /** Amount at the time of payment or release. */
  settled_cents: number
}
export interface Payment {
  id: string
  claim_ids: string[]
  amount_cents: number
  tip_cents: number
  refunded_cents: number
  status: 'succeeded' | 'partially_refunded' | 'refunded'
}

/** A check in the model: its last accepted push, and the guests' records. */
export interface State extends Guests {
  push: Push
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0)

const thousandths = (quantity: number) => Math.round(quantity * 1000)

/** How much of a line claims of these statuses hold, counted in thousandths: those are whole. */
export function held(
  { claims }: Guests,
  id: string,
  statuses: readonly Claim['status'][] = ['active', 'paid'],
): number {
  const lines = claims.filter(({ status }) => statuses.includes(status)).flatMap(({ items }) => items)
  return sum(lines.map((line) => (line.external_id === id ? thousandths(line.quantity) : 0))) / 1000
}

export function paidCents({ payments }: Guests): number {
  return sum(payments.map(({ amount_cents, refunded_cents }) => amount_cents - refunded_cents))
}

export function balanceCents(state: State): number {
  return state.push.totals.total_cents - paidCents(state)
}

/** Returns the current unit price of a line. */
export function priceOf({ push }: State, id: string): number {
  return push.items.find(({ external_id }) => external_id === id)?.price_cents ?? 0
}

/** Returns the amount of a claim by the current check. All lines of a model have a price, and none is a discount. */
export function owedCents(state: State, claim: Claim): number {
  if (claim.status !== 'active') return claim.settled_cents
  const { items, totals } = state.push
  const active = state.claims.filter(({ status }) => status === 'active')
  const isComplete = items.every((line) => held(state, line.external_id) === line.quantity)
  const weight = (lines: readonly Line[]) =>
    sum(lines.map((line) => thousandths(line.quantity) * priceOf(state, line.external_id)))
  let left = Math.max(0, balanceCents(state))
  for (const other of active) {
    const share = Math.floor((totals.total_cents * weight(other.items)) / weight(items) + 0.5)
    const owed = isComplete && other === active.at(-1) ? left : Math.min(share, left)
    if (other === claim) return owed
    left -= owed
  }
  throw new Error('The claim is not of this check.')
}

/** Whether something was paid and nothing is owed: then all of every line counts as paid. */
export function isFullyPaid(state: State): boolean {
  return paidCents(state) > 0 && balanceCents(state) <= 0
}

/** Returns true when a push removes claimed items, or lowers their price. */
export function conflicts(state: State, push: Push): boolean {
  const after = new Map(push.items.map((line) => [line.external_id, line]))
  return state.push.items.some(({ external_id, quantity, price_cents }) => {
    const least = isFullyPaid(state) ? quantity : held(state, external_id)
    const line = after.get(external_id)
    if (least === 0) return false
    return line === undefined || line.price_cents < price_cents || line.quantity < least
  })
}

/** Returns the unclaimed quantities. */
export function unclaimed(state: State): Line[] {
  return state.push.items.flatMap(({ external_id, quantity }) => {
    const left = (thousandths(quantity) - thousandths(held(state, external_id))) / 1000
    return left > 0 ? [{ external_id, quantity: left }] : []
  })
}

export function isClaimable(state: State, lines: readonly Line[]): boolean {
  const left = new Map(unclaimed(state).map((line) => [line.external_id, line.quantity]))
  if (state.push.status === 'closed') return false
  return lines.every(({ external_id, quantity }) => quantity > 0 && quantity <= (left.get(external_id) ?? 0))
}

/** Pays or releases claims and fixes their amounts. */
export function settle(state: State, claims: readonly Claim[], change: Pick<Claim, 'status' | 'payment_id'>) {
  const owed = claims.map((claim) => owedCents(state, claim))
  claims.forEach((claim, index) => Object.assign(claim, { ...change, settled_cents: owed[index] }))
}
