import type { ZodType } from 'zod'
import { viewClaim, viewFeedback, viewPayment } from '../../model/guests/records.ts'
import { tableClaimBody, tableFeedbackBody, tablePayBody } from '../../model/guests/guest-table-schemas.ts'
import { Refusal } from '../../model/refusal.ts'
import { validLanguage } from '../../model/text/money.ts'
import { validate } from '../../model/validation.ts'
import { claimItems, releaseClaim } from '../../operations/claims.ts'
import type { CheckAddress } from '../../operations/guest-change.ts'
import { leaveFeedback } from '../../operations/leave-feedback.ts'
import { pay } from '../../operations/payments.ts'
import { traceParameters } from '../openapi/parameters.ts'
import type { AnswerDoc } from '../openapi/operation.ts'
import type { HttpResponse } from '../refusals.ts'
import { html, type Pages } from '../pages.ts'
import type { Call, Documented, Reply, Route } from '../route.ts'
import {
  checksAt,
  findTable,
  guestOf,
  requireGuest,
  requireTable,
  viewTable,
  type LocatedTable,
  type TableParts,
} from './table.ts'
import type { TableStream } from './stream.ts'

export interface TableRouteParts extends TableParts {
  stream: TableStream
  pages: Pick<Pages, 'table' | 'noTable'>
}

const tag = 'Simulator guest page'
const freshHeaders = ['Cache-Control', 'Cross-Origin-Resource-Policy'] as const

/** Headers of pages, by their names in the OpenAPI document. */
const page = {
  type: 'text/html',
  headers: [
    'Cache-Control',
    'Cross-Origin-Resource-Policy',
    'Cross-Origin-Opener-Policy',
    'Content-Security-Policy',
    'Referrer-Policy',
  ],
} as const satisfies Partial<AnswerDoc>

/** Routes of the guest pages that QR codes open. A wrong token returns a plain page. */
function pageRoutes(parts: TableRouteParts): Route[] {
  const { pages } = parts
  const tableNotFound = async (call: Call) => html(call, 404, await pages.noTable())
  return [
    { method: 'GET', path: '/:number', scope: null, hidesResponse: true, handle: tableNotFound },
    {
      method: 'GET',
      path: '/:number/:token',
      scope: null,
      hidesResponse: true,
      doc: {
        id: 'openTablePage',
        tag,
        summary: 'Open the guest page of a table',
        description:
          'Returns the HTML page that the QR code opens. It contains the state and calls the other operations. A missing token has the same response as a wrong token.',
        headers: ['Accept-Language'],
        answers: {
          200: { description: 'The page.', ...page },
          404: { description: 'A page that says "Table not found".', ...page },
        },
      },
      async handle(call) {
        const table = await findTable(parts, call)
        if (table === undefined) return tableNotFound(call)
        return html(call, 200, await pages.table(await viewTable(parts, table), languageOf(call)))
      },
    },
  ]
}

/** Routes below a table's address, whose token replaces the key (contract section 7): the page and what it calls. */
export function tableRoutes(parts: TableRouteParts): Route[] {
  return [...pageRoutes(parts), ...stateRoutes(parts)]
}

