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
  return problems[code] ?? 'That did not work. Please try again.'
}

const problems: Record<string, string> = {
  not_claimable: 'Somebody else was quicker, or the check has changed. You see it as it is now.',
  amount_changed: 'The check has just changed, so nothing was paid. Please look at the new amount.',
  exceeds_balance: 'Less is left to pay than that, so nothing was paid. You see what is left now.',
  card_declined: 'The card was declined. Nothing was paid. Try another card.',
  claim_not_active: 'That was paid or given back already. You see it as it is now.',
  not_found: 'This check is not at your table any more.',
  unreachable:
    'No answer came, so it may or may not have worked. What you see is brought up to date when you are back.',
  storage_unavailable: 'The service cannot keep anything just now. Nothing was changed. Please try again.',
  shutting_down: 'The service is stopping. Nothing was changed. Please try again.',
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
