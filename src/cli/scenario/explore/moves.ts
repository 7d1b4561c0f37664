import type { Arbitrary, AsyncCommand } from 'fast-check'
import type { CheckItem } from '../../../model/check.ts'
import { isClaimable, roundToThousandths, unclaimedQuantity } from '../../../model/guests/claimed-items.ts'
import type { Revision } from '../../../model/revision.ts'
import { next, type PushBody } from '../../push/bodies.ts'
import { isOrdered } from './history.ts'
import type { CheckEntry, Ledger, Planned } from './ledger.ts'

type FastCheck = typeof import('fast-check')

/** A command of fast-check. It decides on its steps when its turn comes, from what the checks show then. */
export type Move = AsyncCommand<Ledger, Ledger>

/** Returns the steps of a move; `undefined` when it makes no sense now. */
type Plan = (entry: CheckEntry, ledger: Ledger) => Planned[] | undefined

const guests = ['Anna', 'Ben', 'Cleo'] as const
const quantities = [1, 1, 1, 0.5, 2] as const
const amounts = [500, 500, 1000, 2500] as const
const waits = ['1m', '5m', '30m', '2h', '24h'] as const
const faultKinds = ['drop', 'drop', 'reorder', 'reorder', 'delay', 'duplicate'] as const

/** A kind of move; its three numbers decide on the details. */
interface MoveKind {
  name: string
  /** How often it is drawn, compared with the others. */
  weight: number
  planOf(a: number, b: number, c: number): Plan
}

interface MoveOptions {
  /** The field that orders pushes. */
  orderBy: string
  hasReceiver: boolean
}

/** Returns the kinds of moves. Without a receiver, there are no deliveries to move. */
export function kindsOfMoves({ orderBy, hasReceiver }: MoveOptions): MoveKind[] {
  const kind = (name: string, weight: number, planOf: MoveKind['planOf']) => ({ name, weight, planOf })
  const always = [
    kind(PUSH_NEXT, 6, () => pushNext),
    kind('push again', 1, () => pushAgain),
    kind('push an older state', 2, (back) => pushOlder(back)),
    kind('lose the response of a push', 2, () => loseResponse),
    kind('claim', 4, (item, quantity, guest) => claim(item, quantity, guest)),
    kind('release', 1, (which) => release(which)),
    kind('pay a claim', 2, (which, tip) => payClaim(which, tip)),
    kind('pay an amount', 2, (amount, guest) => payAmount(amount, guest)),
    kind('pay the rest', 1, (tip) => payRest(tip)),
    kind('decline', 1, () => decline),
    kind('refund', 1, (which, part) => refund(which, part)),
    kind('advance', 1, (wait) => () => [{ step: { do: 'advance', by: pick(waits, wait) } }]),
  ]
  if (!hasReceiver) return always
  return [
    ...always,
    kind('undo', 4, (back) => undo(back, orderBy)),
    kind('fault', 4, (which, times) => () => [fault(which, times)]),
    kind('resend', 2, (event) => resend(event)),
    kind('settle', 1, () => () => [{ step: { do: 'settle' } }]),
  ]
}

/** The kind that is never left out: without pushes there is nothing to explore. */
const PUSH_NEXT = 'push the next state'

/** Returns the moves of these kinds, each as often as its weight says. */
export function movesOf(fc: FastCheck, kinds: readonly MoveKind[]): Arbitrary<Move>[] {
  const slot = fc.nat(1)
  const number = fc.nat(7)
  return kinds.flatMap(({ name, weight, planOf }) => {
    const moves = fc
      .tuple(slot, number, number, number)
      .map(([at, a, b, c]) => moveOf(name, at, planOf(a, b, c)))
    return Array.from({ length: weight }, () => moves)
  })
}

function moveOf(name: string, slot: number, plan: Plan): Move {
  const plannedBy = (ledger: Ledger) => {
    const entry = ledger.entries[slot % ledger.entries.length]
    if (entry === undefined || (name !== PUSH_NEXT && ledger.disabled.has(name))) return undefined
    return plan(entry, ledger)
  }
  return {
    check: (ledger) => plannedBy(ledger as Ledger) !== undefined,
    async run(ledger) {
      for (const planned of plannedBy(ledger) ?? []) await ledger.take(planned)
    },
    toString: () => name,
  }
}

/** Returns the step that sends a given push. */
export function pushGiven({ history }: CheckEntry, given: number): Planned[] | undefined {
  const push = history.pushes[given]
  if (push === undefined) return undefined
  return [
    { step: { do: 'push', check: history.check, body: push.body }, push: { content: push.push, given } },
  ]
}

const pushNext: Plan = (entry) => pushGiven(entry, entry.sent)

const pushAgain: Plan = (entry) => pushGiven(entry, entry.sent - 1)

/** Without a field that orders pushes, an older state would replace the newest one. */
function pushOlder(back: number): Plan {
  return (entry) =>
    isOrdered(entry.history) && entry.sent > 1 ? pushGiven(entry, back % (entry.sent - 1)) : undefined
}