function stateRoutes(parts: TableRouteParts): Documented[] {
  const { service, stream } = parts
  /** Finds the table before it reads the body: a wrong token returns 404. */
  const atTable =
    (handle: (table: LocatedTable, call: Call) => Promise<Reply>) =>
    async (call: Call): Promise<Reply> =>
      handle(await requireTable(parts, call), call)
  const byGuest = <B>(
    body: ZodType<B>,
    handle: (body: B, guest_hash: string, table: LocatedTable, trace: Call['trace']) => Promise<Reply>,
  ) => ({
    body,
    handle: atTable(async (table, call) => {
      const guest = requireGuest(call)
      return handle(validate(body, await call.body()), guest, table, call.trace)
    }),
  })
  return [
    {
      method: 'GET',
      path: '/:number/:token/state',
      scope: null,
      doc: {
        id: 'getTableState',
        tag,
        summary: 'Retrieve a table',
        description:
          'Returns open checks, closed checks with a balance, and checks paid within the last hour. `X-Guest-Id` marks the claims and payments of that guest.',
        headers: ['X-Guest-Id.optional'],
        answers: { 200: { description: 'The table.', schema: 'TableView', headers: freshHeaders } },
        errors: ['NotFound'],
      },
      handle: atTable(async (table, call) => uncached(200, await viewTable(parts, table, guestOf(call)))),
    },
    {
      method: 'GET',
      path: '/:number/:token/stream',
      scope: null,
      doc: {
        id: 'streamTable',
        tag,
        summary: 'Stream changes at a table',
        description:
          'Sends the server-sent event `change` with the data `{}` at once and after each possible change. Read the state again after each event.',
        answers: {
          200: { description: 'The stream.', type: 'text/event-stream', headers: ['Cache-Control'] },
        },
        errors: ['NotFound'],
      },
      handle: atTable(async (table) => {
        const checks = await checksAt(parts, table)
        return stream.open(
          table,
          checks.map(({ id }) => id),
        )
      }),
    },
    {
      method: 'POST',
      path: '/:number/:token/claims',
      scope: null,
      ...byGuest(tableClaimBody, async ({ external_check_id, ...body }, guest_hash, table, trace) => {
        const command = { ...(await checkAt(parts, table, external_check_id)), ...body, guest_hash }
        return uncached(201, viewClaim(await service.execute(claimItems, command, trace)))
      }),
      doc: {
        id: 'claimAtTable',
        tag,
        summary: 'Claim items of a check at the table',
        description: 'Claims all given quantities, or none of them. Emits `claim.created`.',
        headers: ['X-Guest-Id', ...traceParameters],
        answers: { 201: { description: 'The claim.', schema: 'Claim', headers: freshHeaders } },
        errors: ['NotFound', 'NotClaimable'],
      },
    },
    {
      method: 'DELETE',
      path: '/:number/:token/claims/:id',
      scope: null,
      doc: {
        id: 'releaseClaimAtTable',
        tag,
        summary: "Release one of the guest's unpaid claims",
        description:
          'Releases an unpaid claim of this guest. A repeated call changes nothing. Emits no event.',
        headers: ['X-Guest-Id'],
        answers: { 200: { description: 'The released claim.', schema: 'Claim', headers: freshHeaders } },
        errors: ['ForbiddenGuest', 'NotFound', 'ClaimNotActive'],
      },
      handle: atTable(async (table, call) => {
        const claim = await ownClaim(parts, table, call.params.id ?? '', requireGuest(call))
        return uncached(200, viewClaim(await service.execute(releaseClaim, { claim })))
      }),
    },
    {
      method: 'POST',
      path: '/:number/:token/payments',
      scope: null,
      ...byGuest(tablePayBody, async ({ external_check_id, ...body }, guest_hash, table, trace) => {
        const address = await checkAt(parts, table, external_check_id)
        for (const id of body.claim_ids ?? []) await ownClaim(parts, table, id, guest_hash)
        return uncached(
          201,
          viewPayment(await service.execute(pay, { ...address, ...body, guest_hash }, trace)),
        )
      }),
      doc: {
        id: 'payAtTable',
        tag,
        summary: "Pay the guest's claims, an amount or the balance",
        description:
          'Pays `claim_ids`, `amount_cents`, or without both the balance. With `expected_cents`, the payment is refused if the amount differs. `payment_number` counts the payments of the guest and check from 1 and makes a retry safe: a repeated number pays nothing and returns the earlier payment. Without it, a repeated payment of `amount_cents` is made again. Emits `payment.succeeded`, and `check.fully_paid` when the balance reaches 0.',
        headers: ['X-Guest-Id', ...traceParameters],
        answers: { 201: { description: 'The payment.', schema: 'Payment', headers: freshHeaders } },
        errors: ['CardDeclined', 'ForbiddenGuest', 'NotFound', 'NotPayableAsShown'],
      },
    },
    {
      method: 'POST',
      path: '/:number/:token/feedback',
      scope: null,
      body: tableFeedbackBody,
      doc: {
        id: 'leaveFeedbackAtTable',
        tag,
        summary: 'Leave feedback',
        description:
          'Stores a rating. Any guest at the table can send any number. Emits `feedback.received`.',
        headers: traceParameters,
        answers: { 201: { description: 'The feedback.', schema: 'Feedback', headers: freshHeaders } },
        errors: ['NotFound'],
      },
      handle: atTable(async (table, call) => {
        const { external_check_id, ...body } = validate(tableFeedbackBody, await call.body())
        const address = await checkAt(parts, table, external_check_id)
        return uncached(
          201,
          viewFeedback(await service.execute(leaveFeedback, { ...address, ...body }, call.trace)),
        )
      }),
    },
  ]
}

/** Returns the first language of the header, if it is valid. */
function languageOf(call: Call): string | undefined {
  const first = /^[a-z]{2,3}(-[a-z\d]{2,8})*/i.exec(call.header('accept-language') ?? '')?.[0]
  return first === undefined ? undefined : validLanguage(first)
}

/** Returns JSON that caches and other sites must not store or read. */
function uncached(status: number, value: unknown): HttpResponse {
  return {
    status,
    headers: { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' },
    body: JSON.stringify(value),
  }
}

/** Returns a check that guests at the table see. @throws Refusal `not_found`, also for a check of another table. */
async function checkAt(parts: TableParts, table: LocatedTable, external_id: string): Promise<CheckAddress> {
  const shown = await checksAt(parts, table)
  if (!shown.some((check) => check.external_id === external_id))
    throw notHere(`check ${JSON.stringify(external_id)}`)
  return { location_id: table.location_id, external_id }
}

async function ownClaim(parts: TableParts, table: LocatedTable, id: string, guest: string) {
  const claim = await parts.service.get('claims', id)
  if (claim?.location_id !== table.location_id) throw notHere(`claim ${id}`)
  if (claim.guest_hash === guest) return claim
  const here = await checksAt(parts, table)
  // Guests learn nothing of other tables.
  if (!here.some((check) => check.id === claim.check_id)) throw notHere(`claim ${id}`)
  throw new Refusal(
    'not_your_claim',
    `Claim ${id} belongs to another guest. Only that guest can release or pay it here.`,
  )
}

/** Messages for guests, who have no key and do not push. */
function notHere(what: string): Refusal {
  return new Refusal('not_found', `No ${what} at this table. Read the table again.`)
}
