import { z } from 'zod'
import type { AttemptOutcome } from '../delivery.ts'

/** Most headers of an answer. More than are kept, so that the service knows when some are missing. */
export const MOST_HEADERS = 1_000

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
