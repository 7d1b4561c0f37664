import {
  curlCommand,
  PLACEHOLDER,
  urlWord,
  WITH_KEY,
  shellWord,
  tabwireCommand,
} from '../../../model/text/shell-command.ts'
import { signatureHeader } from '../../../model/text/service-name.ts'
import type { SentRequest } from '../../../model/simulator/sent-request.ts'
import type { LoggedRequest } from '../../../model/simulator/request-entry.ts'

/** Headers that curl adds itself. */
const addedByCurl = ['host', 'connection', 'content-length', 'content-type']

/**
 * Returns a delivery's request as curl, as `tabwire deliveries export` prints it, with the signature of the shown attempt.
 * Without a signature, the header has a placeholder.
 */
export function deliveryCurl(
  { url, headers, body }: Pick<SentRequest, 'url' | 'headers' | 'body'>,
  serviceName: string,
): string {
  const signature = signatureHeader(serviceName)
  const isSigned = headers.some(({ name }) => name === signature)
  const lines = [...headers, ...(isSigned ? [] : [{ name: signature, value: PLACEHOLDER }])]
    .filter(({ name }) => !addedByCurl.includes(name.toLowerCase()))
    .map(({ name, value }) => `${name}: ${value}`)
  return curlCommand(url ?? 'https://endpoint.invalid/', lines, new TextEncoder().encode(body))
}

/**
 * Returns the command that verifies the signature header of a delivery's latest attempt. The secret comes from the
 * environment, so that the command does not contain it.
 */
export function verifyCommand(deliveryId: string): string {
  return tabwireCommand('verify', [], { secret: { variable: 'WEBHOOK_SECRET' }, delivery: deliveryId })
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
