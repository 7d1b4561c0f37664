import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './refusals.ts'

export type ContentEncoding = 'br' | 'gzip' | 'identity'

/** One content in each encoding. */
export type Encodings = Readonly<Record<ContentEncoding, Uint8Array>>

/** Brotli's quality for pages that are written per request: a reference page of 400 kB takes some 10 ms. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Returns the smallest encoding that a client accepts, by its `Accept-Encoding` header. */
export function contentEncoding(header: string | null): ContentEncoding {
  const accepted = (header ?? '').toLowerCase().split(',')
  const accepts = (encoding: string) =>
    accepted.some((part) => {
      const [name, weight] = part.split(';').map((text) => text.trim())
      return name === encoding && !/^q=0(\.0*)?$/.test(weight ?? '')
    })
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

/** Returns headers and body of an answer in an encoding that the client accepts. */
export async function encoded(
  text: string,
  header: string | null,
): Promise<Pick<Answer, 'headers' | 'body'>> {
  const encoding = contentEncoding(header)
  return { headers: encodingHeaders(encoding), body: await compress(text, encoding) }
}

export function encodingHeaders(encoding: ContentEncoding): Record<string, string> {
  const vary = { vary: 'Accept-Encoding' }
  return encoding === 'identity' ? vary : { ...vary, 'content-encoding': encoding }
}

function compress(text: string, encoding: ContentEncoding): Promise<Buffer> | string {
  if (encoding === 'br') return promisify(brotliCompress)(text, brotliOptions)
  if (encoding === 'gzip') return promisify(gzip)(text)
  return text
}
