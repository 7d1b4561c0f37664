import { createHash } from 'node:crypto'
import type { Answer } from './refusals.ts'
import type { Call, Route } from './route.ts'

export interface DocumentParts {
  /** Names the signature header. */
  serviceName: string
  scheme: 'http' | 'https'
}

/**
 * `GET /openapi.json`: what `tabwire openapi` prints, with this service as its server, by the name that it was asked by.
 * It is made when it is first asked for, since most services run without anybody asking.
 */
export function documentRoutes({ serviceName, scheme }: DocumentParts): Route[] {
  let made: { url: string; text: Promise<string> } | undefined
  const documentAt = (url: string) => {
    if (made?.url !== url) made = { url, text: makeDocument(url, serviceName) }
    return made.text
  }
  const handle = async (call: Call) => {
    const text = await documentAt(`${scheme}://${call.header('host')}`)
    return tagged(text, call.header('if-none-match'))
  }
  // Long, and the same each time.
  return [{ method: 'GET', path: '', scope: null, secret: true, handle }]
}

async function makeDocument(url: string, serviceName: string): Promise<string> {
  const { openApiText } = await import('./openapi/document.ts')
  return openApiText({ url, serviceName })
}

/** Whoever has it already gets 304. */
function tagged(body: string, known: string | null): Answer {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = { etag, 'cache-control': 'no-cache' }
  const isKnown =
    known === '*' || (known?.split(/\s*,\s*/).some((tag) => tag.replace(/^W\//, '') === etag) ?? false)
  return isKnown ? { status: 304, headers, body: null } : { status: 200, headers, body }
}
