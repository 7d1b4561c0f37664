import { ApiError, type Client } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/claim.ts'
import type { FeedbackView } from '../../model/feedback.ts'
import type { PaymentView } from '../../model/payment.ts'
import { ORDER_BY } from '../../model/revision.ts'
import { CommandError } from '../errors.ts'
import { unclaimedItems } from '../guests/items.ts'
import { bodyOf, next, orderedBy, withAnotherLine, type PushBody } from '../push/bodies.ts'
import type { EventType } from '../../model/event.ts'

/** What can be done to a check, by its POS or by a guest. */
export type StepName = 'push' | 'change' | 'close' | 'claim' | 'pay' | 'pay_part' | 'refund' | 'rate'

/**
 * What leads to each event (specification section 6, contract sections 6 and 7). The last step gives the event; those
 * before it make sure that it can, and are left out where a check is as they would make it.
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

/** The check that is played with, and how. */
export interface Scene {
  client: Client
  /** The check's external id. */
  check: string
  /** What a check of its own is made of. */
  example: PushBody
  /** Changes the first body that is pushed. */
  override: (body: PushBody) => PushBody
}

interface Step {
  /** Whether the check is as this step would make it. */
  isDone?: (scene: Scene) => Promise<boolean>
  /** Whether it pushes a body. */
  pushes?: true
  act: (scene: Scene) => Promise<Check | ClaimView | PaymentView | FeedbackView>
}

export const steps: Record<StepName, Step> = {
  push: {
    pushes: true,
    isDone: async (scene) => (await found(scene)) !== undefined,
    act: (scene) => push(scene, scene.example),
  },
  change: { pushes: true, act: async (scene) => push(scene, withAnotherLine(await current(scene))) },
  close: {
    pushes: true,
    act: async (scene) => push(scene, next(await current(scene), { status: 'closed' })),
  },
  claim: { act: claimOne },
  pay: { act: ({ client, check }) => client.guests.pay(check) },
  pay_part: {
    isDone: async (scene) => (await refundable(scene)) !== undefined,
    act: payHalf,
  },
  refund: {
    async act(scene) {
      const payment = await refundable(scene)
      if (payment === undefined) throw nothing(scene, 'a payment that could be refunded')
      return scene.client.guests.refund(payment.id)
    },
  },
  rate: {
    act: ({ client, check }) =>
      client.guests.rate(check, { guest_name: 'Mia', rating: 5, comment: 'The tart alone was worth it.' }),
  },
}

/** The check, if it is there. */
async function found({ client, check }: Pick<Scene, 'client' | 'check'>): Promise<Check | undefined> {
  return client.checks.get(check).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
}

async function push(scene: Scene, body: PushBody): Promise<Check> {
  const { order_by = ORDER_BY } = await scene.client.health()
  const sent = JSON.stringify(orderedBy(order_by, scene.override(body)))
  scene.override = (later) => later
  return (await scene.client.checks.push(scene.check, sent)).check
}

async function current({ client, check }: Scene): Promise<PushBody> {
  return bodyOf(await client.checks.get(check))
}

/** One of the first line of which something is left, or what is left of it. */
async function claimOne(scene: Scene): Promise<ClaimView> {
  const { client, check } = scene
  const { items } = await client.checks.get(check)
  const [first] = unclaimedItems({ items })
  if (first === undefined) throw nothing(scene, 'anything left that could be claimed')
  const item = { ...first, quantity: Math.min(first.quantity, 1) }
  return client.guests.claim(check, { guest_name: 'Mia', items: [item] })
}

/** A guest pays half of what is owed: all of it would give `check.fully_paid`, too. */
async function payHalf({ client, check }: Scene): Promise<PaymentView> {
  const { balance_cents } = await client.checks.get(check)
  const half = balance_cents > 0 ? { amount_cents: Math.ceil(balance_cents / 2) } : {}
  return client.guests.pay(check, { guest_name: 'Mia', ...half })
}

async function refundable({ client, check }: Scene): Promise<PaymentView | undefined> {
  const { data } = await client.payments.list({ external_check_id: check, limit: 100 })
  return data.find(({ status }) => status !== 'refunded')
}

function nothing({ check }: Scene, what: string): CommandError {
  return new CommandError(
    'cannot_trigger',
    `Check ${check} does not have ${what}. Leave --check out for a check of its own.`,
  )
}
