/** A parsed signature header, not yet verified. */
export interface SignatureHeader {
  /** The digits of `t` as in the header, since they are part of the signed text. */
  t: string
  timestamp: number
  v1: readonly string[]
}

/** Why a header could not be parsed. */
export interface HeaderFailure {
  ok: false
  code: 'missing_header' | 'malformed_header' | 'no_v1_signature'
  message: string
}

/**
 * Parses `t=<unix_seconds>,v1=<hex>`: one `t` of decimal digits, at least one `v1`. Ignores other schemes such as `v0`, so
 * that a weaker scheme never replaces the one of specification section 5.
 */
export function parseHeader(header: unknown): SignatureHeader | HeaderFailure {
  if (header === undefined || header === null || header === '')
    return failure('missing_header', 'The signature header is missing. Accept only signed requests.')
  if (typeof header !== 'string')
    return malformed(`it must be text, got ${Array.isArray(header) ? 'a list' : typeof header}`)
  const v1: string[] = []
  let t: string | undefined
  let isRepeated = false
  for (let number = 1, start = 0; start <= header.length; number++) {
    const comma = header.indexOf(',', start)
    const end = comma === -1 ? header.length : comma
    if (header.startsWith('t=', start)) {
      isRepeated = t !== undefined
      t = header.slice(start + 't='.length, end)
    } else if (header.startsWith('v1=', start)) v1.push(header.slice(start + 'v1='.length, end))
    else if (!/^\w+=/.test(header.slice(start, end)))
      return malformed(`element ${number} does not have the form name=value`)
    start = end + 1
  }
  if (t === undefined) return malformed('it has no t')
  if (isRepeated) return malformed('it has more than one t')
  const timestamp = timeOf(t)
  if (timestamp === undefined)
    return malformed(
      t.startsWith('<')
        ? 'its t is a placeholder. Export the delivery with the signing secret to get a signed request'
        : 'its t is not a Unix time in decimal digits',
    )
  if (v1.length > 0) return { t, timestamp, v1 }
  return failure('no_v1_signature', 'The signature header has no v1 signature. Other schemes do not count.')
}

/** Accepts decimal digits only: Number() alone would accept '', '1e9', '0x5f' and ' 5'. */
function timeOf(t: string): number | undefined {
  const time = /^\d+$/.test(t) ? Number(t) : NaN
  return Number.isSafeInteger(time) ? time : undefined
}

function malformed(why: string): HeaderFailure {
  return failure(
    'malformed_header',
    `The signature header is malformed: ${why}. It must be t=<unix_seconds>,v1=<lowercase hex>.`,
  )
}

function failure(code: HeaderFailure['code'], message: string): HeaderFailure {
  return { ok: false, code, message }
}
