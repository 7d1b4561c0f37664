const prefix = 'whsec_'
const mark = Buffer.from('\uFEFF')

/** With a newline more and, if there is one, with one less or none. */
export function newlineVariants(body: Buffer): Buffer[] {
  const text = body.toString('latin1')
  const variants = [`${text}\n`, `${text}\r\n`, text.replace(/\r?\n$/, ''), text.replace(/[\r\n]+$/, '')]
  return variants.map((variant) => Buffer.from(variant, 'latin1'))
}

export function lineEndings(body: Buffer): Buffer[] {
  const unix = body.toString('latin1').replaceAll('\r\n', '\n')
  return [unix, unix.replaceAll('\n', '\r\n')].map((variant) => Buffer.from(variant, 'latin1'))
}

export function toggleMark(body: Buffer): Buffer {
  return body.indexOf(mark) === 0 ? body.subarray(mark.length) : Buffer.concat([mark, body])
}

/** The slip may be on either side: the prefix left out here, or there. */
export function prefixVariants(secret: string): string[] {
  return [secret.startsWith(prefix) ? secret.slice(prefix.length) : `${prefix}${secret}`]
}

/** The verifier's secret without its padding, and what a signer's would be if it had kept some. */
export function paddingVariants(secret: string): string[] {
  const bare = secret.replace(/^[\s"'`]+|[\s"'`]+$/g, '')
  return [bare, `${bare}\n`, `${bare}\r\n`, `${bare} `, ` ${bare}`, `"${bare}"`, `'${bare}'`]
}

/** Milliseconds in the header and seconds in what was signed, or the other way round where they were whole. */
export function millisecondVariants(t: string): string[] {
  return isMilliseconds(t) ? [t.slice(0, -3)] : [`${t}000`]
}

/** Twelve digits of seconds are beyond the year 5000; twelve of milliseconds, 1973. */
export function isMilliseconds(t: string): boolean {
  return t.length >= 12
}
