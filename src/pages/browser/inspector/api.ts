import { computed, signal } from '@preact/signals'
import type { Location } from '../../../model/records.ts'
import { moneyIn, validLanguage } from '../../../model/text/money.ts'
import { callService, Refused } from '../call.ts'

/** The service, as the session's key sees it. */
export interface Session {
  service_name: string
  location: Location | null
  /** The recording that the service replays. */
  replay?: { recorded_at: string }
}

/** The page's session, or its state while there is none: `refused` when the link of the page begins none. */
export const session = signal<Session | 'beginning' | 'none' | 'refused' | 'unreachable'>('beginning')

/** Why the link of the page begins no session. */
export const refusal = signal('This link was used before, has expired, or is of another service.')

/** The session's location; `null` without a session. */
export const ownLocation = computed(() => (typeof session.value === 'string' ? null : session.value.location))

/** Formats amounts in the currency of the session's location. */
export const money = computed(() =>
  moneyIn(ownLocation.value?.currency ?? '', validLanguage(navigator.language)),
)

/**
 * Begins a session: exchanges the link's code for a cookie, or reads the session that this browser has. Removes the code
 * from the URL after the request is sent, because access to history and storage is slow.
 */
export async function beginSession(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('link')
  const begun = code === null ? undefined : callApi<NewSession>('POST', '/session', { code })
  if (code !== null) history.replaceState(null, '', location.pathname + location.search)
  try {
    // A used link is refused, but an existing session stays valid.
    const created = await begun?.catch((error: unknown) => {
      // A proxy makes this page look like one of another host.
      if (error instanceof Refused && error.code === 'forbidden_origin') refusal.value = error.message
      return undefined
    })
    if (created !== undefined) savePageSecret(created.page_secret)
    const read = created ?? (await callApi<{ session: Session | null }>('GET', '/session'))
    session.value = read.session ?? (code === null ? 'none' : 'refused')
  } catch (error) {
    session.value = error instanceof Refused && error.code === 'unreachable' ? 'unreachable' : 'none'
  }
}

/** Reads the location of the session again. A page whose session has ended learns that from its next call. */
export async function readSession(): Promise<void> {
  const read = await callApi<{ session: Session | null }>('GET', '/session').catch(() => undefined)
  if (read?.session) session.value = read.session
}

interface NewSession {
  session: Session | null
  page_secret: string
}

/** Milliseconds until a call counts as unreachable. Moves of the clock have a longer limit. */
const TIMEOUT_MS = 120_000

/** Calls a route below `/_sim` with the page's session. @throws Refused */
export async function callApi<T = unknown>(
  method: string,
  path: string,
  body?: object,
  more: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const given = body === undefined ? more : { ...more, body }
  const options = { timeoutMs: TIMEOUT_MS, headers: pageHeader(), ...given }
  try {
    return (await callService(method, `/_sim${path}`, options)) as T
  } catch (error) {
    // Sessions end when the service restarts.
    if (error instanceof Refused && error.code === 'unauthorized') session.value = 'none'
    throw error
  }
}

/** Returns `?status=dead&q=x`, without empty values. */
export function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

const KEY = 'tabwire-inspector'

/** Fallback for browsers without storage. */
let pageSecret = ''

/**
 * Saves the secret that the page sends beside its cookie. A cookie is shared with all ports of the host; the storage of
 * an origin is not, and other tabs of the inspector can read it.
 */
function savePageSecret(secret: string): void {
  pageSecret = secret
  try {
    localStorage.setItem(KEY, secret)
  } catch {
    // Storage is full or disabled, for example in a private window.
  }
}

/** Returns the header with the page's secret. Storage comes first: another tab may have begun a newer session. */
export function pageHeader(): Record<string, string> {
  return { 'x-tabwire-page': storedSecret() ?? pageSecret }
}

function storedSecret(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}
