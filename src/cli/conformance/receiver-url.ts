import { bareHost, isLoopbackName } from '../../model/loopback.ts'
import { signatureHeader } from '../../model/service-name.ts'
import { usageError } from '../errors.ts'
import { parseTarget, type Header } from '../listen/target.ts'

/**
 * The receiver to check, as people type it. Deliveries go over HTTPS (specification section 2); plain HTTP is for a receiver
 * under development, which is on this machine.
 * @throws CommandError (usage) for anything else.
 */
export function receiverUrl(text: string): URL {
  const url = parseTarget(text)
  if (url.protocol === 'https:' || isLoopbackName(bareHost(url))) return url
  throw usageError(`${url.origin} is plain HTTP, which is for receivers on this machine alone. Use https:.`)
}

/** @throws CommandError (usage) for headers that the check itself has to set. */
export function requireSafeHeaders(headers: readonly Header[], serviceName: string): void {
  const own = [
    signatureHeader(serviceName),
    'content-type',
    'content-length',
    'connection',
    'transfer-encoding',
    'host',
  ]
  const taken = headers.find(([name]) => own.some((one) => one.toLowerCase() === name.toLowerCase()))
  if (taken !== undefined)
    throw usageError(`The check sets ${taken[0]} itself; it cannot be given with --header.`)
}
