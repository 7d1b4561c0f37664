import { callService, Refused } from '../call.ts'
import { pageHeader } from './page-secret.ts'
import { session } from './session-state.ts'

/** Long enough for a clock that plays 35 hours of many deliveries. */
const TIMEOUT_MS = 120_000

/** Asks something of what is under `/_sim`, where the session counts. @throws Refused */
export async function ask<T = unknown>(method: string, path: string, body?: object): Promise<T> {
  const options = { timeoutMs: TIMEOUT_MS, headers: pageHeader(), ...(body !== undefined && { body }) }
  try {
    return (await callService(method, `/_sim${path}`, options)) as T
  } catch (error) {
    // A service that was started anew knows nothing of this page.
    if (error instanceof Refused && error.code === 'unauthorized') session.value = 'none'
    throw error
  }
}

/** `?status=dead&q=x`, without what is empty. */
export function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
