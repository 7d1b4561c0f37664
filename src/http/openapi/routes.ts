import { createHash } from 'node:crypto'
import type { Answer } from '../refusals.ts'
import type { Call, Route } from '../route.ts'

export interface DocumentParts {
  /** Names the signature header. */
  serviceName: string
  scheme: 'http' | 'https'
}

/** Stands for the address of the service in the document that is made once. No name of a host is like it. */
const PLACEHOLDER = 'http://openapi.tabwire.invalid'

/**
 * `GET /openapi.json`: what `tabwire openapi` prints, with this service as its server, by the name that it was asked by.
 * The document is created at the first request, since most services never get one, and once: creating it takes 26 ms, and
 * callers choose the name. The name is filled in for each request.
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
  // Long, and the same each time.
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

/** Answers 304 when the caller has the body already. */
function tagged(etag: string, known: string | null, body: () => string): Answer {
  const headers = { etag, 'cache-control': 'no-cache' }
  const tags = known?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known === '*' || tags.includes(etag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body: body() }
}
