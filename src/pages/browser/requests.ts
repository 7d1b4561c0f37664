import type { TableView } from '../../model/table-view.ts'

/** What the service has refused, in its own code; `unreachable` when it did not answer. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The service as the page sees it: everything is below the page's own address. */
export function createRequests(guestId: string) {
  const base = location.pathname
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(base + path, {
      method,
      cache: 'no-store',
      headers: { 'x-guest-id': guestId, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => {
      throw new Refused('unreachable', 'The service did not answer.')
    })
    const answer = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
    if (response.ok) return answer
    throw new Refused(answer.error?.code ?? 'unknown', answer.error?.message ?? '')
  }
  return {
    state: async () => (await call('GET', '/state')) as TableView,
    claim: (body: object) => call('POST', '/claims', body),
    release: (id: string) => call('DELETE', `/claims/${encodeURIComponent(id)}`),
    pay: (body: object) => call('POST', '/payments', body),
    rate: (body: object) => call('POST', '/feedback', body),
  }
}
