import { z } from 'zod'
import type { AttemptOutcome, Delivery, HttpHeader, Offer } from './delivery.ts'

/**
 * End of the hosts of endpoints whose attempts a running `tabwire listen` fetches from the live stream. Such a name never
 * resolves (RFC 6761).
 */
const RESERVED_DOMAIN = '.listen.invalid'

/** Returns true for a host that must never be looked up. */
export function isReservedHost(hostname: string): boolean {
  return hostname.endsWith(RESERVED_DOMAIN)
}

/** Returns the URL of an endpoint for a listener, whose name has lower-case letters, digits and hyphens. */
export function listenerUrl(listener: string, path: string): string {
  return `https://${listener}${RESERVED_DOMAIN}${path}`
}

/** Returns the listener of a URL in normal form; `undefined` for the URL of any other receiver. */
export function listenerOf(url: string): string | undefined {
  return /^https:\/\/([a-z\d-]{1,63})\.listen\.invalid\//.exec(url)?.[1]
}

/** Returns the offer that a delivery has no answer to yet, with its listener. */
export function openOffer({ status, offer, endpoint_url = '' }: Delivery) {
  const listener = listenerOf(endpoint_url)
  if (status !== 'pending' || listener === undefined) return undefined
  return offer === undefined || offer.result !== undefined ? undefined : { listener, offer }
}

/** An offered attempt as its listener gets it: the request that the receiver must get. */
export interface OfferedAttempt {
  /** Id of the offer. Each offer is forwarded once, however often it is received. */
  offer: Offer['id']
  delivery_id: string
  attempt: number
  /** URL of the endpoint. */
  url: string
  headers: readonly HttpHeader[]
  body: string
}

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
