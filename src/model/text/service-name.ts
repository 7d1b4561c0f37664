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
