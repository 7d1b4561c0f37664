/** The service's name where it has no other (contract section 1). */
export const DEFAULT_SERVICE_NAME = 'Service'

/** Part of a header's name: up to 64 letters, digits and hyphens. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?$/

/**
 * Reads the name of a service, which may be given as its signature header: `Acme`, `Acme-Signature`, `X-Acme` and
 * `X-Acme-Signature` are Acme, in any case of letters. Returns `undefined` for what cannot be part of a header's name.
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

/** The header in which a service signs its deliveries (specification section 5). */
export function signatureHeader(serviceName: string): string {
  return `X-${serviceName}-Signature`
}
