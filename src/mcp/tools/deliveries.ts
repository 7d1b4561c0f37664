import { pageLimit } from '../../model/simulator/list-queries.ts'
import { z } from 'zod'
import { explainMissing } from '../../assertions/delivered-verdict.ts'
import { byAge } from '../../assertions/delivered.ts'
import { waitForDeliveries } from '../../assertions/wait.ts'
import { endpointFilter, endpointUrls } from '../../cli/endpoint-urls.ts'
import { renderDeliveries, renderDelivery, renderMet, renderResent } from '../../cli/render/delivery.ts'
import { renderEndpoints } from '../../cli/render/resources.ts'
import { printable } from '../../cli/render/text.ts'
import { ifRefused } from '../../cli/errors.ts'
import { attemptOutcomes, deliveryWords, type Delivery } from '../../model/delivery.ts'
import { eventTypesAndPing } from '../../model/event.ts'
import type { SentRequest } from '../../model/simulator/sent-request.ts'
import { COLUMNS, adds, checkId, defineTool, LONGEST_CALL, paged, pageInput, reads } from '../tool.ts'

const filters = {
  type: z.enum(eventTypesAndPing).optional().describe('Only deliveries of this event type.'),
  check: checkId.optional().describe('Only deliveries for this check (external id).'),
  endpoint: z.string().min(1).optional().describe('Only deliveries to this endpoint (id or URL).'),
}

const deliveryId = z.string().min(1).describe('Id of the delivery, dlv_….')

export const endpoints = defineTool({
  name: 'endpoints',
  description: 'List webhook endpoints: URL, event types and status. Shows no secrets.',
  input: z.strictObject(pageInput),
  effects: reads,
  scopes: ['read'],
  async run({ connect }, query) {
    const list = await (await connect()).endpoints.list(query)
    return { text: paged(renderEndpoints(list.data, COLUMNS), list), data: list }
  },
})

export const deliveriesList = defineTool({
  name: 'deliveries_list',
  description: 'List webhook deliveries, newest first, with the result of their attempts.',
  input: z.strictObject({
    ...filters,
    status: z.enum(deliveryWords).optional().describe('Only deliveries with this status.'),
    outcome: z
      .enum(attemptOutcomes)
      .optional()
      .describe('Only deliveries whose latest attempt has this outcome.'),
    ...pageInput,
  }),
  effects: reads,
  scopes: ['simulate'],
  async run({ connect }, { check, endpoint, ...query }) {
    const client = await connect()
    const { limit, ...filter } = {
      ...query,
      external_check_id: check,
      endpoint_id: await endpointFilter(client, endpoint),
    }
    const list = await client.deliveries.list({ limit, ...filter })
    const urls = await endpointUrls(client).catch(ifRefused({}))
    const isFiltered = Object.values(filter).some((value) => value !== undefined)
    const text = renderDeliveries(list.data, urls, WIDE, isFiltered ? 'No deliveries match.' : undefined)
    return { text: paged(text, list), data: list }
  },
})

/** Width at which a row of a list has the id and the URL, in columns. */
const WIDE = 200

export const deliveriesShow = defineTool({
  name: 'deliveries_show',
  description:
    'Show a delivery: each attempt with status, response headers, response body and cause, and the request as sent with headers and raw body.',
  input: z.strictObject({ delivery: deliveryId }),
  effects: reads,
  scopes: ['simulate'],
  async run({ connect }, { delivery: id }) {
    const client = await connect()
    const delivery = await client.deliveries.get(id)
    const { json } = await client.request('GET', `/_sim/deliveries/${encodeURIComponent(id)}/request`)
    const request = json as SentRequest
    const state = request.endpoint.disabled_reason ?? request.endpoint.status
    const text = [
      renderDelivery(
        delivery,
        request.endpoint.status === 'removed' ? undefined : (request.url ?? undefined),
        COLUMNS,
      ),
      `Endpoint: ${printable(state)}`,
      `${request.method} ${printable(request.url ?? '')}`,
      ...request.headers.map(({ name, value }) => `${name}: ${printable(value)}`),
      '',
      printable(request.body),
    ]
    return { text: text.join('\n'), data: { delivery, request } }
  },
})

export const deliveriesWait = defineTool({
  name: 'deliveries_wait',
  description:
    'Wait until matching deliveries have come, or assert that none comes. Checks existing deliveries first. Returns met: false with the cause: the time is up, or a delivery has come that must not.',
  input: z.strictObject({
    ...filters,
    status: z
      .enum(['delivered', 'dead', 'pending'])
      .optional()
      .describe('Status to wait for. Default: delivered; with none: true, any attempted delivery.'),
    count: z.int().min(1).max(100).default(1).describe('Minimum number of deliveries; 1 by default.'),
    none: z.boolean().default(false).describe('true asserts that no such delivery comes before the timeout.'),
    timeout: z
      .int()
      .min(0)
      .max(LONGEST_CALL)
      .default(10)
      .describe(`Seconds to wait, at most ${LONGEST_CALL}; 0 checks existing deliveries only.`),
  }),
  effects: reads,
  scopes: ['simulate'],
  async run({ connect }, { timeout, ...asked }, signal) {
    const client = await connect()
    const status = asked.status ?? (asked.none ? 'attempted' : 'delivered')
    const endpoint = await endpointFilter(client, asked.endpoint)
    const wanted = { ...asked, endpoint, status, exactly: false } as const
    const limit = timeout === 0 ? AbortSignal.abort() : AbortSignal.timeout(timeout * 1_000)
    const verdict = await waitForDeliveries(client, wanted, AbortSignal.any([limit, signal]))
    if (verdict.ok)
      return { text: renderMet(verdict.deliveries), data: { met: true, ...newestOf(verdict.deliveries) } }
    const { code, message, seen } = verdict
    const why = asked.none ? [] : await explainMissing(client, wanted)
    const waited = code === 'came_anyway' ? [] : [`Waited ${timeout} s.`]
    const text = [message, ...waited, ...why].join('\n')
    return { text: printableLines(text), data: { met: false, code, message, why, ...newestOf(seen) } }
  },
})

/** Returns the newest deliveries, as many as a list has by default, and the number of all. */
function newestOf(deliveries: readonly Delivery[]): { total: number; data: Delivery[] } {
  const newestFirst = deliveries.toSorted(byAge).reverse()
  return { total: deliveries.length, data: newestFirst.slice(0, pageLimit.default) }
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

export const deliveriesResend = defineTool({
  name: 'deliveries_resend',
  description: 'Send a delivery again, as a new delivery of the same event. Does not wait for the outcome.',
  input: z.strictObject({
    delivery: deliveryId,
    fresh: z
      .boolean()
      .default(true)
      .describe('Sign with the current time (default); false repeats the header of the first attempt.'),
  }),
  effects: { ...adds, openWorldHint: true },
  scopes: ['simulate'],
  async run({ connect }, { delivery, fresh }) {
    const resent = await (await connect()).deliveries.resend(delivery, { fresh })
    return { text: renderResent(resent), data: resent }
  },
})
