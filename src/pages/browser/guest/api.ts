import type { TableView } from '../../../model/guest-table/view.ts'
import type { PageModel } from '../../guest/model.ts'
import { callService, Refused } from '../call.ts'

/** Creates the calls of the guest API (contract section 7), all below the page's own path. */
export function createApi(guestId: string) {
  const base = location.pathname
  const call = (method: string, path: string, body?: object) =>
    callService(method, base + path, {
      headers: { 'x-guest-id': guestId },
      ...(body !== undefined && { body }),
    })
  return {
    state: async () => (await call('GET', '/state')) as TableView,
    claim: (body: object) => call('POST', '/claims', body),
    release: (id: string) => call('DELETE', `/claims/${encodeURIComponent(id)}`),
    pay: (body: object) => call('POST', '/payments', body),
    rate: (body: object) => call('POST', '/feedback', body),
  }
}

/** Words an error for the guest: the failure, and whether anything was changed or paid. */
export function problemOf(error: unknown): string {
  const code = error instanceof Refused ? error.code : ''
  return problems[code] ?? 'Something went wrong. Please try again.'
}

const problems: Record<string, string> = {
  not_claimable: 'These items are no longer available. The check has been updated.',
  amount_changed: 'The amount has changed. Nothing was paid. Please check the new amount.',
  exceeds_balance: 'This is more than is left to pay. Nothing was paid. The check has been updated.',
  card_declined: 'Your card was declined. Nothing was paid. Please try another card.',
  claim_not_active: 'These items were already paid or removed. The check has been updated.',
  not_found: 'This check is no longer at your table.',
  unreachable:
    'No response from the service. Your request may still have gone through. The page updates once you are back online.',
  storage_unavailable: 'The service cannot save changes right now. Nothing was changed. Please try again.',
  shutting_down: 'The service is shutting down. Nothing was changed. Please try again later.',
}

interface SubscribeOptions {
  /** URL of the event stream. */
  url: string
  /** Event types to subscribe to. */
  types: readonly string[]
  onMessage(type: string, data: unknown): void
  /** Called at each (re)connect: events may have been missed. */
  onReturn(): void
  onConnection(state: PageModel['connection']): void
}

/** Longest pause between two attempts to open a closed stream, in milliseconds. */
const MAX_WAIT_MS = 30_000

/** Subscribes to an event stream for as long as the page is open, and reopens it when the browser closes it. */
export function subscribe({ url, types, onMessage, onReturn, onConnection }: SubscribeOptions): void {
  let wait = 1_000
  const open = () => {
    const stream = new EventSource(url)
    stream.addEventListener('open', () => {
      wait = 1_000
      onConnection('live')
      onReturn()
    })
    for (const type of types)
      stream.addEventListener(type, ({ data }: MessageEvent<string>) => onMessage(type, JSON.parse(data)))
    stream.addEventListener('error', () => {
      onConnection(navigator.onLine ? 'reconnecting' : 'offline')
      if (stream.readyState !== EventSource.CLOSED) return
      setTimeout(open, wait)
      wait = Math.min(wait * 2, MAX_WAIT_MS)
    })
  }
  open()
  addEventListener('offline', () => onConnection('offline'))
  addEventListener('online', () => {
    onConnection('reconnecting')
    onReturn()
  })
}
