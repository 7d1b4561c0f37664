import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopbackName } from '../../model/url.ts'
import { nodeOf } from '../node-request.ts'
import { Refusal } from '../../model/refusal.ts'

/** Returns true for a loopback address, the bound address or an allowed name, with or without a port. */
export type IsAllowedHost = (host: string) => boolean

/** Also allows the addresses of this machine, which web pages cannot rebind. */
export function createAllowedHosts(boundHost: string, allowedHosts: readonly string[]): IsAllowedHost {
  // Without a colon, Node need not compile its pattern of IPv6 addresses, which takes 5 ms.
  const allowed = new Set(
    [boundHost, ...allowedHosts].map((host) =>
      host.includes(':') && isIPv6(host) ? host.toLowerCase() : hostname(host),
    ),
  )
  return (host) => {
    const name = hostname(host)
    return name !== undefined && (isLoopbackName(name) || allowed.has(name) || ownAddresses().has(name))
  }
}

/**
 * Refuses requests of other web pages (contract section 10). DNS rebinding shows as a foreign `Host`, and a page of
 * another host as a foreign `Origin`. HTTP/1.0 requests may omit `Host`, because browsers do not use it.
 */
export function createHostCheck(isAllowed: IsAllowedHost): (request: Request) => void {
  return (request) => {
    const { headers } = request
    const host = headers.get('host') ?? ''
    if (host === '' && !isHttp10(request))
      throw new Refusal('invalid_request', 'The request has no Host header. HTTP/1.1 requires one.')
    if (host !== '' && !isAllowed(host))
      throw new Refusal(
        'forbidden_host',
        `The Host ${JSON.stringify((hostname(host) ?? host).slice(0, 100))} is not allowed. Use a loopback address, or allow the name with --allowed-host (allowedHost in the library).`,
      )
    const origin = headers.get('origin')
    if (origin !== null && !isAllowed(hostOf(origin) ?? ''))
      throw headers.get('sec-fetch-site') === 'same-origin' ? renamed(origin) : foreign()
    // <script src> and some forms send no Origin, but browsers send Sec-Fetch-Site.
    if (headers.get('sec-fetch-site') === 'cross-site' && !isOpeningOfPage(request)) throw foreign()
  }
}

/** Paths of the inspector, the reference and the guest pages. */
const PAGE = /^\/(?:docs(?:\/.*)?|t\/[^/]+\/[^/]+)?$/

/**
 * Returns true when a browser opens a page in a window: by a link of another site, or by the file of `tabwire open`, which
 * counts as one. Opening a page changes nothing, and other pages cannot frame or read it.
 */
function isOpeningOfPage({ method, url, headers }: Request): boolean {
  const isWindow =
    headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return method === 'GET' && isWindow && PAGE.test(new URL(url).pathname)
}

function isHttp10(request: Request): boolean {
  return nodeOf(request).req?.httpVersion === '1.0'
}

/** Returns the refusal of an own page behind a proxy whose name the service does not know. */
function renamed(origin: string): Refusal {
  return new Refusal(
    'forbidden_origin',
    `The page is at ${JSON.stringify(origin.slice(0, 100))}, whose host is not allowed. Allow it with --allowed-host, or pass the URL of the proxy with --public-url.`,
  )
}

function foreign(): Refusal {
  return new Refusal(
    'forbidden_origin',
    'Requests from web pages of another host are refused. Send the request from a server or a command line.',
  )
}

/** A name of letters, digits, hyphens and underscores, or an IPv6 address in brackets, with an optional port. */
const hostForm = /^(?:\[([\da-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::(\d{0,5}))?$/i

/** Returns the name in lower case without port, brackets and final dot; `undefined` when it is not a host. */
function hostname(host: string): string | undefined {
  const [, address, name, port = ''] = host.length > 300 ? [] : (hostForm.exec(host) ?? [])
  if (Number(port) > 65_535 || (address !== undefined && !isIPv6(address))) return undefined
  return (address ?? name)?.toLowerCase()
}

/** Returns host and port of an `Origin` header. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@\s]+)$/.exec(origin)?.[1]
}

/** Returns the addresses of this machine. */
export function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  )
}
