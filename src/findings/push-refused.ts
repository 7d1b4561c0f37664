import type { PushRefusal } from './finding.ts'

/**
 * Refusals that are not the sender's mistake. A conflict is specified (section 4, rule 4); rate limits and injected
 * faults are options of the service. `invalid_request` concerns the connection, such as an incomplete body.
 */
const EXPECTED: readonly string[] = [
  'conflict_with_paid_items',
  'rate_limited',
  'fault_injected',
  'invalid_request',
]

/** Longest part of the response's message that is repeated, in characters. */
const LONGEST_MESSAGE = 300

/** Finds refused pushes, by error code: their changes are not in the service. */
export function pushRefused({ status, code, message }: PushRefusal): string | undefined {
  if (status < 400 || status >= 500 || EXPECTED.includes(code)) return undefined
  const why = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return `The push was refused with ${status} ${code}, so the check does not have this change. ${why}`
}
