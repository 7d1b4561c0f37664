import { z } from 'zod'
import { checkAfter, readableCurrencies } from '../../cli/guests.ts'
import { usageError } from '../../cli/errors.ts'
import { uniqueName } from '../../cli/push/bodies.ts'
import { readExampleCheck } from '../../cli/push/samples.ts'
import { pushReportOf } from '../../cli/push/source.ts'
import { renderCheck, renderChecks } from '../../cli/render/check.ts'
import { renderClaim, renderFeedback, renderGuestsReport, renderPayment } from '../../cli/render/guests.ts'
import { renderPush } from '../../cli/render/push.ts'
import { renderTriggered } from '../../cli/render/steps.ts'
import { trigger } from '../../cli/trigger.ts'
import type { Client } from '../../client.ts'
import { checkStatuses } from '../../model/check.ts'
import { eventTypes } from '../../model/event.ts'
import { adds, checkId, COLUMNS, defineTool, paged, pageInput, reads, type ToolResult } from '../tool.ts'

export const push = defineTool({
  name: 'push',
  description:
    'Push the full state of a check, as a POS does. Returns the outcome, the item diff and findings.',
  input: z.strictObject({
    check: checkId.describe('External id of the check, chosen by the POS.'),
    body: z
      .record(z.string(), z.unknown())
      .describe(
        'Check with table {number}, status open or closed, items [{external_id, name, quantity, price_cents}] and totals {subtotal_cents, tax_cents, total_cents}. Optional: revision.',
      ),
  }),
  effects: { ...adds, idempotentHint: true, openWorldHint: true },
  scopes: ['write'],
  async run({ connect }, { check: id, body }) {
    const client = await connect()
    const { status, requestId, check } = await client.checks.push(id, JSON.stringify(body))
    const report = requestId === null ? null : await pushReportOf(client, requestId)
    const currency = (await readableCurrencies(client))[check.location_id]
    return {
      text: renderPush(check, report, status, COLUMNS, currency),
      data: { status, check, push: report },
    }
  },
})

export const checks = defineTool({
  name: 'checks',
  description: 'Show one check with its items and balance, or list checks, newest first.',
  input: z.strictObject({
    check: checkId.optional().describe('External id; without it, checks are listed.'),
    status: z.enum(checkStatuses).optional().describe('Only checks with this status.'),
    table: z.string().min(1).optional().describe('Only checks at this table.'),
    ...pageInput,
  }),
  effects: reads,
  scopes: ['read'],
  async run({ connect }, { check: id, limit, ...query }) {
    const client = await connect()
    if (id !== undefined) {
      const given = Object.entries(query).find(([, value]) => value !== undefined)?.[0]
      if (given !== undefined) throw usageError(`${given} is for lists. Omit it, or omit check.`)
      const check = await client.checks.get(id)
      return { text: renderCheck(check, COLUMNS, await readableCurrencies(client)), data: check }
    }
    const list = await client.checks.list({ limit, ...query })
    const isFiltered = Object.values(query).some((value) => value !== undefined)
    const text = renderChecks(
      list.data,
      COLUMNS,
      await readableCurrencies(client),
      isFiltered ? 'No checks match.' : undefined,
    )
    return { text: paged(text, list), data: list }
  },
})

export const triggerTool = defineTool({
  name: 'trigger',
  description:
    'Cause an event by its real steps: pushes, claims, pays, rates or closes a new check, or the given one. Sends webhooks.',
  input: z.strictObject({
    event: z.enum(eventTypes).describe('Event type.'),
    check: checkId.optional().describe('External id of the check; a new check by default.'),
  }),
  effects: { ...adds, openWorldHint: true },
  scopes: ['read', 'write', 'simulate'],
  async run({ connect }, { event, check = uniqueName('trigger') }) {
    const client = await connect()
    // Checked before the first push: only a simulator can list events.
    await client.health()
    const triggered = await trigger(event, { client, check, example: await readExampleCheck() })
    const { location_id } = await checkAfter(client, triggered.external_check_id)
    return {
      text: renderTriggered(triggered, (await readableCurrencies(client))[location_id]),
      data: triggered,
    }
  },
})

/** Arguments of each action. */
const argumentsOf = {
  claim: ['check', 'items', 'guest_name'],
  release: ['claim'],
  pay: ['check', 'claim_ids', 'amount_cents', 'tip_cents', 'guest_name'],
  refund: ['payment', 'amount_cents'],
  rate: ['check', 'rating', 'comment', 'guest_name'],
  play: ['seed', 'table'],
} as const

