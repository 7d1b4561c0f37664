/** Every code with which the service refuses a request (contract section 4). A door gives each one its status. */
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

/** Every code of an error that a caller can meet; `unknown_error` is the client's own, for answers in another form. */
export type ErrorCode = RefusalCode | 'internal_error' | 'fault_injected' | 'unknown_error'

/**
 * A request that is refused: thrown by whoever finds the reason, written by nobody, answered by the door.
 * `message` says what, why and what to do; `details` become fields of the error body beside it.
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
