import type { Client } from '../../../client.ts'
import type { Agreement, Disagreement } from '../../../conformance/receiver/agreement.ts'
import { contentOf, sameContent, type Check, type OrderedPush } from '../../../model/check.ts'
import type { ClaimView, PaymentView } from '../../../model/guests/records.ts'
import { isFullyPaid } from '../../../model/guests/claimed-items.ts'
import { isLater } from '../../../model/revision.ts'
import type { StepResponse, Player } from '../play.ts'
import type { Step } from '../schema.ts'
import { repeatedBy, type History } from './history.ts'

type ActStep = Exclude<Step, { do: 'expect' }>

/** A step of a run, before it is taken. */
export interface Planned {
  step: ActStep
  /** Body of a push. `given` is its index in the given history, from 0; absent for a generated push. */
  push?: { content: OrderedPush; given?: number }
}

/** A step that was taken; `answer` is `undefined` when it referred to something that does not exist. */
export interface Taken extends Planned {
  answer: StepResponse | undefined
}

export type ViolationCode =
  | 'stale_push_repeated'
  | 'refused_without_reason'
  | 'not_converged'
  | 'balance_wrong'
  | 'payment_lost'
  | 'claim_lost'
  | 'receiver_disagrees'

/** A broken invariant. `message` is one sentence with the amounts or items. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly code: ViolationCode
  /** Name of the check. */
  readonly check: string
  /** Fields that the check should have, where the check itself is wrong. */
  readonly expected: Record<string, unknown> | undefined

  constructor(code: ViolationCode, check: string, message: string, expected?: Record<string, unknown>) {
    super(message)
    this.code = code
    this.check = check
    this.expected = expected
  }
}

/** A check of a run, with everything that the service accepted for it. */
export interface CheckEntry {
  history: History
  /** The check as the service showed it last; `undefined` before its first push. */
  view: Check | undefined
  /** The push whose content the check must have. */
  newest: OrderedPush | undefined
  /** Number of given pushes that were sent in order. */
  sent: number
  /** Number of acts that may have an event. */
  acts: number
  claims: (Pick<ClaimView, 'id' | 'items'> & { as: string; status: ClaimView['status'] })[]
  payments: (PaymentView & { as: string })[]
}

interface LedgerOptions {
  client: Client
  player: Player
  /** Absent without a receiver. */
  agreement: Agreement | undefined
  /** Milliseconds that a difference at the receiver is read again; the agreement's own by default. */
  timeoutMs?: number | undefined
}

/** Takes the steps of a run, keeps its own account of them, and compares the service and the receiver with that. */
export class Ledger {
  readonly taken: Taken[] = []
  readonly entries: readonly CheckEntry[]
  /** Names of the kinds of moves that this run leaves out. */
  disabled: ReadonlySet<string> = new Set()
  private readonly parts: LedgerOptions

  constructor(histories: readonly History[], parts: LedgerOptions) {
    this.parts = parts
    this.entries = histories.map((history) => ({
      history,
      view: undefined,
      newest: undefined,
      sent: 0,
      acts: 0,
      claims: [],
      payments: [],
    }))
  }

  get hasReceiver(): boolean {
    return this.parts.agreement !== undefined
  }

  /** @throws Violation when the response breaks an invariant. */
  async take(planned: Planned): Promise<void> {
    const answer = await this.parts.player.act(planned.step)
    this.taken.push({ ...planned, answer })
    if (answer !== undefined) await this.record(planned, answer)
  }

  /** Ends all faults and attempts all deliveries. */
  async settle(): Promise<void> {
    await this.take({ step: { do: 'settle' } })
  }

  /** Returns true when no delivery is pending. */
  async isSettled(): Promise<boolean> {
    return (await this.parts.client.deliveries.list({ status: 'pending', limit: 1 })).data.length === 0
  }

  /** Compares every check, its payments and claims, and the receiver's view. @throws Violation */
  async judge(): Promise<void> {
    for (const entry of this.entries) if (entry.view !== undefined) await this.judgeOne(entry)
  }

