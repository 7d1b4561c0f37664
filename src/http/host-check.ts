import { networkInterfaces } from 'node:os'
import { isLoopbackName } from '../model/loopback.ts'
import { Refusal } from '../model/refusal.ts'

/**
 * Keeps web pages out (contract section 10): a page that rebinds its own name to this machine arrives with a foreign
 * `Host`, and any page of another origin with a foreign `Origin`. Addresses of this machine cannot be rebound.
 */
export function createHostCheck(
  boundHost: string,
  allowedHosts: readonly string[],
): (headers: Headers) => void {
  const allowed = new Set([boundHost, ...allowedHosts].map(hostname))
  const isAllowed = (name: string) => isLoopbackName(name) || allowed.has(name) || ownAddresses().has(name)
  return (headers) => {
    const host = headers.get('host') ?? ''
    if (host === '')
      throw new Refusal('invalid_request', 'The request has no Host header. HTTP/1.1 requires one.')
    if (!isAllowed(hostname(host)))
      throw new Refusal(
        'forbidden_host',
        `The Host ${JSON.stringify(hostname(host).slice(0, 100))} is not this service's. Use a loopback address, or allow the name with --allowed-host (allowedHosts in the library).`,
      )
    const origin = headers.get('origin')
    if (origin !== null && !isAllowed(hostname(origin.replace(/^https?:\/\//, '')))) throw foreign()
    // A page's <script src> or form sends no Origin with some methods, but browsers say where it comes from.
    if (headers.get('sec-fetch-site') === 'cross-site') throw foreign()
  }
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
