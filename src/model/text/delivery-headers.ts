import type { TraceContext } from '../trace-context.ts'
import { signatureHeader } from './service-name.ts'

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
