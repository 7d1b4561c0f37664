import { isLoopback } from './address.ts'

const MAX_URL_LENGTH = 2048

/**
 * What is wrong with the text of an endpoint's URL, in the order in which a person would correct it, and what to do;
 * `undefined` when nothing is. Addresses are not judged here.
 */
export function refuseForm(text: string, allowHttpLoopback: boolean): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters long`
  // new URL() repairs blanks, line breaks and backslashes; what is stored would not be what is called.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text))
    return 'must be an absolute URL such as https://example.com/webhooks'
  const url = new URL(text)
  return refuseScheme(url, allowHttpLoopback) ?? refuseParts(url, text)
}

/** A URL that `refuseForm` accepts as it is to be stored and shown: scheme and host in lower case, default port left out. */
export function normalUrl(url: string): string {
  return new URL(url).href
}

/** Host and port that a URL names; brackets of IPv6 and the dot of a fully qualified name are not part of the host. */
export function destinationOf(url: URL): { hostname: string; port: number } {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return { hostname, port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port) }
}

/** Names that mean this machine to every resolver (RFC 6761), so that none need be asked. */
export function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

function refuseScheme(url: URL, allowHttpLoopback: boolean): string | undefined {
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') return `must be an https: URL, not ${url.protocol}`
  const { hostname } = destinationOf(url)
  if (!isLocalhost(hostname) && !isLoopback(hostname))
    return 'must be an https: URL; http: is accepted for loopback hosts alone, with --allow-http-loopback (allowHttpLoopback in the library)'
  return allowHttpLoopback
    ? undefined
    : 'must be an https: URL. `tabwire certs create localhost` makes a certificate that the service trusts; a receiver on plain http at loopback is accepted with --allow-http-loopback (allowHttpLoopback in the library)'
}

function refuseParts(url: URL, text: string): string | undefined {
  // The parser drops an empty user name, which is there in what would be stored.
  if (/^[^/]*\/\/[^/?#]*@/.test(text))
    return 'must not carry a user name or password; receivers are authenticated by the signature'
  if (url.href.includes('#')) return 'must not have a fragment (#…), which is never sent'
  if (url.port === '0') return 'must not name port 0, to which nothing can be sent'
  return undefined
}
