import type { ErrorCode } from '../../model/refusal.ts'
import { statusOf, type unroutedCodes } from '../refusals.ts'
import { pascalCase } from './webhooks.ts'
import { headersOf, type HeaderName } from './headers.ts'
import { refTo, type Json } from './json.ts'

/** Codes that answers of operations can have. */
type DocumentedCode = Exclude<ErrorCode, (typeof unroutedCodes)[number] | 'unknown_error'>

interface ErrorAnswer {
  /** All of one status. */
  codes: readonly DocumentedCode[]
  description: string
  headers?: readonly HeaderName[]
}

/** All answers that are errors, by the names of their components (contract section 4). */
export const errorAnswers = {
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
      'The request or its path is malformed; or its body is no JSON text in UTF-8, or nests deeper than 32 levels.',
  },
  BadQueryOrBody: {
    codes: ['invalid_request', 'invalid_path', 'invalid_query', 'invalid_json'],
    description:
      'The request, its path or a query parameter is malformed; or its body is no JSON text in UTF-8, or nests deeper than 32 levels.',
  },
  Unauthorized: {
    codes: ['unauthorized'],
    description: 'No API key, a malformed, an unknown or a revoked one.',
    headers: ['WWW-Authenticate'],
  },
  Forbidden: {
    codes: ['insufficient_scope', 'forbidden_host', 'forbidden_origin'],
    description: 'The key lacks the scope, or a web page of elsewhere is asking.',
  },
  ForbiddenPage: {
    codes: ['forbidden_host', 'forbidden_origin'],
    description: 'A web page of elsewhere is asking.',
  },
  ForbiddenGuest: {
    codes: ['forbidden_host', 'forbidden_origin', 'not_your_claim'],
    description: "A web page of elsewhere is asking, or for a claim that is another guest's.",
  },
  NotFound: { codes: ['not_found'], description: 'There is nothing of that name.' },
  PaidItemsConflict: {
    codes: ['conflict_with_paid_items'],
    description:
      'The push removes items that guests have claimed, makes them cheaper than they are now, or reduces them below what is claimed; on a fully paid check, any item. The check is left unchanged (specification section 4, rule 4).',
  },
  EndpointDisabled: {
    codes: ['endpoint_disabled'],
    description:
      'Too many deliveries to it have failed; register the URL again (specification section 6, rule 6).',
  },
  StateReplaced: {
    codes: ['state_replaced'],
    description: 'The state was loaded or reset while the clock moved, which ended the move.',
  },
  NotClaimable: {
    codes: ['not_claimable'],
    description: 'Some of the items cannot be claimed; nothing was.',
  },
  ClaimNotActive: {
    codes: ['claim_not_active'],
    description: 'The claim is paid or released.',
  },
  NotPayable: {
    codes: ['exceeds_balance', 'claim_not_active'],
    description: 'More than is owed, or claims that are paid or released; nothing was paid.',
  },
  NotPayableAsShown: {
    codes: ['exceeds_balance', 'claim_not_active', 'amount_changed'],
    description:
      'More than is owed, claims that are paid or released, or another amount than the guest was shown; nothing was paid.',
  },
  CardDeclined: {
    codes: ['card_declined'],
    description: 'The simulated card was declined; nothing was paid.',
  },
  ExceedsPayment: {
    codes: ['exceeds_payment'],
    description: 'More than is left of the payment; nothing was refunded.',
  },
  PayloadTooLarge: {
    codes: ['payload_too_large'],
    description: 'The body is longer than is accepted: 1 MiB unless configured otherwise.',
  },
  UnsupportedMediaType: {
    codes: ['unsupported_media_type'],
    description:
      'The body is not application/json, names a charset that is not UTF-8 (`utf-8` or `utf8`), or is compressed.',
  },
  ValidationFailed: {
    codes: ['validation_failed'],
    description: 'The body is not what is documented; all issues are listed at once.',
  },
  RateLimited: {
    codes: ['rate_limited'],
    description: 'The key has made more requests than it may, if that is limited at all.',
    headers: ['Retry-After'],
  },
  InternalError: { codes: ['internal_error'], description: 'A bug of the service, with a fixed text.' },
  Unavailable: {
    codes: ['storage_unavailable', 'shutting_down', 'fault_injected'],
    description:
      'The write could not be made durable, the service is stopping, or an error is injected on purpose (its status can be any from 400 to 599).',
    headers: ['Retry-After'],
  },
  NotNow: {
    codes: ['storage_unavailable', 'shutting_down'],
    description: 'The write could not be made durable, or the service is stopping.',
    headers: ['Retry-After'],
  },
} as const satisfies Record<string, ErrorAnswer>

export type ErrorAnswerName = keyof typeof errorAnswers

const statuses: Record<DocumentedCode, number> = { ...statusOf, internal_error: 500, fault_injected: 503 }

const named = Object.entries(errorAnswers) as [ErrorAnswerName, ErrorAnswer][]

export function statusOfAnswer(name: ErrorAnswerName): number {
  return statuses[errorAnswers[name].codes[0]]
}

/** The codes of all errors. */
export function errorCodes(): string[] {
  return [...new Set(named.flatMap(([, { codes }]) => codes))]
}

/** `not_found` → `NotFoundError` */
export function errorName(code: string): string {
  return code.endsWith('_error') ? pascalCase(code) : `${pascalCase(code)}Error`
}

/** The error answers as components; the real service has no faults on purpose. */
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
