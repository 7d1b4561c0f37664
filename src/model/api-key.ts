/** What a key may do: `read` every GET, `write` pushes and endpoints, `simulate` all of `/_sim` (contract section 2). */
export const scopes = ['read', 'write', 'simulate'] as const
export type Scope = (typeof scopes)[number]

/** What an API key may be, wherever it comes from: it goes into headers, `.env` files and shells. */
export const apiKeyPattern = /^[\x21-\x7e]{1,512}$/

/** An API key at rest: the key itself is known to its holder alone, the store keeps its SHA-256 in hex. */
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

/** A key as every answer shows it, without its hash. */
export function viewApiKey({ hash: _hash, ...view }: ApiKey): ApiKeyView {
  return view
}
