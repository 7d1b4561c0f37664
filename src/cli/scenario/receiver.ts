import type { Client } from '../../client.ts'
import { NotJudged } from '../../conformance/receiver/convergence/state-view.ts'
import type { Agreement, KnownCheck } from '../../conformance/receiver/agreement.ts'
import { newToken } from '../../ids.ts'
import type { PaymentView } from '../../model/guests/records.ts'
import { TRIAL_PREFIX } from '../../model/simulator/request-entry.ts'
import type { PushBody } from '../push/bodies.ts'
import type { Judge } from './expect.ts'

/** Compares the receiver's view of a check with the check and its payments at the service. */
export function judgeBy(client: Client, agreement: Agreement): Judge {
  return async (id) => agreement.differences(await knownCheck(client, id))
}

async function knownCheck(client: Client, external_check_id: string): Promise<KnownCheck> {
  const payments: PaymentView[] = []
  for await (const payment of client.payments.all({ external_check_id })) payments.push(payment)
  return { check: await client.checks.get(external_check_id), payments }
}

/** A check of one push, and what its guests pay and get back. */
interface Example {
  body: PushBody
  payments: readonly { amount_cents: number; tip_cents: number }[]
  refund_cents?: number
}

/**
 * Checks that differ in every fact, so that each value of a view shows one fact only. The number of items does not count
 * the checks, as the row ids of a new database do. The closed check has neither a refund nor two payments.
 */
const examples: readonly Example[] = [
  {
    body: bodyOf(
      '72',
      'open',
      [
        [1, 1310],
        [3, 470],
      ],
      263,
      23,
    ),
    payments: [
      { amount_cents: 790, tip_cents: 130 },
      { amount_cents: 310, tip_cents: 0 },
    ],
    refund_cents: 370,
  },
  { body: bodyOf('71', 'open', [[2, 1130]], 187, 11), payments: [] },
  {
    body: bodyOf(
      '73',
      'closed',
      [
        [4, 290],
        [5, 610],
        [6, 970],
      ],
      419,
      37,
    ),
    payments: [{ amount_cents: 2460, tip_cents: 210 }],
  },
]

function bodyOf(
  table: string,
  status: PushBody['status'],
  lines: readonly (readonly [quantity: number, price_cents: number])[],
  tax_cents: number,
  revision: number,
): PushBody {
  const subtotal_cents = lines.reduce((sum, [quantity, price]) => sum + quantity * price, 0)
  return {
    table: { number: table },
    status,
    items: lines.map(([quantity, price_cents], at) => ({
      external_id: `line-${table}-${at + 1}`,
      name: `Example ${table}-${at + 1}`,
      quantity,
      price_cents,
      note: at === 0 ? `Note ${table}` : null,
    })),
    totals: { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents },
    revision,
  }
}

/**
 * Teaches an agreement by checks of our own, whose deliveries come in order and once. With `endpoint_id`, only those to this
 * endpoint count.
 * @throws NotJudged when the receiver does not accept them, or its view shows nothing of them.
 */
export async function learnBy(
  client: Client,
  agreement: Agreement,
  orderBy: string,
  endpoint_id?: string,
): Promise<void> {
  const token = newToken()
  const known: KnownCheck[] = []
  for (const [number, { body, payments, refund_cents }] of examples.entries()) {
    const id = `${TRIAL_PREFIX}${token}-${number}`
    const { revision, ...content } = body
    await client.checks.push(id, JSON.stringify({ ...content, [orderBy]: revision }))
    await requireDelivered(client, { external_check_id: id, endpoint_id })
    for (const payment of payments) {
      const { id: paid } = await client.guests.pay(id, payment)
      await client.clock.advance('1s')
      if (refund_cents === undefined || payment !== payments[0]) continue
      await client.guests.refund(paid, { amount_cents: refund_cents })
      await client.clock.advance('1s')
    }
    known.push(await knownCheck(client, id))
  }
  await agreement.learn(known)
}

async function requireDelivered(
  client: Client,
  of: { external_check_id: string; endpoint_id: string | undefined },
): Promise<void> {
  await client.clock.advance('1s')
  const { data } = await client.deliveries.list({ ...of, limit: 100 })
  const failed = data.find(({ status }) => status !== 'delivered')
  if (data.length === 0)
    throw new NotJudged('No delivery was sent. Register the receiver as a webhook endpoint, or pass its URL.')
  if (failed === undefined) return
  const { error, response_status = null } = failed.attempts.at(-1) ?? {}
  const why =
    response_status === null
      ? (error ?? 'Its deliveries are pending.')
      : `It answered ${response_status}. Check its secret, the name of the signature header and its log.`
  throw new NotJudged(`The receiver did not accept a valid delivery. ${why}`)
}
