import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopbackName } from '../../model/loopback.ts'
import { nodeOf } from '../node-request.ts'
import { Refusal } from '../../model/refusal.ts'

/** Whether a host, with or without a port, is a loopback address, the bound address or an allowed name. */
export type IsAllowedHost = (host: string) => boolean

/** Addresses of this machine are allowed too: no web page can rebind them. */
export function createAllowedHosts(boundHost: string, allowedHosts: readonly string[]): IsAllowedHost {
  const allowed = new Set([boundHost, ...allowedHosts].map((host) => (isIPv6(host) ? host : hostname(host))))
  return (host) => {
    const name = hostname(host)
    return name !== undefined && (isLoopbackName(name) || allowed.has(name) || ownAddresses().has(name))
  }
}

/**
 * Keeps web pages out (contract section 10): a page that rebinds its own name to this machine arrives with a foreign
 * `Host`, and any page of another origin with a foreign `Origin`. HTTP/1.0, which no browser speaks, may omit `Host`.
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
        `The Host ${JSON.stringify((hostname(host) ?? host).slice(0, 100))} is not this service's. Use a loopback address, or allow the name with --allowed-host (allowedHosts in the library).`,
      )
    const origin = headers.get('origin')
    if (origin !== null && !isAllowed(hostOf(origin) ?? '')) throw foreign()
    // A page's <script src> or form sends no Origin with some methods, but browsers say where it comes from.
    if (headers.get('sec-fetch-site') === 'cross-site' && !isOpeningOfInspector(request)) throw foreign()
  }
}

/**
 * Whether a browser opens the inspector's page in a window: the file that `tabwire open` writes leads to it, which is of
 * another site. The page shows nothing by itself, and no other page can frame or read it.
 */
function isOpeningOfInspector({ method, url, headers }: Request): boolean {
  const isWindow =
    headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return method === 'GET' && isWindow && new URL(url).pathname === '/'
}

function isHttp10(request: Request): boolean {
  return nodeOf(request).req?.httpVersion === '1.0'
}

function foreign(): Refusal {
  return new Refusal('forbidden_origin', 'Requests from pages of another origin are refused.')
}

/** A name of letters, digits, hyphens and underscores, or an IPv6 address in brackets, and perhaps a port. */
const hostForm = /^(?:\[([\da-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::(\d{0,5}))?$/i

/** Lower case, without port, brackets and final dot; `undefined` when `host` is not a host. */
function hostname(host: string): string | undefined {
  const [, address, name, port = ''] = host.length > 300 ? [] : (hostForm.exec(host) ?? [])
  if (Number(port) > 65_535 || (address !== undefined && !isIPv6(address))) return undefined
  return (address ?? name)?.toLowerCase()
}

/** The host and port of an origin as browsers send it, with nothing before or behind it. */
function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@\s]+)$/.exec(origin)?.[1]
}

function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  )
}
