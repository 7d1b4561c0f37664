/**
 * Scopes of an API key: `read` allows every GET under `/v1`, and `/_sim/metrics`; `write` allows pushes and endpoints;
 * `simulate` allows all of `/_sim` that needs a key (contract section 2).
 */
export const scopes = ['read', 'write', 'simulate'] as const
export type Scope = (typeof scopes)[number]

/** Characters that are safe in headers, `.env` files and shells: 1 to 512 printable ASCII characters without blanks. */
export const apiKeyPattern = /^[\x21-\x7e]{1,512}$/

/**
 * Matches texts that look like an API key or a signing secret, also one of another service in base64. The group is the
 * prefix.
 */
export const secretForm = /\b(twk_|whsec_)[\w+/=-]{6,}/g

/** An API key as it is stored: only the SHA-256 of the key, in hex. */
export interface ApiKey {
  id: string
  hash: string
  name: string
  scopes: readonly Scope[]
  location_id: string
  created_at: string
  revoked_at: string | null
}

export type ApiKeyView = Omit<ApiKey, 'hash'>

/** Returns a key as responses show it, without its hash. */
export function viewApiKey({ hash: _hash, ...view }: ApiKey): ApiKeyView {
  return view
}
