import type { TableView } from '../../model/guest-table/view.ts'
import { callService } from './call.ts'

/** The service as the guest's page sees it: everything is below the page's own address. */
export function createRequests(guestId: string) {
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
