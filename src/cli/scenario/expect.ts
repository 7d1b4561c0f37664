import type { Client } from '../../client.ts'
import type { EventType } from '../../model/event.ts'
import { paginate } from '../../client/listing.ts'
import { printable } from '../render/text.ts'
import { waitForDeliveries } from '../../assertions/wait.ts'
import { mismatches, type Mismatch } from './match.ts'
import type { ExpectStep } from './schema.ts'

/** An endpoint whose deliveries are looked for. */
export interface Watched {
  endpoint_id: string
  event_types: readonly EventType[]
  /** How long each may take to come. */
  timeout_ms: number
}

/** Holds what is expected of a check against how it is; `check` is its external id. */
export async function expected(
  client: Client,
  { check, is, events, deliveries }: ExpectStep,
  watched: Watched | undefined,
): Promise<Mismatch[]> {
  const found: Mismatch[] = []
  if (is !== undefined) found.push(...mismatches(is, await client.checks.get(check)))
  if (events !== undefined) {
    const actual = await typesOf(client, check)
    if (actual.join() !== events.join()) found.push({ path: 'events', expected: events, actual })
  }
  if (deliveries !== undefined && watched !== undefined)
    found.push(...(await missingDeliveries(client, check, deliveries, watched)))
  return found
}

async function typesOf(client: Client, external_check_id: string): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of paginate(client.events.list, { external_check_id })) types.unshift(type)
  return types
}

async function missingDeliveries(
  client: Client,
  check: string,
  types: readonly EventType[],
  { endpoint_id, event_types, timeout_ms }: Watched,
): Promise<Mismatch[]> {
  const found: Mismatch[] = []
  for (const type of new Set(types)) {
    if (!event_types.includes(type)) continue
    const count = types.filter((one) => one === type).length
    const wanted = { type, check, endpoint: endpoint_id, status: 'delivered', count } as const
    const verdict = await waitForDeliveries(
      client,
      { ...wanted, exactly: false, none: false },
      AbortSignal.timeout(timeout_ms),
    )
    const came = verdict.ok ? verdict.deliveries.length : printable(verdict.message)
    if (came !== count) found.push({ path: `deliveries of ${type}`, expected: count, actual: came })
  }
  return found
}
