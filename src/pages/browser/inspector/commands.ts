import {
  curlCommand,
  PLACEHOLDER,
  urlWord,
  WITH_KEY,
  shellWord,
  tabwireCommand,
} from '../../../model/shell-command.ts'
import type { LoggedRequest } from '../../../model/simulator/request-entry.ts'
import { DEFAULT_SERVICE_NAME, signatureHeader } from '../../../model/service-name.ts'

/** What `tabwire deliveries export` prints: the request that carries an event, with a placeholder for the signature. */
export function deliveryCurl(url: string, body: string, serviceName: string): string {
  const headers = [
    `User-Agent: ${serviceName}-Webhooks/1.0`,
    `${signatureHeader(serviceName)}: ${PLACEHOLDER}`,
  ]
  return curlCommand(url, headers, new TextEncoder().encode(body))
}

/** Checks the signature header that a receiver got with this delivery; the secret comes from the environment. */
export function verifyCommand(deliveryId: string, serviceName: string): string {
  return tabwireCommand('verify', [], {
    secret: { variable: 'WEBHOOK_SECRET' },
    header: PLACEHOLDER,
    delivery: deliveryId,
    ...(serviceName !== DEFAULT_SERVICE_NAME && { 'service-name': serviceName }),
  })
}

/** Runs the conformance suite against a receiver; the secret comes from the environment. */
export function receiverCheckCommand(url: string): string {
  return tabwireCommand('receiver check', [url], { secret: { variable: 'WEBHOOK_SECRET' } })
}

/** Prints an event's exact body. */
export function eventCommand(id: string): string {
  return tabwireCommand('events show', [id], { body: true })
}

/** The same request once more; the key comes from the environment. */
export function requestCurl(service: string, { method, path, request_body }: LoggedRequest): string {
  if (request_body !== null)
    return curlCommand(service + path, WITH_KEY, new TextEncoder().encode(request_body), method)
  const url = urlWord(service + path.replaceAll("'", '%27'))
  return `curl -gsS -X ${shellWord(method)} ${url} -H "${WITH_KEY}"`
}
