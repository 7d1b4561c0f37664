import type { Client } from '../../client.ts'
import type { EventType } from '../../model/event.ts'
import { printable } from '../render/text.ts'
import { waitForDeliveries } from '../../assertions/wait.ts'
import type { ExpectStep } from './schema.ts'
import { loggedFindings } from '../../model/simulator/request-entry.ts'
import { pathText } from '../../model/validation.ts'
import type { Disagreement } from '../../conformance/receiver/agreement.ts'

/** An endpoint whose deliveries are awaited. */
export interface Watched {
  endpoint_id: string
  event_types: readonly EventType[]
  /** Time limit for each delivery. */
  timeout_ms: number
}

/** Returns how the receiver's view of a check differs from the service. */
export type Judge = (external_check_id: string) => Promise<Disagreement[]>

/** Sources of the comparison, beside the check's own state. */
export interface Observed {
  watched?: Watched | undefined
  /** Absent without `--state-url`. */
  judge?: Judge | undefined
}

/** Compares an expectation with the check; `check` is its external id. */
export async function unmetExpectations(
  client: Client,
  { check, is, events, findings, deliveries, receiver }: ExpectStep,
  { watched, judge }: Observed,
): Promise<Mismatch[]> {
  const found: Mismatch[] = []
  if (is !== undefined) found.push(...mismatches(is, await client.checks.get(check)))
  if (events !== undefined) {
    const actual = await typesOf(client, check)
    if (actual.join() !== events.join()) found.push({ path: 'events', expected: events, actual })
  }
  if (findings !== undefined) {
    const actual = await findingsOf(client, check)
    if (actual.join() !== findings.join()) found.push({ path: 'findings', expected: findings, actual })
  }
  if (deliveries !== undefined && watched !== undefined)
    found.push(...(await missingDeliveries(client, check, deliveries, watched)))
  if (receiver !== undefined && judge !== undefined)
    for (const { path, expected: wanted, actual } of await judge(check))
      found.push({ path: `receiver's ${path}`, expected: wanted, actual })
  return found
}

async function typesOf(client: Client, external_check_id: string): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of client.events.all({ external_check_id })) types.unshift(type)
  return types
}

async function findingsOf(client: Client, external_check_id: string): Promise<string[]> {
  const codes: string[] = []
  for await (const request of client.requests.all({ external_check_id, finding: 'any' }))
    codes.unshift(...loggedFindings(request).map(({ code }) => code))
  return codes
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
    if (verdict.ok) continue
    found.push({ path: `deliveries of ${type}`, expected: count, actual: printable(verdict.message) })
  }
  return found
}

/** A difference between expected and actual. */
export interface Mismatch {
  path: string
  expected: unknown
  actual: unknown
}

/** Returns what `actual` lacks of `expected`: objects can have more fields, arrays must match in length. */
export function mismatches(
  expected: unknown,
  actual: unknown,
  path: readonly PropertyKey[] = [],
): Mismatch[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return mismatches(expected.length, actual.length, [...path, 'length'])
    return expected.flatMap((element, index) => mismatches(element, actual[index], [...path, index]))
  }
  if (isRecord(expected) && isRecord(actual))
    return Object.entries(expected).flatMap(([key, value]) =>
      mismatches(value, Object.hasOwn(actual, key) ? actual[key] : undefined, [...path, key]),
    )
  return Object.is(expected, actual) ? [] : [{ path: pathText(path), expected, actual }]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
