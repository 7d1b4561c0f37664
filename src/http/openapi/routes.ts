import { hash } from 'node:crypto'
import type { HttpResponse } from '../refusals.ts'
import type { Call, Route } from '../route.ts'

interface ReferenceParts {
  /** Names the signature header. */
  serviceName: string
  scheme: 'http' | 'https'
  /** Returns the URL of the service for a request without a `Host`, as HTTP/1.0 allows. */
  url: () => string
  /** Renders the OpenAPI document as the page at `/docs`. */
  renderPage: (document: object) => Promise<string>
}

/** The API reference, with the URL of the service by the `Host` of a request. */
interface ApiReference {
  /** Returns the OpenAPI document. */
  json(call: Call): Promise<string>
  page(call: Call): Promise<string>
}

/** Placeholder for the URL of the service in the cached document; not a possible host. */
const PLACEHOLDER = 'http://openapi.tabwire.invalid'

/** Document and page are made once, at their first request: the document takes 26 ms. */
export function createApiReference(parts: ReferenceParts): ApiReference {
  const { serviceName, scheme, url: ownUrl, renderPage } = parts
  let json: Promise<string> | undefined
  let page: Promise<string> | undefined
  const makeJson = () => (json ??= makeDocument(serviceName))
  const makePage = () => (page ??= makeJson().then((text) => renderPage(JSON.parse(text) as object)))
  const withUrl = (text: string, call: Call) => {
    const host = call.header('host')
    const own = ownUrl()
    // A proxy may end TLS, and pass the host of --public-url.
    const url = host === null || host === new URL(own).host ? own : `${scheme}://${host}`
    return text.replaceAll(PLACEHOLDER, () => url)
  }
  return {
    json: async (call) => withUrl(await makeJson(), call),
    page: async (call) => withUrl(await makePage(), call),
  }
}

/** `GET /openapi.json`: the text that `tabwire openapi` prints. */
export function documentRoutes(reference: Pick<ApiReference, 'json'>): Route[] {
  const handle = async (call: Call) => {
    const text = await reference.json(call)
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
