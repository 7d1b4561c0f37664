import type { AttemptResult, HttpHeader } from '../../model/delivery.ts'

/** Stored headers of a response (contract section 9). */
export type ResponseHeaders = Pick<Required<AttemptResult>, 'response_headers'> &
  Pick<AttemptResult, 'response_headers_cut'>

/** Limits of the stored headers of one response; characters are those of names and values, one per received byte. */
const KEPT = { headers: 100, characters: 4096 }

/**
 * Returns the start of the headers of a response, from a flat list of names and values. Bytes are read as latin1, as
 * browsers do. The value that passes the limit is cut, and the headers after it are left out.
 */
export function startOfHeaders(flat: readonly (Buffer | string)[]): ResponseHeaders {
  const response_headers: HttpHeader[] = []
  let left = KEPT.characters
  for (let at = 0; at < flat.length; at += 2) {
    const [name, value] = [textOf(flat[at]), textOf(flat[at + 1])]
    left -= name.length
    if (left < 0 || response_headers.length === KEPT.headers)
      return { response_headers, response_headers_cut: true }
    response_headers.push({ name, value: value.slice(0, left) })
    left -= value.length
    if (left < 0) return { response_headers, response_headers_cut: true }
  }
  return { response_headers }
}

function textOf(bytes: Buffer | string | undefined): string {
  return typeof bytes === 'string' ? bytes : (bytes?.toString('latin1') ?? '')
}
