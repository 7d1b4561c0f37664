import {
  curlCommand,
  PLACEHOLDER,
  urlWord,
  WITH_KEY,
  shellWord,
  tabwireCommand,
} from '../../../model/text/shell-command.ts'
import { DEFAULT_SERVICE_NAME, signatureHeader } from '../../../model/text/service-name.ts'
import type { LoggedRequest } from '../../../model/simulator/request-entry.ts'

/** Returns a delivery's request as curl, as `tabwire deliveries export` prints it, with a placeholder for the signature. */
export function deliveryCurl(url: string, body: string, serviceName: string): string {
  const headers = [
    `User-Agent: ${serviceName}-Webhooks/1.0`,
    `${signatureHeader(serviceName)}: ${PLACEHOLDER}`,
  ]
  return curlCommand(url, headers, new TextEncoder().encode(body))
}

/** Returns the command that verifies a delivery's signature header; the secret comes from the environment. */
export function verifyCommand(deliveryId: string, serviceName: string): string {
  return tabwireCommand('verify', [], {
    secret: { variable: 'WEBHOOK_SECRET' },
    header: PLACEHOLDER,
    delivery: deliveryId,
    ...(serviceName !== DEFAULT_SERVICE_NAME && { 'service-name': serviceName }),
  })
}

/** Returns the command that tests a receiver; the secret comes from the environment. */
export function receiverCheckCommand(url: string): string {
  return tabwireCommand('receiver check', [url], { secret: { variable: 'WEBHOOK_SECRET' } })
}

/** Returns the command that prints an event's exact body. */
export function eventCommand(id: string): string {
  return tabwireCommand('events show', [id], { body: true })
}

/** Returns a logged request as curl; the API key comes from the environment. */
export function requestCurl(service: string, { method, path, request_body }: LoggedRequest): string {
  if (request_body !== null)
    return curlCommand(service + path, WITH_KEY, new TextEncoder().encode(request_body), { method })
  const url = urlWord(service + path.replaceAll("'", '%27'))
  return `curl -gsS -X ${shellWord(method)} ${url} -H "${WITH_KEY}"`
}