  private async record({ step, push }: Planned, answer: StepResponse): Promise<void> {
    const entry = this.entryOf(step)
    if (entry === undefined) return
    const isAccepted = answer.message === undefined && answer.status !== null
    if (isAccepted) entry.acts += 1
    if (push !== undefined) return this.recordPush(entry, push, answer)
    if (!isAccepted) return
    if (step.do === 'claim') {
      const { id, items, status } = answer.body as ClaimView
      entry.claims.push({ id, items, status, as: step.as ?? '' })
    } else if (step.do === 'release') this.setStatus(entry, [(answer.body as ClaimView).id], 'released')
    else if (step.do === 'pay') {
      const payment = answer.body as PaymentView
      entry.payments.push({ ...payment, as: step.as ?? '' })
      this.setStatus(entry, payment.claim_ids, 'paid')
    } else if (step.do === 'refund') {
      const payment = answer.body as PaymentView
      const at = entry.payments.findIndex(({ id }) => id === payment.id)
      const as = entry.payments[at]?.as ?? ''
      entry.payments[at] = { ...payment, as }
      if (payment.status === 'refunded') this.setStatus(entry, payment.claim_ids, 'released')
    } else return
    entry.view = await this.parts.client.checks.get(entry.view?.external_id ?? '')
  }

  private setStatus({ claims }: CheckEntry, ids: readonly string[], status: ClaimView['status']): void {
    for (const claim of claims) if (ids.includes(claim.id)) claim.status = status
  }

  /** The check of a step: named by it, or by the claim or payment that it refers to. */
  private entryOf(step: ActStep): CheckEntry | undefined {
    if ('check' in step) return this.entries.find(({ history }) => history.check === step.check)
    const reference = step.do === 'release' ? step.claim : step.do === 'refund' ? step.payment : undefined
    const as = reference?.replace(/^\$|\..*$/g, '')
    return this.entries.find(({ claims, payments }) => [...claims, ...payments].some((one) => one.as === as))
  }

  private async recordPush(
    entry: CheckEntry,
    { content: push, given }: NonNullable<Planned['push']>,
    { status, body: answered, message }: StepResponse,
  ): Promise<void> {
    const { check } = entry.history
    if (given !== undefined) entry.sent = Math.max(entry.sent, given + 1)
    if (status === 409) return this.judgeRefusal(entry, answered, given)
    if (message !== undefined)
      throw new Violation('refused_without_reason', check, `The service refused a push: ${message}`)
    const id = this.parts.player.checks.get(check) ?? ''
    const view = status === null ? await this.findCheck(id) : (answered as Check)
    // The response was lost, so only the check shows whether the push was applied.
    if (view === undefined || (status === null && !sameContent(view, push))) return
    entry.view = view
    if (entry.newest === undefined || supersedes(entry.newest, push)) entry.newest = push
    this.judgeContent(entry, view)
  }

  private async findCheck(external_id: string): Promise<Check | undefined> {
    return this.parts.client.checks.get(external_id).catch(() => undefined)
  }

  private judgeRefusal(entry: CheckEntry, refusal: unknown, given: number | undefined): void {
    const { history, view } = entry
    const { conflicts = [] } = refusal as { conflicts?: { external_id: string }[] }
    const isPaid = view !== undefined && isFullyPaid(view)
    const held = new Set(
      entry.claims.flatMap(({ status, items }) =>
        status === 'released' ? [] : items.map(({ external_id }) => external_id),
      ),
    )
    const nameOf = (id: string) => view?.items.find(({ external_id }) => external_id === id)?.name ?? id
    const names = conflicts.map(({ external_id }) => JSON.stringify(nameOf(external_id))).join(', ')
    if (conflicts.length === 0 || (!isPaid && conflicts.some(({ external_id }) => !held.has(external_id))))
      throw new Violation(
        'refused_without_reason',
        history.check,
        `The service refused a push of check ${history.check} because of ${names || 'no item'}, which no guest claimed.`,
      )
    const earlier = given === undefined ? undefined : repeatedBy(history, given)
    if (given === undefined || earlier === undefined) return
    const [repeat, first] = [history.pushes[given], history.pushes[earlier]]
    const what = conflicts.length === 1 ? `the item ${names}` : `the items ${names}`
    throw new Violation(
      'stale_push_repeated',
      history.check,
      `${nameOfPush(history, given)} (${repeat?.name}) repeats the content of ${nameOfPush(history, earlier).toLowerCase()} (${first?.name}): ${what} that a guest ${isPaid ? 'paid' : 'claimed'} would vanish, so the service refuses the push.`,
    )
  }

  private judgeContent({ history: { check }, newest }: CheckEntry, view: Check): void {
    if (newest === undefined) return
    const revision = newest.revision ?? null
    if (sameContent(view, newest) && view.revision === revision) return
    const { table, status, totals, items } = newest
    throw new Violation(
      'not_converged',
      check,
      `Check ${check} does not have the content of its newest push: revision ${view.revision ?? 'none'} with a total of ${view.totals.total_cents}, expected revision ${revision ?? 'none'} with a total of ${totals.total_cents}.`,
      { table, status, totals, items, revision },
    )
  }

