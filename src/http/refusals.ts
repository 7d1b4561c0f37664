import { Refusal, type RefusalCode } from '../model/refusal.ts'

/** HTTP status of each error code (contract section 4). A code without a row does not compile. */
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
  attempt_ended: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  storage_unavailable: 503,
  shutting_down: 503,
  http_version_not_supported: 505,
} satisfies Record<RefusalCode, number>

/** Codes that no operation returns: the request was refused before routing, or its method is not allowed. */
export const unroutedCodes = [
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'http_version_not_supported',
] as const satisfies readonly RefusalCode[]

/** An HTTP response: status, additional headers and body. */
export interface HttpResponse {
  status: number
  headers?: Record<string, string>
  body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

/** `Retry-After` of a 503, in seconds. */
const RETRY_AFTER_SECONDS = '1'

const headersOf: Partial<Record<RefusalCode, Record<string, string>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  storage_unavailable: { 'retry-after': RETRY_AFTER_SECONDS },
  shutting_down: { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' },
  payload_too_large: { connection: 'close' },
}

const BUG =
  'Tabwire failed to process this request. This is a bug in Tabwire. Its log has the details under the request_id.'

/**
 * Message for a missing module. Some modules load at their first request, so the package was replaced or removed since the
 * start.
 */
const REPLACED = 'The installed Tabwire was replaced or removed while this service ran. Restart the service.'

/**
 * Returns the response for a thrown error. Errors other than refusals are bugs, or a replaced package: `report` gets
 * them, and the response has a fixed text.
 */
export function answerTo(error: unknown, requestId: string, report: (bug: unknown) => void): HttpResponse {
  if (error instanceof Refusal) return refusal(error, requestId)
  report(error)
  const isGone = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
  return { status: 500, body: errorBody('internal_error', isGone ? REPLACED : BUG, requestId) }
}

function refusal({ code, message, details }: Refusal, requestId: string): HttpResponse {
  const allow = typeof details.allow === 'string' ? { allow: details.allow } : {}
  const seconds = details.retry_after_seconds
  const retryAfter = typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {}
  return {
    status: statusOf[code],
    headers: { ...headersOf[code], ...allow, ...retryAfter },
    body: errorBody(code, message, requestId, details),
  }
}

/** Returns the body of an error (contract section 3). */
export function errorBody(code: string, message: string, requestId: string, details: object = {}): string {
  return JSON.stringify({ error: { code, message, request_id: requestId, ...details } })
}
