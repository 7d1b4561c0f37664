import type { IncomingMessage } from 'node:http'
import { networkInterfaces } from 'node:os'
import { isLoopbackName } from '../model/loopback.ts'
import { Refusal } from '../model/refusal.ts'

/** Whether a host, with or without a port, is a loopback address, the bound address or an allowed name. */
export type IsAllowedHost = (host: string) => boolean

/** Addresses of this machine are allowed too: no web page can rebind them. */
export function createAllowedHosts(boundHost: string, allowedHosts: readonly string[]): IsAllowedHost {
  const allowed = new Set([boundHost, ...allowedHosts].map(hostname))
  return (host) => {
    const name = hostname(host)
    return isLoopbackName(name) || allowed.has(name) || ownAddresses().has(name)
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
        `The Host ${JSON.stringify(hostname(host).slice(0, 100))} is not this service's. Use a loopback address, or allow the name with --allowed-host (allowedHosts in the library).`,
      )
    const origin = headers.get('origin')
    if (origin !== null && !isAllowed(origin.replace(/^https?:\/\//, ''))) throw foreign()
    // A page's <script src> or form sends no Origin with some methods, but browsers say where it comes from.
    if (headers.get('sec-fetch-site') === 'cross-site') throw foreign()
  }
}

function isHttp10(request: Request): boolean {
  const { runtime } = request as Request & { runtime?: { node?: { req?: IncomingMessage } } }
  return runtime?.node?.req?.httpVersion === '1.0'
}

function foreign(): Refusal {
  return new Refusal('forbidden_origin', 'Requests from pages of another origin are refused.')
}

/** Lower case, without port, brackets and final dot. */
function hostname(host: string): string {
  const bare = /^\[([\da-f:.]+)\](?::\d*)?$/i.exec(host)?.[1] ?? host.replace(/:\d*$/, '')
  return bare.toLowerCase().replace(/\.$/, '')
}

function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  )
}
