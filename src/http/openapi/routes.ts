import { hash } from 'node:crypto'
import type { HttpResponse } from '../refusals.ts'
import type { Call, Route } from '../route.ts'

interface DocumentParts {
  /** Names the signature header. */
  serviceName: string
  scheme: 'http' | 'https'
  /** Returns the URL of the service for a request without a `Host`, as HTTP/1.0 allows. */
  url: () => string
}

/** Placeholder for the URL of the service in the cached document; not a possible host. */
const PLACEHOLDER = 'http://openapi.tabwire.invalid'

type Written = (text: string) => Promise<string> | string

/**
 * Returns a function that writes the OpenAPI document by `write`. The document takes 26 ms, so it is made once, at the
 * first request. The URL of the service, by the `Host` of the request, is filled in each time.
 */
export function createDocuments({ serviceName, scheme, url: ownUrl }: DocumentParts) {
  let made: Promise<string> | undefined
  const written = new Map<Written, Promise<string>>()
  return async (call: Call, write: Written): Promise<string> => {
    made ??= makeDocument(serviceName)
    const text = written.get(write) ?? made.then(write)
    written.set(write, text)
    const host = call.header('host')
    const own = ownUrl()
    // A proxy may end TLS, and pass the host of --public-url.
    const url = host === null || host === new URL(own).host ? own : `${scheme}://${host}`
    return (await text).replaceAll(PLACEHOLDER, () => url)
  }
}

const asItIs: Written = (text) => text

/** `GET /openapi.json`: the text that `tabwire openapi` prints. */
export function documentRoutes(documentFor: ReturnType<typeof createDocuments>): Route[] {
  const handle = async (call: Call) => {
    const text = await documentFor(call, asItIs)
    return tagged(`"${digestOf(text)}"`, call.header('if-none-match'), text)
  }
  return [{ method: 'GET', path: '', scope: null, handle }]
}

async function makeDocument(serviceName: string): Promise<string> {
  const { openApiText } = await import('./document.ts')
  return openApiText({ url: PLACEHOLDER, serviceName })
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}

/** Returns 304 when the caller already has the body. */
function tagged(etag: string, known: string | null, body: string): HttpResponse {
  const headers = { etag, 'cache-control': 'no-cache' }
  const tags = known?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return known === '*' || tags.includes(etag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body }
}
