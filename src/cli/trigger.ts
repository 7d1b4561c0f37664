import type { Client } from '../client.ts'
import { ignoreNotFound } from '../client/errors.ts'
import type { Check } from '../model/check.ts'
import type { EventView } from '../model/event-view.ts'
import type { EventType } from '../model/event.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../model/guests/records.ts'
import { ORDER_BY } from '../model/revision.ts'
import { CommandError, usageError } from './errors.ts'
import { unclaimedItems } from './guests.ts'
import { pushBodyOf, next, orderedBy, type PushBody, withAnotherLine } from './push/bodies.ts'
import { suggestion } from './suggestion.ts'

/** A step that was taken, and the service's answer. */
export interface TakenStep {
  step: StepName
  resource: Awaited<ReturnType<(typeof steps)[StepName]['act']>>
}

/** The steps that were taken for an event, and the event. */
export interface Triggered {
  external_check_id: string
  steps: readonly TakenStep[]
  event: EventView
}

/**
 * Takes the steps that lead to an event.
 * @throws CommandError when the check cannot have the event, or (usage) when there is an `override` and no step pushes;
 * ApiError for a refusal by the service.
 */
export async function trigger(type: EventType, context: TriggerContext): Promise<Triggered> {
  const plan = await planOf(recipes[type], context)
  const firstPush = plan.findIndex((name) => steps[name].pushes)
  if (context.override !== undefined && firstPush === -1) throw nothingPushed(type, context)
  const before = (await newest(type, context))?.id
  const taken: TakenStep[] = []
  for (const [index, step] of plan.entries()) {
    const override = index === firstPush ? context.override : undefined
    taken.push({ step, resource: await steps[step].act({ ...context, override }) })
  }
  const event = await newest(type, context)
  if (event === undefined || event.id === before) throw noEventError(type, context, plan)
  return { external_check_id: context.check, steps: taken, event }
}

/** Returns the steps to take: the last one, and those before it whose result is missing. */
async function planOf(recipe: readonly StepName[], context: TriggerContext): Promise<StepName[]> {
  const plan: StepName[] = []
  for (const [index, name] of recipe.entries())
    if (index === recipe.length - 1 || !(await steps[name].isDone?.(context))) plan.push(name)
  if (recipe.length === 1 && (await steps.push.isDone?.(context)))
    throw new CommandError(
      'cannot_trigger',
      `Check ${context.check} already exists, so it cannot be created again. Omit --check to use a new check.`,
    )
  return plan
}

async function newest(type: EventType, { client, check }: TriggerContext): Promise<EventView | undefined> {
  const { data } = await client.events.list({ type, external_check_id: check, limit: 1 })
  return data[0]
}

function nothingPushed(type: EventType, { check }: TriggerContext): CommandError {
  return usageError(
    `--override changes a pushed body, but ${type} on the existing check ${check} needs no push. Omit --check to use a new check.`,
  )
}

function noEventError(type: EventType, { check }: TriggerContext, plan: readonly StepName[]): CommandError {
  return new CommandError(
    'no_event',
    `These steps on check ${check} caused no ${type}: ${plan.join(', ')}. To see its state, run: ${suggestion('checks show', [check])}`,
  )
}

/** A step that the POS or a guest can take on a check. */
type StepName = 'push' | 'change' | 'close' | 'claim' | 'pay' | 'pay_part' | 'refund' | 'rate'

/**
 * Steps that lead to each event (specification section 6, contract sections 6 and 7). The last step causes the event;
 * those before it prepare the check, and are left out where their result exists.
 */
export const recipes = {
  'check.created': ['push'],
  'check.updated': ['push', 'change'],
  'check.closed': ['push', 'close'],
  'check.fully_paid': ['push', 'pay'],
  'payment.succeeded': ['push', 'pay_part'],
  'payment.refunded': ['push', 'pay_part', 'refund'],
  'claim.created': ['push', 'claim'],
  'feedback.received': ['push', 'rate'],
} as const satisfies Record<EventType, readonly StepName[]>

/** The check to act on, and how. */
interface TriggerContext {
  client: Client
  /** The check's external id. */
  check: string
  /** Body of a new check. */
  example: PushBody
  /** Changes the first pushed body. */
  override?: ((body: PushBody) => PushBody) | undefined
}

interface Step {
  /** Resolves with true when the check has this step's result already. */
  isDone?: (context: TriggerContext) => Promise<boolean>
  /** True when the step pushes a body. */
  pushes?: true
  act: (context: TriggerContext) => Promise<Check | ClaimView | PaymentView | FeedbackView>
}

const steps: Record<StepName, Step> = {
  push: {
    pushes: true,
    isDone: async (context) => (await found(context)) !== undefined,
    act: (context) => push(context, context.example),
  },
  change: { pushes: true, act: async (context) => push(context, withAnotherLine(await current(context))) },
  close: {
    pushes: true,
    act: async (context) => push(context, next(await current(context), { status: 'closed' })),
  },
  claim: { act: claimOne },
  pay: { act: ({ client, check }) => client.guests.pay(check) },
  pay_part: {
    isDone: async (context) => (await refundable(context)) !== undefined,
    act: payHalf,
  },
  refund: {
    async act(context) {
      const payment = await refundable(context)
      if (payment === undefined) throw nothing(context, 'refundable payment')
      return context.client.guests.refund(payment.id)
    },
  },
  rate: {
    act: ({ client, check }) =>
      client.guests.rate(check, { guest_name: 'Mia', rating: 5, comment: 'The tart was worth the wait.' }),
  },
}

/** Returns the check, if it exists. */
async function found({
  client,
  check,
}: Pick<TriggerContext, 'client' | 'check'>): Promise<Check | undefined> {
  return client.checks.get(check).catch(ignoreNotFound)
}

async function push(context: TriggerContext, body: PushBody): Promise<Check> {
  const { order_by = ORDER_BY } = await context.client.health()
  const sent = JSON.stringify(orderedBy(order_by, context.override?.(body) ?? body))
  return (await context.client.checks.push(context.check, sent)).check
}

async function current({ client, check }: TriggerContext): Promise<PushBody> {
  return pushBodyOf(await client.checks.get(check))
}

/** Claims a quantity of 1 of the first item with an unclaimed rest, or the rest if it is less. */
async function claimOne(context: TriggerContext): Promise<ClaimView> {
  const { client, check } = context
  const { items } = await client.checks.get(check)
  const [first] = unclaimedItems({ items })
  if (first === undefined) throw nothing(context, 'unclaimed item')
  const item = { ...first, quantity: Math.min(first.quantity, 1) }
  return client.guests.claim(check, { guest_name: 'Mia', items: [item] })
}

/** Pays half of the balance: paying all of it would cause `check.fully_paid`, too. */
async function payHalf({ client, check }: TriggerContext): Promise<PaymentView> {
  const { balance_cents } = await client.checks.get(check)
  const half = balance_cents > 0 ? { amount_cents: Math.ceil(balance_cents / 2) } : {}
  return client.guests.pay(check, { guest_name: 'Mia', ...half })
}

async function refundable({ client, check }: TriggerContext): Promise<PaymentView | undefined> {
  const { data } = await client.payments.list({ external_check_id: check, limit: 100 })
  return data.find(({ status }) => status !== 'refunded')
}

function nothing({ check }: TriggerContext, what: string): CommandError {
  return new CommandError('cannot_trigger', `Check ${check} has no ${what}. Omit --check to use a new check.`)
}