  private async judgeOne(entry: CheckEntry): Promise<void> {
    const { client, agreement, timeoutMs } = this.parts
    const { check } = entry.history
    const external_check_id = entry.view?.external_id ?? ''
    const view = await client.checks.get(external_check_id)
    this.judgeContent(entry, view)
    const payments: PaymentView[] = []
    if (entry.payments.length > 0)
      for await (const payment of client.payments.all({ external_check_id })) payments.push(payment)
    this.judgeMoney(entry, view, payments)
    if (entry.claims.length > 0) await this.judgeClaims(entry, view)
    const [difference, ...more] = (await agreement?.differences({ check: view, payments }, timeoutMs)) ?? []
    if (difference === undefined) return
    throw new Violation('receiver_disagrees', check, disagreementText(check, [difference, ...more]))
  }

  private judgeMoney(entry: CheckEntry, view: Check, stored: readonly PaymentView[]): void {
    const { check } = entry.history
    for (const payment of entry.payments) {
      const found = stored.find(({ id }) => id === payment.id)
      const isSame =
        found?.amount_cents === payment.amount_cents &&
        found.tip_cents === payment.tip_cents &&
        found.refunded_cents === payment.refunded_cents
      if (!isSame)
        throw new Violation(
          'payment_lost',
          check,
          `A payment of ${payment.amount_cents} cents for check ${check} is ${found === undefined ? 'lost' : 'changed'}.`,
        )
    }
    const paid_cents = entry.payments.reduce((sum, one) => sum + one.amount_cents - one.refunded_cents, 0)
    const balance_cents = view.totals.total_cents - paid_cents
    if (view.paid_cents === paid_cents && view.balance_cents === balance_cents) return
    throw new Violation(
      'balance_wrong',
      check,
      `The balance of check ${check} does not add up: ${view.totals.total_cents} in total, ${paid_cents} paid, and a balance of ${view.balance_cents}, expected ${balance_cents}.`,
      { paid_cents, balance_cents },
    )
  }

  private async judgeClaims(entry: CheckEntry, view: Check): Promise<void> {
    const { check } = entry.history
    const stored: ClaimView[] = []
    for await (const claim of this.parts.client.claims.all({ external_check_id: view.external_id }))
      stored.push(claim)
    for (const { id, items, status } of entry.claims) {
      if (status === 'released') continue
      const found = stored.find((one) => one.id === id)
      const [gone] = items.filter(({ external_id, quantity }) => {
        const item = view.items.find((one) => one.external_id === external_id)
        return item === undefined || item.claimed_quantity < quantity
      })
      if (found?.status === status && gone === undefined) continue
      const what = (gone ?? items[0])?.external_id ?? id
      throw new Violation('claim_lost', check, `A guest's claim of item ${what} of check ${check} is lost.`)
    }
  }
}

/** Returns the name of a given push: its revision, or its number. */
function nameOfPush({ pushes }: History, index: number): string {
  const revision = pushes[index]?.push.revision
  return revision === undefined ? `Push ${index + 1}` : `Revision ${revision}`
}

/** Specification section 4, without the code of the service: the highest revision wins, whatever the order of arrival. */
function supersedes(newest: OrderedPush, push: OrderedPush): boolean {
  const { revision: known } = newest
  const { revision } = push
  if (known === undefined && revision === undefined)
    return !(newest.status === 'closed' && push.status === 'open')
  if (revision === undefined) return false
  if (known === undefined || isLater(revision, known)) return true
  return revision === known && contentOf(push) > contentOf(newest)
}

/** Most differing values in a message. */
const MOST_DIFFERENCES = 2

function disagreementText(check: string, differences: readonly Disagreement[]): string {
  const described = differences
    .slice(0, MOST_DIFFERENCES)
    .map(
      ({ path, fact, expected, actual }) =>
        `${path} is ${shown(actual)}, expected ${shown(expected)} (${fact})`,
    )
  const more =
    differences.length > MOST_DIFFERENCES ? `, and ${differences.length - MOST_DIFFERENCES} more differ` : ''
  return `The receiver's view of check ${check} disagrees with the service: ${described.join('; ')}${more}.`
}

/** Long enough for some amounts or a name. */
const SHOWN = 60

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text
}
