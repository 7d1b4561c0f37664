import { networkInterfaces } from 'node:os'

/**
 * The URL of the service as another device has to write it: a service that listens on every address of the machine is
 * reached by one of them, a private IPv4 one where there is one; any other is reached where it listens.
 */
export function reachableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return url
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const candidates = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal)
  const [best = '127.0.0.1'] = candidates.map(({ address }) => address).sort(byPrivacy)
  return `${protocol}//${best}${port === '' ? '' : `:${port}`}`
}

/** Phones are in the same private network, and rarely in that of a virtual machine or container. */
const ranges = [/^192\.168\./, /^10\./, /^172\.(1[6-9]|2\d|3[01])\./]

function byPrivacy(one: string, other: string): number {
  return rankOf(one) - rankOf(other)
}

function rankOf(address: string): number {
  const rank = ranges.findIndex((range) => range.test(address))
  return rank === -1 ? ranges.length : rank
}
