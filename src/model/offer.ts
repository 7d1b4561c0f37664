import type { Delivery, HttpHeader, Offer } from './delivery.ts'

/**
 * End of the hosts of endpoints whose attempts a running `tabwire listen` fetches from the live stream. Such a name never
 * resolves (RFC 6761).
 */
const RESERVED_DOMAIN = '.listen.invalid'

const listenerUrlPattern = new RegExp(`^https://([a-z\\d-]{1,63})${RESERVED_DOMAIN.replaceAll('.', '\\.')}/`)

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
  return listenerUrlPattern.exec(url)?.[1]
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
