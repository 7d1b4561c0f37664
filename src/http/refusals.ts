import { Refusal, type RefusalCode } from '../model/refusal.ts'

/** The status of each refusal over HTTP (contract section 4). A code without a row does not compile. */
export const statusOf = {
  invalid_json: 400,
  invalid_path: 400,
  invalid_query: 400,
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  forbidden_host: 403,
  forbidden_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict_with_paid_items: 409,
  not_claimable: 409,
  claim_not_active: 409,
  exceeds_balance: 409,
  exceeds_payment: 409,
  amount_changed: 409,
  card_declined: 402,
  not_your_claim: 403,
  endpoint_disabled: 409,
  state_replaced: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  storage_unavailable: 503,
  shutting_down: 503,
  http_version_not_supported: 505,
} satisfies Record<RefusalCode, number>

/** Codes that are the answer of no operation: the request was refused before it was routed, or its method has none. */
export const unroutedCodes = [
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'http_version_not_supported',
] as const satisfies readonly RefusalCode[]

/** An HTTP answer: status, headers beside the usual ones, and body. */
export interface Answer {
  status: number
  headers?: Record<string, string>
  body: string | ReadableStream<Uint8Array> | null
}

/** Seconds after which a 503 is worth another try. */
const RETRY_AFTER_SECONDS = '1'

const headersOf: Partial<Record<RefusalCode, Record<string, string>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  storage_unavailable: { 'retry-after': RETRY_AFTER_SECONDS },
  shutting_down: { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' },
  payload_too_large: { connection: 'close' },
}

/**
 * The answer to anything thrown: a refusal as it is; whatever else is a bug of ours, whose text never leaves.
 * `report` gets the bug.
 */
export function answerTo(error: unknown, requestId: string, report: (bug: unknown) => void): Answer {
  if (error instanceof Refusal) return refusal(error, requestId)
  report(error)
  const message = 'Tabwire failed to answer this request. This is a bug; the log has it under the request id.'
  return { status: 500, body: errorBody('internal_error', message, requestId) }
}

function refusal({ code, message, details }: Refusal, requestId: string): Answer {
  const allow = typeof details.allow === 'string' ? { allow: details.allow } : {}
  const seconds = details.retry_after_seconds
  const retryAfter = typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {}
  return {
    status: statusOf[code],
    headers: { ...headersOf[code], ...allow, ...retryAfter },
    body: errorBody(code, message, requestId, details),
  }
}

/** The one shape of an error (contract section 3). */
export function errorBody(code: string, message: string, requestId: string, details: object = {}): string {
  return JSON.stringify({ error: { code, message, request_id: requestId, ...details } })
}
