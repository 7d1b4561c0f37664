import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopback, isSameAddress, isUnspecified } from './address-policy.ts'

/** Where this service itself listens. `host` is what it was bound to, such as `127.0.0.1`, `::` or `localhost`. */
export interface OwnAddress {
  host: string
  port: number
}

/** Whether connecting to this address and port would reach the service itself. */
export function isOwn(address: string, port: number, own: OwnAddress): boolean {
  if (port !== own.port) return false
  const host = own.host.replace(/^\[(.*)\]$/, '$1')
  const boundToLoopback = host === 'localhost' || isLoopback(host)
  // A host name is some address of this machine, and which ones is the resolver's business.
  const boundToAny = isUnspecified(host) || (isIP(host) === 0 && !boundToLoopback)
  if (isLoopback(address)) return boundToAny || boundToLoopback
  return boundToAny ? isOfThisMachine(address) : isSameAddress(address, host)
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .some((own) => isSameAddress(address, own.address))
}
