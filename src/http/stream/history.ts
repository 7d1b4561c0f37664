import type { Delivery } from '../../model/delivery.ts'
import type { WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import type { Service } from '../../service.ts'
import type { RequestLog } from '../request-log/log.ts'
import { attemptMessage, requestMessage, retiredMessage, type StreamMessage } from './message.ts'
import { timers } from '../../timers.ts'

/** Page size of reads, between which other requests run. */
const PAGE = { deliveries: 500, requests: 50 }

/** A message with its time for sorting, ISO 8601. */
interface Dated extends StreamMessage {
  at: string
}

const rank = { reset: 0, request: 1, event: 2, attempt: 3, delivery: 4, dropped: 5 } satisfies Record<
  StreamMessage['type'],
  number
>

interface HistoryParts {
  service: Pick<Service, 'list' | 'get'>
  log: Pick<RequestLog, 'list' | 'get'>
}

/**
 * Returns stored attempts and requests that started at `since` (ISO 8601 UTC) or later, oldest first. Adds deliveries that
 * ended since then because their endpoint was disabled. Events are not included, because they have their own list.
 * @throws Refusal `storage_unavailable`.
 */
export async function readHistory({ service, log }: HistoryParts, since: string): Promise<StreamMessage[]> {
  const found = [...(await deliveriesSince(service, since)), ...(await requestsSince(log, since))]
  // At equal timestamps, causes sort before effects, and attempts of a delivery keep their order.
  return found.sort((one, other) => compare(one.at, other.at) || rank[one.type] - rank[other.type])
}

async function deliveriesSince(service: HistoryParts['service'], since: string): Promise<Dated[]> {
  const endpoints = new Map<string, WebhookEndpoint | undefined>()
  const diedAt = async ({ status, dead_reason, endpoint_id }: Delivery) => {
    if (status !== 'dead' || dead_reason !== 'endpoint_disabled') return null
    if (!endpoints.has(endpoint_id)) endpoints.set(endpoint_id, await service.get('endpoints', endpoint_id))
    return endpoints.get(endpoint_id)?.disabled_at ?? null
  }
  const pages: Dated[][] = []
  let after: string | undefined
  for (;;) {
    const { data, more } = await service.list('deliveries', { after, limit: PAGE.deliveries })
    const page: Dated[] = []
    for (const delivery of data.toReversed()) {
      for (const { number, started_at } of delivery.attempts)
        if (started_at >= since) page.push({ ...attemptMessage(delivery, number), at: started_at })
      const died = await diedAt(delivery)
      if (died !== null && died >= since) page.push({ ...retiredMessage(delivery), at: died })
    }
    pages.push(page)
    after = data.at(-1)?.id
    if (!more) return pages.reverse().flat()
    await timers.nextTurn()
  }
}

async function requestsSince(log: HistoryParts['log'], since: string): Promise<Dated[]> {
  const pages: Dated[][] = []
  let after: string | undefined
  for (;;) {
    const { data, more } = log.list({ after, limit: PAGE.requests })
    const recent = data.filter(({ started_at }) => started_at >= since)
    // Read again when sent, because all requests with bodies would need too much memory for a slow subscriber.
    pages.push(
      recent
        .map(({ id, started_at }) => ({ ...requestMessage(id, () => log.get(id)), at: started_at }))
        .reverse(),
    )
    after = data.at(-1)?.id
    if (!more) return pages.reverse().flat()
    await timers.nextTurn()
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
