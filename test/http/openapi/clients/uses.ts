/**
 * Example programs with the generated clients. The compiler checks their types, `@ts-expect-error` included; the test
 * that runs them checks their results.
 */
const check = `{
  table: { number: '7' },
  status: 'open' as const,
  items: [{ external_id: 'burger', name: 'Burger', quantity: 1, price_cents: 1450 }],
  totals: { subtotal_cents: 1450, tax_cents: 0, total_cents: 1450 },
}`

export const withOpenApiFetch = `
import createClient from 'openapi-fetch'
import type { components, paths, webhooks } from './schema.js'

const check = ${check}
type Delivered = webhooks['check.fully_paid']['post']['requestBody']['content']['application/json']
export const balanceOf = (event: Delivered): number => event.data.balance_cents

export async function use(baseUrl: string, apiKey: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + apiKey } })
  const path = { external_check_id: 'table 7/dinner' }
  const url = '/v1/checks/external/{external_check_id}'
  const pushed = await client.PUT(url, { params: { path }, body: check })
  if (pushed.error !== undefined) throw new Error(pushed.error.error.message)
  const pushedCheck: components['schemas']['Check'] = pushed.data
  await client.POST('/_sim/checks/{external_check_id}/claims', {
    params: { path },
    body: { items: [{ external_id: 'burger', quantity: 1 }] },
  })
  const { error } = await client.PUT(url, { params: { path }, body: { ...check, items: [] } })
  const why = error?.error.code === 'conflict_with_paid_items' ? error.error.conflicts : []
  // @ts-expect-error: a check has no such status.
  const refused = await client.GET('/v1/checks', { params: { query: { status: 'gone' } } })
  const list = await client.GET('/v1/checks', { params: { query: { status: 'open', limit: 1 } } })
  const { data: moved } = await client.POST('/_sim/clock', { body: { advance: '1h' } })
  const { data: table } = await client.GET('/_sim/tables/{number}', { params: { path: { number: '7' } } })
  const tablePath = { number: '7', token: table?.url.split('/').at(-1) ?? '' }
  const guest = createClient<paths>({ baseUrl })
  const seen = await guest.GET('/t/{number}/{token}/state', { params: { path: tablePath } })
  const wrong = await guest.POST('/t/{number}/{token}/payments', {
    params: { path: tablePath, header: { 'X-Guest-Id': 'phone'.repeat(5) } },
    body: { external_check_id: path.external_check_id, expected_cents: 1 },
  })
  return {
    balance: pushedCheck.balance_cents,
    reasons: why.map(({ external_id, reason }) => [external_id, reason]),
    refused: refused.error?.error.code,
    listed: list.data?.data.map(({ external_id, closed_at }) => [external_id, closed_at]),
    seen: seen.data?.checks.map(({ claims }) => claims.map(({ status, mine }) => [status, mine])),
    wrong: wrong.error?.error.code === 'amount_changed' ? wrong.error.error.amount_cents : undefined,
    attempted: moved !== undefined && 'attempted_total' in moved ? moved.attempted_total : undefined,
  }
}
`

export const withSwaggerTypescriptApi = `
import { Api, CheckStatus, type ConflictWithPaidItemsError, type NotFoundError } from './Api.js'

const check = { ...${check}, status: CheckStatus.Open }

export async function use(baseUrl: string, apiKey: string) {
  const api = new Api({ baseUrl, baseApiParams: { headers: { authorization: 'Bearer ' + apiKey } } })
  const pushed = await api.v1.pushCheck('table-8', check)
  const claim = await api.sim.claimItems('table-8', { items: [{ external_id: 'burger', quantity: 1 }] })
  const conflict = await api.v1
    .pushCheck('table-8', { ...check, items: [] })
    .then(() => undefined, ({ error }: { error: ConflictWithPaidItemsError }) => error.error.conflicts[0]?.reason)
  const paid = await api.sim.payCheck('table-8', { claim_ids: [claim.data.id], tip_cents: 100 })
  const none = await api.v1
    .getPayment('pay_none')
    .then(() => undefined, ({ error }: { error: NotFoundError }) => error.error.code)
  const { data: table } = await api.sim.getTableAddress('7')
  const token = table.url.split('/').at(-1) ?? ''
  const rated = await api.t.leaveFeedbackAtTable('7', token, { external_check_id: 'table-8', rating: 5 })
  // @ts-expect-error: what was pushed is no list.
  pushed.data.next_cursor
  return { status: pushed.status, conflict, paid: paid.data.status, tip: paid.data.tip_cents, none, rating: rated.data.rating }
}
`
