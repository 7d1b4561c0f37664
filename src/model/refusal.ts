/** Every error code of a refused request (contract section 4). `src/http` maps each to a status. */
export type RefusalCode =
  | 'invalid_json'
  | 'invalid_path'
  | 'invalid_query'
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict_with_paid_items'
  | 'not_claimable'
  | 'claim_not_active'
  | 'exceeds_balance'
  | 'exceeds_payment'
  | 'amount_changed'
  | 'card_declined'
  | 'not_your_claim'
  | 'endpoint_disabled'
  | 'state_replaced'
  | 'attempt_ended'
  | 'forbidden_host'
  | 'forbidden_origin'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'request_timeout'
  | 'http_version_not_supported'
  | 'storage_unavailable'
  | 'shutting_down'

/** Every error code that a client can meet. `unknown_error` is the client's own, for responses in another form. */
export type ErrorCode = RefusalCode | 'internal_error' | 'fault_injected' | 'unknown_error'

/**
 * A refused request. Operations throw it; the HTTP layer turns it into the error response. `message` says what
 * happened, why, and what to do; `details` are further fields of the error body.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: RefusalCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}