/** The service applies a push, the POS gets no response and pushes again. */
const loseResponse: Plan = (entry) => {
  const [push] = pushGiven(entry, entry.sent) ?? []
  if (push?.step.do !== 'push') return undefined
  return [
    {
      step: {
        do: 'faults',
        faults: [{ on: 'api', lost_answer_rate: 1, times: 1, paths: ['PUT /v1/checks/*'] }],
      },
    },
    { ...push, step: { ...push.step, expect: { lost: true } } },
    push,
  ]
}

/** Plans a push of an earlier state under a new revision, unless a guest has paid, or has claimed what that state lacks. */
function undo(back: number, orderBy: string): Plan {
  return ({ history, sent, view }, { taken }) => {
    const last = history.pushes.at(-1)
    const earlier = history.pushes[back % Math.max(sent - 1, 1)]
    if (last === undefined || earlier === undefined || sent < 2 || view === undefined) return undefined
    if (view.paid_cents !== 0 || view.items.some((item) => isMissed(item, earlier.push))) return undefined
    const revision = followingRevision(last.push, taken.length)
    const body = revision === undefined ? earlier.body : { ...earlier.body, [orderBy]: revision }
    const content = revision === undefined ? earlier.push : { ...earlier.push, revision }
    return [{ step: { do: 'push', check: history.check, body }, push: { content } }]
  }
}

/** Returns true when a push has less of an item than guests claimed, or lowers its price. */
function isMissed({ external_id, claimed_quantity, price_cents }: CheckItem, { items }: PushBody): boolean {
  const item = items.find((one) => one.external_id === external_id)
  return (
    claimed_quantity > 0 &&
    (item === undefined || item.quantity < claimed_quantity || item.price_cents < price_cents)
  )
}

function followingRevision(push: PushBody, times: number): Revision | undefined {
  let following = push
  for (let time = 0; time < times; time += 1) following = next(following, {})
  return following.revision
}

function claim(which: number, quantity: number, guest: number): Plan {
  return ({ history: { check }, view }, ledger) => {
    if (view?.status !== 'open') return undefined
    const free = view.items.filter(isClaimable)
    const item = free[which % free.length]
    if (item === undefined) return undefined
    const wanted = roundToThousandths(Math.min(unclaimedQuantity(item), pick(quantities, quantity)))
    const items = [{ external_id: item.external_id, quantity: wanted }]
    return [
      { step: { do: 'claim', check, guest_name: pick(guests, guest), items, as: nameOf('claim', ledger) } },
    ]
  }
}

function release(which: number): Plan {
  return ({ claims }) => {
    const active = claims.filter(({ status }) => status === 'active')
    const one = active[which % active.length]
    return one && [{ step: { do: 'release', claim: `$${one.as}.id` } }]
  }
}

function payClaim(which: number, tip: number): Plan {
  return ({ history: { check }, claims }, ledger) => {
    const active = claims.filter(({ status }) => status === 'active')
    const one = active[which % active.length]
    if (one === undefined) return undefined
    const claim_ids = [`$${one.as}.id`]
    return [{ step: { do: 'pay', check, claim_ids, ...tipOf(tip), as: nameOf('payment', ledger) } }]
  }
}

function payAmount(amount: number, guest: number): Plan {
  return ({ history: { check }, view }, ledger) => {
    if (view === undefined || view.balance_cents <= 0) return undefined
    const amount_cents = Math.min(view.balance_cents, pick(amounts, amount))
    const guest_name = pick(guests, guest)
    return [{ step: { do: 'pay', check, guest_name, amount_cents, as: nameOf('payment', ledger) } }]
  }
}

function payRest(tip: number): Plan {
  return ({ history: { check }, view }, ledger) =>
    view === undefined || view.balance_cents <= 0
      ? undefined
      : [{ step: { do: 'pay', check, ...tipOf(tip), as: nameOf('payment', ledger) } }]
}

const decline: Plan = ({ history: { check }, view }) =>
  view === undefined || view.balance_cents <= 0
    ? undefined
    : [{ step: { do: 'pay', check, card: 'declined' } }]

function refund(which: number, part: number): Plan {
  return ({ payments }) => {
    const left = payments.filter(({ amount_cents, refunded_cents }) => amount_cents > refunded_cents)
    const one = left[which % left.length]
    if (one === undefined) return undefined
    const rest = one.amount_cents - one.refunded_cents
    const amount = part % 2 === 0 ? {} : { amount_cents: Math.ceil(rest / 2) }
    return [{ step: { do: 'refund', payment: `$${one.as}.id`, ...amount } }]
  }
}

function fault(kind: number, times: number): Planned {
  const faults = [{ on: 'deliveries', [pick(faultKinds, kind)]: 1, times: 1 + (times % 3) }]
  return { step: { do: 'faults', faults } }
}

/** The receiver applied the delivery, and its response was lost: it comes again, after newer ones. */
function resend(event: number): Plan {
  return ({ history: { check }, acts }) =>
    acts === 0 ? undefined : [{ step: { do: 'resend', check, event: 1 + (event % acts) } }]
}

function tipOf(tip: number): { tip_cents?: number } {
  return tip % 2 === 0 ? {} : { tip_cents: 100 * tip }
}

/** Returns a name for the response of a step that no other step of the run has. */
function nameOf(what: 'claim' | 'payment', { taken }: Ledger): string {
  return `${what}_${taken.length + 1}`
}

function pick<T>(of: readonly [T, ...T[]], at: number): T {
  return of[at % of.length] ?? of[0]
}
