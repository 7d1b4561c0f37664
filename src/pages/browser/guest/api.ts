import type { TableView } from '../../../model/guests/guest-table.ts'
import { callService, Refused, unreachable } from '../call.ts'

/** Creates the calls of the guest API (contract section 7), all below the page's own path. */
export function createApi(guestId: string) {
  const base = location.pathname
  const call = (method: string, path: string, body?: object, timeoutMs = 20_000) =>
    callService(method, base + path, {
      timeoutMs,
      headers: { 'x-guest-id': guestId },
      ...(body !== undefined && { body }),
    })
  return {
    async state(): Promise<TableView> {
      const view = (await call('GET', '/state', undefined, 8_000)) as Partial<TableView>
      return Array.isArray(view.checks) ? (view as TableView) : unreachable()
    },
    claim: (body: object) => call('POST', '/claims', body),
    release: (id: string) => call('DELETE', `/claims/${encodeURIComponent(id)}`),
    pay: (body: object) => call('POST', '/payments', body),
    rate: (body: object) => call('POST', '/feedback', body),
  }
}

/** Words an error for the guest: the failure, and whether anything was changed or paid. */
export function problemOf(error: unknown): string {
  return problems[codeOf(error)] ?? 'Something went wrong. Please try again.'
}

export function codeOf(error: unknown): string {
  return error instanceof Refused ? error.code : ''
}

const changed = 'You have not paid. Please check the new amount.'

const problems: Record<string, string> = {
  not_claimable: 'This item is no longer available.',
  amount_changed: changed,
  exceeds_balance: changed,
  claim_not_active: changed,
  card_declined: 'Your card was declined. Nothing was paid. Please try another card.',
  not_found: 'This check is no longer at your table.',
  unreachable: 'No response from the service. Please try again.',
  storage_unavailable: 'The service cannot save changes right now. Nothing was changed. Please try again.',
  shutting_down: 'The service is shutting down. Nothing was changed. Please try again later.',
}

/** Longest pause between two attempts to open a closed stream, in milliseconds. */
const MAX_WAIT_MS = 30_000

/**
 * Calls back after each possible change while the page is visible, and when the connection breaks or comes back. Reopens
 * the stream when the browser closes it. A hidden page closes its stream, because a browser opens at most six connections to a
 * host for all tabs.
 */
export function subscribe(onChange: () => void): void {
  let wait = 1_000
  let stream: EventSource | undefined
  const open = () => {
    if (document.hidden || (stream !== undefined && stream.readyState !== EventSource.CLOSED)) return
    const opened = new EventSource(`${location.pathname}/stream`)
    stream = opened
    opened.addEventListener('open', () => {
      wait = 1_000
      onChange()
    })
    opened.addEventListener('change', onChange)
    opened.addEventListener('error', () => {
      onChange()
      if (opened.readyState !== EventSource.CLOSED) return
      setTimeout(open, wait)
      wait = Math.min(wait * 2, MAX_WAIT_MS)
    })
  }
  open()
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stream?.close()
    else open()
  })
  addEventListener('offline', onChange)
  addEventListener('online', onChange)
}