const guestsInput = z.strictObject({
  action: z
    .enum(Object.keys(argumentsOf) as (keyof typeof argumentsOf)[])
    .describe('claim items, release a claim, pay, refund a payment, rate, or play guests until all is paid.'),
  check: checkId.optional().describe('External id of the check; for claim, pay and rate.'),
  items: z
    .array(z.strictObject({ external_id: z.string().min(1), quantity: z.number().positive() }))
    .min(1)
    .optional()
    .describe('Items to claim.'),
  claim: z.string().min(1).optional().describe('Id of the claim to release.'),
  claim_ids: z.array(z.string().min(1)).min(1).optional().describe('Claims to pay.'),
  payment: z.string().min(1).optional().describe('Id of the payment to refund.'),
  amount_cents: z.int().min(1).optional().describe('Amount to pay or to refund; the whole rest by default.'),
  tip_cents: z.int().min(0).optional().describe('Tip of a payment.'),
  rating: z.int().min(1).max(5).optional().describe('Rating from 1 to 5 (best).'),
  comment: z.string().optional().describe('Comment of a rating.'),
  guest_name: z.string().min(1).max(255).optional().describe('Name of the guest.'),
  seed: z.int().min(0).optional().describe('Seed of played guests; 1 by default.'),
  table: z.string().min(1).optional().describe('Play guests at this table only.'),
})
type GuestsInput = z.infer<typeof guestsInput>

export const guests = defineTool({
  name: 'guests',
  description:
    'Act as guests: claim, release, pay, refund or rate, or play guests on all open checks. Sends webhooks.',
  input: guestsInput,
  effects: { ...adds, openWorldHint: true },
  scopes: ['simulate'],
  run: async ({ connect }, input, signal) => act(await connect(), input, signal),
})

async function act(client: Client, input: GuestsInput, signal: AbortSignal): Promise<ToolResult> {
  const { action, guest_name = null, amount_cents } = input
  refuseOthers(input)
  if (action === 'play') return play(client, input, signal)
  const required = requiredFor(input)
  if (action === 'claim') {
    const claim = await client.guests.claim(required('check'), { guest_name, items: required('items') })
    const { items, location_id } = await checkAfter(client, claim.external_check_id)
    return { text: renderClaim(claim, items, (await readableCurrencies(client))[location_id]), data: claim }
  }
  if (action === 'release') {
    const claim = await client.guests.release(required('claim'))
    const { items, location_id } = await checkAfter(client, claim.external_check_id)
    return { text: renderClaim(claim, items, (await readableCurrencies(client))[location_id]), data: claim }
  }
  if (action === 'rate') {
    const { comment = null } = input
    const body = { guest_name, rating: required('rating'), comment }
    const feedback = await client.guests.rate(required('check'), body)
    return { text: renderFeedback(feedback), data: feedback }
  }
  const amount = amount_cents === undefined ? {} : { amount_cents }
  const payment =
    action === 'refund'
      ? await client.guests.refund(required('payment'), amount)
      : await client.guests.pay(required('check'), {
          guest_name,
          ...amount,
          ...(input.claim_ids && { claim_ids: input.claim_ids }),
          ...(input.tip_cents !== undefined && { tip_cents: input.tip_cents }),
        })
  const check = await checkAfter(client, payment.external_check_id)
  return { text: renderPayment(payment, check), data: payment }
}

async function play(client: Client, { seed, table }: GuestsInput, signal: AbortSignal): Promise<ToolResult> {
  const report = await client.guests.play({ seed, table, signal })
  const currency = (await readableCurrencies(client))[report.location_id ?? '']
  return { text: renderGuestsReport(report, currency), data: report }
}

/** @throws CommandError (usage) for an argument of another action: without it, `pay` with `items` pays for all. */
function refuseOthers({ action, ...given }: GuestsInput): void {
  const own: readonly string[] = argumentsOf[action]
  const other = Object.entries(given).find(([name, value]) => value !== undefined && !own.includes(name))?.[0]
  if (other !== undefined)
    throw usageError(`${other} is not for the action ${action}, which takes: ${own.join(', ')}.`)
}

/** Returns a reader of arguments that an action needs. It throws CommandError (usage) for one that is missing. */
function requiredFor(input: GuestsInput) {
  return <Name extends keyof GuestsInput>(name: Name): NonNullable<GuestsInput[Name]> => {
    const value = input[name]
    if (value !== undefined) return value
    throw usageError(`${name} is required for the action ${input.action}.`)
  }
}
