import { z } from 'zod'
import { scopes } from '../api-key.ts'
import type { AttemptOutcome } from '../delivery.ts'
import { MOST_HEADERS } from '../offer.ts'
import { unrepeated } from '../validation.ts'
import { durationMs, durationPattern, parseTime } from '../text/time.ts'

const isDuration = (text: string) => durationMs(text) !== undefined
const isTime = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && parseTime(text) !== undefined

/** Gives wrong types and wrong texts the same message; a missing field is required. */
const withMessage = (text: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? undefined : text),
})
const mustBeDuration = 'must be a duration such as 90s, 5m, 36h, 1d, 1h30m or 500ms'
const mustBeTime = 'must be an ISO 8601 time with a time zone, such as 2026-11-21T18:00:00Z'

/** Body of `POST /_sim/clock`: exactly one way to move the clock (contract section 10). */
export const clockMoveBody = z.union(
  [
    z.strictObject({
      advance: z
        .string(withMessage(mustBeDuration))
        .refine(isDuration, mustBeDuration)
        .meta({ examples: ['36h', '1h30m', '500ms'], minLength: 1, pattern: durationPattern }),
    }),
    z.strictObject({
      to: z.string(withMessage(mustBeTime)).refine(isTime, mustBeTime).meta({ format: 'date-time' }),
    }),
    z.strictObject({ freeze: z.boolean(withMessage('must be true or false')) }),
  ],
  'must have exactly one of the fields advance, to and freeze',
)

export type ClockMoveBody = z.infer<typeof clockMoveBody>

/**
 * Body of `POST /_sim/deliveries/{id}/resend`. `fresh` signs with the current time; otherwise the first header is
 * repeated.
 */
export const resendBody = z.strictObject({
  fresh: z.boolean('must be true (the default) or false').default(true),
})

/** Body of `POST /_sim/session`: the code of a link from `tabwire open`. */
export const sessionCodeBody = z.strictObject({
  code: z.string('must be the code of a link from tabwire open'),
})

/** Body of `POST /_sim/keys`. By default, the key has all scopes and the caller's location. */
export const createKeyBody = z.strictObject({
  name: z.string().min(1).max(255).default('key'),
  scopes: z
    .array(z.enum(scopes))
    .min(1)
    .refine(...unrepeated('must not repeat a scope'))
    .meta({ uniqueItems: true })
    .default([...scopes]),
  location_id: z.string().optional(),
})
export type CreateKeyBody = z.infer<typeof createKeyBody>

const answered = { offer: z.string().max(64), duration_ms: z.int().min(0) }

/** Longest header that HTTP clients accept, in characters. */
const MOST_HEADER_LENGTH = 16 * 1024

/** A header of HTTP/1.1 (RFC 9110 section 5), with a value as latin1. */
const answeredHeader = z.strictObject({
  name: z
    .string()
    .max(MOST_HEADER_LENGTH)
    .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header'),
  value: z
    .string()
    .max(MOST_HEADER_LENGTH)
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of a header, without control characters'),
})

/** Outcomes of an attempt that got no response. */
const unanswered = [
  'timeout',
  'connection_refused',
  'connection_reset',
  'tls_error',
  'dns_error',
  'network_error',
] as const satisfies readonly AttemptOutcome[]

/**
 * Body of `POST /_sim/deliveries/{id}/attempts/{number}/response`: the response of the receiver, or why there was none.
 * `body` is the text of the first 4 KiB.
 */
export const offerAnswerBody = z.union(
  [
    z.strictObject({
      ...answered,
      status: z.int().min(200).max(999),
      headers: z.array(answeredHeader).max(MOST_HEADERS),
      body: z.string().max(4096),
    }),
    z.strictObject({ ...answered, outcome: z.enum(unanswered), error: z.string().min(1).max(1000) }),
  ],
  'must have offer, duration_ms, and either status, headers and body or outcome and error',
)
/** Outcome of an attempt without a response. */
export type Unanswered = (typeof unanswered)[number]
export type OfferAnswer = z.infer<typeof offerAnswerBody>
