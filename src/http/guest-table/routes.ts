import { viewClaim } from '../../model/claim.ts'
import { viewFeedback } from '../../model/feedback.ts'
import { viewPayment } from '../../model/payment.ts'
import { Refusal } from '../../model/refusal.ts'
import { tableClaimBody, tableFeedbackBody, tablePayBody } from '../../model/guest-table/bodies.ts'
import { validate } from '../../model/validation.ts'
import { claimItems } from '../../operations/claim-items.ts'
import type { CheckAddress } from '../../operations/guest-change.ts'
import { leaveFeedback } from '../../operations/leave-feedback.ts'
import { pay } from '../../operations/pay.ts'
import { releaseClaim } from '../../operations/release-claim.ts'
import type { Answer } from '../refusals.ts'
import type { Call, Reply, Route } from '../route.ts'
import type { TableStream } from './stream.ts'
import {
  checksAt,
  guestOf,
  requireGuest,
  requireTable,
  viewTable,
  type LocatedTable,
  type TableParts,
} from './table.ts'

export interface TableRouteParts extends TableParts {
  stream: TableStream
}

/** What a guest does at a table's page, below its address, which stands for a key (contract section 7). */
export function tableRoutes(parts: TableRouteParts): Route[] {
  const { service, stream } = parts
  const row = (
    method: Route['method'],
    path: string,
    handle: (table: LocatedTable, call: Call) => Promise<Reply>,
  ): Route => ({
    method,
    path: `/:number/:token${path}`,
    scope: null,
    handle: async (call) => handle(await requireTable(parts, call), call),
  })
  return [
    row('GET', '/state', async (table, call) => fresh(200, await viewTable(parts, table, guestOf(call)))),
    row('GET', '/stream', async (table) =>
      stream.open(
        table,
        (await checksAt(parts, table)).map(({ id }) => id),
      ),
    ),
    row('POST', '/claims', async (table, call) => {
      const guest_hash = requireGuest(call)
      const { external_check_id, ...body } = validate(tableClaimBody, await call.body())
      const command = { ...(await checkAt(parts, table, external_check_id)), ...body, guest_hash }
      return fresh(201, viewClaim(await service.execute(claimItems, command)))
    }),
    row('DELETE', '/claims/:id', async (table, call) => {
      const claim = await ownClaim(parts, table, call.params.id ?? '', requireGuest(call))
      return fresh(200, viewClaim(await service.execute(releaseClaim, { claim })))
    }),
    row('POST', '/payments', async (table, call) => {
      const guest_hash = requireGuest(call)
      const { external_check_id, card, ...body } = validate(tablePayBody, await call.body())
      const address = await checkAt(parts, table, external_check_id)
      for (const id of body.claim_ids ?? []) await ownClaim(parts, table, id, guest_hash)
      if (card === 'declined') throw declined()
      return fresh(201, viewPayment(await service.execute(pay, { ...address, ...body, guest_hash })))
    }),
    row('POST', '/feedback', async (table, call) => {
      const { external_check_id, ...body } = validate(tableFeedbackBody, await call.body())
      const address = await checkAt(parts, table, external_check_id)
      return fresh(201, viewFeedback(await service.execute(leaveFeedback, { ...address, ...body })))
    }),
  ]
}

/** JSON for this guest, now: no cache and no other site may have it. */
function fresh(status: number, value: unknown): Answer {
  return {
    status,
    headers: { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' },
    body: JSON.stringify(value),
  }
}

/** The check with this id, if guests at the table see it. @throws Refusal `not_found`, also for one of another table. */
async function checkAt(parts: TableParts, table: LocatedTable, external_id: string): Promise<CheckAddress> {
  const shown = await checksAt(parts, table)
  if (!shown.some((check) => check.external_id === external_id))
    throw notHere(`check ${JSON.stringify(external_id)}`)
  return { location_id: table.location_id, external_id }
}

async function ownClaim({ service }: TableParts, table: LocatedTable, id: string, guest: string) {
  const claim = await service.get('claims', id)
  if (claim?.location_id !== table.location_id) throw notHere(`claim ${id}`)
  if (claim.guest_hash === guest) return claim
  throw new Refusal(
    'not_your_claim',
    `Claim ${id} belongs to another guest, and only that guest can release or pay it here.`,
  )
}

/** A guest has no key and pushes nothing, so what is said to callers of the API would mislead. */
function notHere(what: string): Refusal {
  return new Refusal('not_found', `There is no ${what} at this table. Look at the table again.`)
}

function declined(): Refusal {
  return new Refusal('card_declined', 'The simulated card was declined. Nothing was paid. Try another card.')
}
