import { setNewest } from '../../model/bounded-map.ts'
import { isLocalhost } from '../../model/url.ts'
import { MAX_URL_LENGTH } from '../../model/webhook-endpoint.ts'
import { isLoopback } from './address.ts'

/** Where `http:` is accepted. */
export interface PlainHttp {
  /** Loopback hosts. */
  allowHttpLoopback: boolean
  /** These hosts, for receivers that a container reaches by name. */
  allowHttpHosts?: readonly string[]
}

/**
 * Returns the first problem with the text of an endpoint's URL and how to fix it; `undefined` when there is none. Does not
 * check addresses.
 */
export function whyFormRefused(text: string, plainHttp: PlainHttp): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters long`
  // new URL() repairs blanks, line breaks and backslashes; the stored URL would differ from the called one.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text))
    return 'must be an absolute URL such as https://example.com/webhooks'
  const url = new URL(text)
  // The stored URL, in which each character beyond ASCII takes six or more.
  if (url.href.length > MAX_URL_LENGTH)
    return `must be at most ${MAX_URL_LENGTH} characters long, percent-encoded`
  return whySchemeRefused(url, plainHttp) ?? whyPartsRefused(url, text)
}

/** Normalises an accepted URL for storage: lower-case scheme and host, no default port. */
export function normalUrl(url: string): string {
  return new URL(url).href
}

/** Returns the host and port of a URL, without the brackets of IPv6 and the trailing dot of a full name. */
export function destinationOf(url: URL): { hostname: string; port: number } {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return { hostname, port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port) }
}

function whySchemeRefused(
  url: URL,
  { allowHttpLoopback, allowHttpHosts = [] }: PlainHttp,
): string | undefined {
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') return `must be an https: URL, not ${url.protocol}`
  const { hostname } = destinationOf(url)
  if (allowHttpHosts.some((host) => host.toLowerCase() === hostname)) return undefined
  if (!isLocalhost(hostname) && !isLoopback(hostname))
    return 'must be an https: URL. Only loopback hosts can use http:, with --allow-http-loopback, and hosts that --allow-http-host names (allowHttpLoopback and allowHttpHost in the library)'
  return allowHttpLoopback
    ? undefined
    : 'must be an https: URL. Create a trusted certificate with `tabwire certs create localhost`, or allow plain http on loopback with --allow-http-loopback (allowHttpLoopback in the library)'
}

function whyPartsRefused(url: URL, text: string): string | undefined {
  // The parser drops an empty user name, which the stored URL would keep.
  if (/^[^/]*\/\/[^/?#]*@/.test(text))
    return 'must not contain a user name or password. Receivers authenticate deliveries by the signature'
  if (url.href.includes('#')) return 'must not have a fragment (#…), which is never sent'
  if (url.port === '0') return 'must not use port 0'
  return undefined
}

/** More than the endpoints of a service. */
const MAX_ENTRIES = 1_000

/** Caches parsed URLs and addresses. Each attempt needs them, and parsing costs as much as signing. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const found = cache.get(text)
    if (found !== undefined) return found
    const result = compute(text)
    setNewest(cache, text, result, MAX_ENTRIES)
    return result
  }
}
