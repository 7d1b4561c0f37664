import fc from 'fast-check'
import { expect } from 'vitest'
import { command, expectStored, ids, type Command } from './command.ts'
import {
  balanceCents,
  isClaimable,
  owedCents,
  priceOf,
  settle,
  unclaimed,
  type Claim,
  type Line,
  type State,
} from './guests.ts'
import { happened, type Model } from './model.ts'
import type { Real } from './real.ts'

type Answer = Awaited<ReturnType<Real['claim']>>

/** Status of the result, or the code of a refusal, which changes nothing. */
function expectAnswer({ status, json }: Answer, wanted: number | string): void {
  const { error } = json as { error?: { code: string } }
  expect(error?.code ?? status).toBe(wanted)
}

const idOf = ({ json }: Answer) => (json as { id: string }).id

/** Picks an element of a non-empty list for any number. */
function pick<T>(list: readonly T[], number: number): T {
  return list[number % list.length] as T
}

/** A command on a check that has been pushed, for as long as it makes sense; afterwards all is to be seen as it should. */
function onCheck(
  name: string,
  id: string,
  makesSense: (state: State) => boolean,
  run: (state: State, real: Real, model: Model) => Promise<void>,
): Command {
  const stateOf = (model: Model) => model.checks.get(id)
  return command(
    `${name} of ${id}`,
    async (model, real) => {
      const state = stateOf(model)
      if (state !== undefined) await run(state, real, model)
      await expectStored(model, real, id)
    },
    (model) => {
      const state = stateOf(model)
      return state !== undefined && makesSense(state)
    },
  )
}

const anyCheck = () => true

const line = fc.record({
  external_id: fc.constantFrom('line-0', 'line-0', 'line-1', 'line-1', 'line-2', 'line-3'),
  quantity: fc.constantFrom(1, 1, 1, 2, 3, 0.5, 0.3, 0.3, 0.001, 0),
})
const lines = fc.oneof(
  { weight: 3, arbitrary: line.map((one) => [one]) },
  { weight: 1, arbitrary: fc.uniqueArray(line, { selector: (one) => one.external_id, minLength: 2 }) },
)

async function claimAndExpect(id: string, items: readonly Line[], state: State, real: Real, model: Model) {
  const answer = await real.claim(id, { items })
  expectAnswer(answer, isClaimable(state, items) ? 201 : 'not_claimable')
  if (!isClaimable(state, items)) return
  state.claims.push({
    id: idOf(answer),
    items: items.map((one) => ({ ...one, price_cents: priceOf(state, one.external_id) })),
    status: 'active',
    payment_id: null,
    settled_cents: 0,
  })
  happened(model, id, 'claim.created')
}

const claim = fc.tuple(ids, lines).map(([id, items]) => {
  const name = items.map((one) => `${one.quantity} ${one.external_id}`).join(', ')
  return onCheck(`Claim(${name})`, id, anyCheck, (state, real, model) =>
    claimAndExpect(id, items, state, real, model),
  )
})

/** Which completes the check. */
const claimRest = ids.map((id) =>
  onCheck(
    'ClaimRest',
    id,
    (state) => unclaimed(state).length > 0,
    (state, real, model) => claimAndExpect(id, unclaimed(state), state, real, model),
  ),
)

const hasClaims = ({ claims }: State) => claims.length > 0

const release = fc.tuple(ids, fc.nat(9)).map(([id, which]) =>
  onCheck(`Release(${which})`, id, hasClaims, async (state, real) => {
    const one = pick(state.claims, which)
    expectAnswer(await real.release(one.id), one.status === 'paid' ? 'claim_not_active' : 200)
    if (one.status === 'active') settle(state, [one], { status: 'released', payment_id: null })
  }),
)

interface Payable {
  body: object
  amount: number
  /** The claims that are named. */
  named: readonly Claim[]
}

async function payAndExpect(
  id: string,
  { body, amount, named }: Payable,
  state: State,
  real: Real,
  model: Model,
) {
  const tip_cents = amount % 3 === 0 ? 150 : 0
  const answer = await real.pay(id, { ...body, tip_cents })
  const balance = balanceCents(state)
  if (named.some(({ status }) => status !== 'active')) return expectAnswer(answer, 'claim_not_active')
  if (balance <= 0 || amount > balance) return expectAnswer(answer, 'exceeds_balance')
  expectAnswer(answer, 201)
  const isAll = amount === balance
  const paid = state.claims.filter((one) => (isAll ? one.status === 'active' : named.includes(one)))
  const [payment_id, claim_ids] = [idOf(answer), paid.map((one) => one.id)]
  settle(state, paid, { status: 'paid', payment_id })
  const status = 'succeeded'
  state.payments.push({
    id: payment_id,
    claim_ids,
    amount_cents: amount,
    tip_cents,
    refunded_cents: 0,
    status,
  })
  happened(model, id, 'payment.succeeded', isAll && 'check.fully_paid')
}

const payBalance = ids.map((id) =>
  onCheck('PayBalance', id, anyCheck, (state, real, model) =>
    payAndExpect(id, { body: {}, amount: balanceCents(state), named: [] }, state, real, model),
  ),
)

const payAmount = fc.tuple(ids, fc.constantFrom(0.2, 0.5, 1, 1.1)).map(([id, part]) =>
  onCheck(`PayAmount(${part} of the balance)`, id, anyCheck, (state, real, model) => {
    const amount = Math.max(1, Math.ceil(balanceCents(state) * part))
    return payAndExpect(id, { body: { amount_cents: amount }, amount, named: [] }, state, real, model)
  }),
)

const payClaims = fc
  .tuple(ids, fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 3 }))
  .map(([id, which]) =>
    onCheck(`PayClaims(${which.join(', ')})`, id, hasClaims, (state, real, model) => {
      const named = [...new Set(which.map((one) => pick(state.claims, one)))]
      const amount = named.reduce((all, one) => all + owedCents(state, one), 0)
      return payAndExpect(
        id,
        { body: { claim_ids: named.map((one) => one.id) }, amount, named },
        state,
        real,
        model,
      )
    }),
  )

const hasPayments = ({ payments }: State) => payments.length > 0

const refund = fc.tuple(ids, fc.nat(9), fc.constantFrom(null, null, 0.3, 1, 1.1)).map(([id, which, part]) =>
  onCheck(`Refund(${which}, ${part ?? 'the rest'})`, id, hasPayments, async (state, real, model) => {
    const payment = pick(state.payments, which)
    const rest = payment.amount_cents - payment.refunded_cents
    const amount = part === null ? rest : Math.max(1, Math.ceil(payment.amount_cents * part))
    const answer = await real.refund(payment.id, part === null ? {} : { amount_cents: amount })
    if (payment.status === 'refunded' || amount > rest) return expectAnswer(answer, 'exceeds_payment')
    expectAnswer(answer, 200)
    payment.refunded_cents += amount
    payment.status = amount === rest ? 'refunded' : 'partially_refunded'
    const freed = state.claims.filter((one) => one.status === 'paid' && one.payment_id === payment.id)
    if (amount === rest) for (const one of freed) one.status = 'released'
    happened(model, id, 'payment.refunded')
  }),
)

/** Guests' commands, which are more frequent than pushes, because they need one first. */
export const guestCommands: fc.Arbitrary<Command>[] = [
  ...[claim, claim, claim, claimRest, release, payBalance, payAmount, payClaims, payClaims, refund, refund],
]
