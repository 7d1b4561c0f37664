import type { ErrorCode } from '../../model/refusal.ts'
import { statusOf, type unroutedCodes } from '../refusals.ts'
import { pascalCase } from './webhooks.ts'
import { headersOf, type HeaderName } from './headers.ts'
import { refTo, type Json } from './json.ts'

/** Error codes of operations. */
type DocumentedCode = Exclude<ErrorCode, (typeof unroutedCodes)[number] | 'unknown_error'>

interface ErrorAnswer {
  /** Codes with the same status. */
  codes: readonly DocumentedCode[]
  description: string
  headers?: readonly HeaderName[]
}

/** Error responses by component name (contract section 4). */
const errorAnswers = {
  BadRequest: {
    codes: ['invalid_request', 'invalid_path'],
    description: 'The request or its path is malformed.',
  },
  BadQuery: {
    codes: ['invalid_request', 'invalid_path', 'invalid_query'],
    description: 'The request, its path or a query parameter is malformed.',
  },
  BadBody: {
    codes: ['invalid_request', 'invalid_path', 'invalid_json'],
    description:
      'The request or its path is malformed, or its body is not JSON in UTF-8 with at most 32 levels and whole surrogate pairs.',
  },
  BadQueryOrBody: {
    codes: ['invalid_request', 'invalid_path', 'invalid_query', 'invalid_json'],
    description:
      'The request, its path or a query parameter is malformed, or its body is not JSON in UTF-8 with at most 32 levels and whole surrogate pairs.',
  },
  Unauthorized: {
    codes: ['unauthorized'],
    description: 'The API key is missing, malformed, unknown or revoked.',
    headers: ['WWW-Authenticate'],
  },
  Forbidden: {
    codes: ['insufficient_scope', 'forbidden_host', 'forbidden_origin'],
    description: 'The key lacks the scope, or the request comes from a web page of another host.',
  },
  ForbiddenPage: {
    codes: ['forbidden_host', 'forbidden_origin'],
    description: 'The request comes from a web page of another host.',
  },
  ForbiddenGuest: {
    codes: ['forbidden_host', 'forbidden_origin', 'not_your_claim'],
    description: 'The claim belongs to another guest, or the request comes from a web page of another host.',
  },
  NotFound: { codes: ['not_found'], description: 'The resource does not exist.' },
  PaidItemsConflict: {
    codes: ['conflict_with_paid_items'],
    description:
      'The push removes claimed items, lowers their price or reduces them below the claimed quantity. On a fully paid check, all items count as claimed. The check is unchanged (specification section 4, rule 4).',
  },
  EndpointDisabled: {
    codes: ['endpoint_disabled'],
    description:
      'The endpoint is disabled, because too many deliveries failed. Register the URL again (specification section 6, rule 6).',
  },
  StateReplaced: {
    codes: ['state_replaced'],
    description: 'The state was loaded or reset while the clock moved, so the move ended early.',
  },
  AttemptEnded: {
    codes: ['attempt_ended'],
    description:
      'The attempt does not wait for this response: it has ended, was offered again, or was not offered. Nothing was changed.',
  },
  NotClaimable: {
    codes: ['not_claimable'],
    description: 'Some items cannot be claimed. Nothing was claimed.',
  },
  ClaimNotActive: {
    codes: ['claim_not_active'],
    description: 'The claim is paid. A full refund of its payment releases it.',
  },
  NotPayable: {
    codes: ['exceeds_balance', 'claim_not_active'],
    description: 'The amount exceeds the balance, or a claim is paid or released. Nothing was paid.',
  },
  NotPayableAsShown: {
    codes: ['exceeds_balance', 'claim_not_active', 'amount_changed'],
    description:
      'The amount exceeds the balance, a claim is paid or released, or the amount has changed. Nothing was paid.',
  },
  CardDeclined: {
    codes: ['card_declined'],
    description: 'The simulated card was declined. Nothing was paid.',
  },
  ExceedsPayment: {
    codes: ['exceeds_payment'],
    description: 'The amount exceeds the rest of the payment. Nothing was refunded.',
  },
  PayloadTooLarge: {
    codes: ['payload_too_large'],
    description: 'The body exceeds the limit: 1 MiB by default, and more for a state.',
  },
  UnsupportedMediaType: {
    codes: ['unsupported_media_type'],
    description: 'The body is not application/json, not UTF-8, or compressed.',
  },
  ValidationFailed: {
    codes: ['validation_failed'],
    description: 'The body does not match its schema. All issues are listed.',
  },
  RateLimited: {
    codes: ['rate_limited'],
    description: 'The API key exceeded its rate limit (`start --rate-limit`).',
    headers: ['Retry-After'],
  },
  InternalError: { codes: ['internal_error'], description: 'A bug in the service.' },
  Unavailable: {
    codes: ['storage_unavailable', 'shutting_down', 'fault_injected'],
    description:
      'The write could not be stored, the service is shutting down, or a fault was injected (its status can be any from 400 to 599).',
    headers: ['Retry-After'],
  },
  NotNow: {
    codes: ['storage_unavailable', 'shutting_down'],
    description: 'The write could not be stored, or the service is shutting down.',
    headers: ['Retry-After'],
  },
} as const satisfies Record<string, ErrorAnswer>

export type ErrorAnswerName = keyof typeof errorAnswers

const statuses: Record<DocumentedCode, number> = { ...statusOf, internal_error: 500, fault_injected: 503 }

const named = Object.entries(errorAnswers) as [ErrorAnswerName, ErrorAnswer][]

export function statusOfAnswer(name: ErrorAnswerName): number {
  return statuses[errorAnswers[name].codes[0]]
}

/** Codes of all error responses. */
export function errorCodes(): string[] {
  return [...new Set(named.flatMap(([, { codes }]) => codes))]
}

/** `not_found` → `NotFoundError` */
export function errorName(code: string): string {
  return code.endsWith('_error') ? pascalCase(code) : `${pascalCase(code)}Error`
}

/** Returns the error responses as components; a real service has no injected faults. */
export function errorResponses(simulator: boolean): Record<string, Json> {
  const answers = named.map(([name, answer]) => {
    const codes = answer.codes.filter((code) => simulator || code !== 'fault_injected')
    return [name, responseOf({ ...answer, codes })]
  })
  return Object.fromEntries(answers) as Record<string, Json>
}

function responseOf({ codes, description, headers = [] }: ErrorAnswer): Json {
  const schemas = codes.map((code) => refTo('schemas', errorName(code)))
  const [only] = schemas
  return {
    description: `${description} Code${codes.length > 1 ? 's' : ''}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers: headersOf(headers),
    content: { 'application/json': { schema: schemas.length === 1 ? only : { anyOf: schemas } } },
  }
}
