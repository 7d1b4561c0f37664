import { createHash } from 'node:crypto'
import type { Answer } from '../refusals.ts'
import type { Call, Route } from '../route.ts'

export interface DocumentParts {
  /** Names the signature header. */
  serviceName: string
  scheme: 'http' | 'https'
}

/** Placeholder for the URL of the service in the cached document; not a possible host. */
const PLACEHOLDER = 'http://openapi.tabwire.invalid'

/**
 * `GET /openapi.json`: the document of `tabwire openapi`, with this service as its server, by the requested host name.
 * The document is created once, at the first request, because creation takes 26 ms. The host name is inserted per
 * request.
 */
export function documentRoutes({ serviceName, scheme }: DocumentParts): Route[] {
  let made: Promise<{ text: string; digest: string }> | undefined
  const handle = async (call: Call) => {
    made ??= makeDocument(serviceName)
    const { text, digest } = await made
    const url = `${scheme}://${call.header('host')}`
    return tagged(`"${digestOf(digest + url)}"`, call.header('if-none-match'), () =>
      text.replaceAll(PLACEHOLDER, () => url),
    )
  }
  // Not logged, because the body is long and constant.
  return [{ method: 'GET', path: '', scope: null, secret: true, handle }]
}

async function makeDocument(serviceName: string): Promise<{ text: string; digest: string }> {
  const { openApiText } = await import('./document.ts')
  const text = await openApiText({ url: PLACEHOLDER, serviceName })
  return { text, digest: digestOf(text) }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Returns 304 when the caller already has the body. */
function tagged(etag: string, known: string | null, body: () => string): Answer {
  const headers = { etag, 'cache-control': 'no-cache' }
  const tags = known?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known === '*' || tags.includes(etag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body: body() }
}
