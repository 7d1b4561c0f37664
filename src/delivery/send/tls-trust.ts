import * as tls from 'node:tls'
import { setNewest } from '../../model/bounded-map.ts'
import { trustedContext } from '../../certificates/trusted.ts'

export interface TlsTrust {
  /** Certificates of authorities in PEM, in addition to the system's (`--cacert`). */
  ca: readonly string[]
  /** Accepts any certificate (`--insecure`). */
  insecure: boolean
  /** Returns Tabwire's own authority. Called for each connection, since it may be created while the service runs. */
  local?: () => Promise<string | undefined>
}

/**
 * Creates the TLS context of deliveries. Parses the authorities once, and again when the local authority has changed:
 * parsing hundreds of them for each connection would cost tens of milliseconds.
 */
export function createTrustContext({ ca, insecure, local }: TlsTrust): () => Promise<tls.SecureContext> {
  let known: { pem: string | undefined; context: tls.SecureContext } | undefined
  return async () => {
    const pem = insecure ? undefined : await local?.()
    if (known === undefined || known.pem !== pem)
      known = { pem, context: contextFor(pem === undefined ? ca : [...ca, pem]) }
    return known.context
  }
}

/** Recent contexts by their additional authorities; simulators of one process mostly share one. */
const parsed = new Map<string, tls.SecureContext>()
const MAX_CONTEXTS = 4

function contextFor(ca: readonly string[]): tls.SecureContext {
  const key = ca.join('\n')
  const context = parsed.get(key) ?? trustedContext(ca)
  setNewest(parsed, key, context, MAX_CONTEXTS)
  return context
}
