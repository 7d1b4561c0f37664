import { bareHost } from '../../model/loopback.ts'
import { hostname as machineName, networkInterfaces } from 'node:os'

/**
 * Whether a host name of a URL means this machine without asking anybody: loopback, an address of one of its network
 * interfaces, every address (`0.0.0.0`), or its own name.
 */
export function isThisMachine(hostname: string): boolean {
  const host = bareHost({ hostname }).toLowerCase()
  if (['localhost', '::1', '0.0.0.0', '::', machineName().toLowerCase()].includes(host)) return true
  if (/^127(\.\d{1,3}){3}$/.test(host)) return true
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return own.some(({ address }) => address.toLowerCase() === host)
}
