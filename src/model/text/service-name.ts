import type { TraceContext } from './trace-context.ts'

/** Default name of the service (contract section 1). */
export const DEFAULT_SERVICE_NAME = 'Service'

/** Valid part of a header name: up to 64 letters, digits and hyphens. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/

/**
 * Reads the name of a service, or its signature header: `Acme`, `Acme-Signature`, `X-Acme` and `X-Acme-Signature` are
 * Acme, case-insensitively. Returns `undefined` when the name cannot be part of a header name.
 */
export function parseServiceName(text: string): string | undefined {
  const [, name = text] = /^(?:x-)?(.+?)(?:-signature)?$/i.exec(text) ?? []
  if (!NAME.test(name)) return undefined
  const isHeader = name !== text
  const hasOneCase = text === text.toLowerCase() || text === text.toUpperCase()
  return isHeader && hasOneCase ? name.toLowerCase().replace(/(?<![a-z0-9])[a-z]/g, upperCase) : name
}

function upperCase(letter: string): string {
  return letter.toUpperCase()
}

/** Returns the name of the header that holds the signature of a delivery (specification section 5). */
export function signatureHeader(serviceName: string): string {
  return `X-${serviceName}-Signature`
}

/**
 * Returns the headers of a delivery (contract section 9). Attempts of one delivery differ in the signature, and with
 * `--trace` in the span id of `traceparent`.
 */
export function deliveryHeaders(
  serviceName: string,
  signature: string,
  trace?: TraceContext,
): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `${serviceName}-Webhooks/1.0`,
    [signatureHeader(serviceName)]: signature,
  }
  return trace === undefined ? headers : { ...headers, ...trace }
}

/** Returns the headers that HTTP/1.1 adds to the request of a delivery; without `Host` when the URL is unknown. */
export function httpHeaders(url: string | null, body: string): Record<string, string> {
  return {
    ...(url !== null && URL.canParse(url) && { Host: new URL(url).host }),
    Connection: 'keep-alive',
    'Content-Length': String(new TextEncoder().encode(body).length),
  }
}
