/**
 * Returns the known word that was probably meant, `undefined` when none is close: one change is allowed for each three
 * letters.
 */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, changes: distance(plain(word), plain(candidate)) }))
    .filter(({ candidate, changes }) => changes <= mostChanges(candidate))
    .sort((one, other) => one.changes - other.changes)
  return best?.candidate
}

/** A larger part would suggest `guests` for `requests`. */
function mostChanges({ length }: string): number {
  return Math.max(1, Math.floor(length / 3))
}

/** Returns `, did you mean "check"?`, or nothing when no known word is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = closestWord(word, known)
  return meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`
}

/**
 * Returns ` Did you mean --check?` with `before` (such as `--`) before the word, or nothing when no known word is
 * close.
 */
export function didYouMeanSentence(word: string, known: readonly string[], before = ''): string {
  const meant = closestWord(word, known)
  return meant === undefined ? '' : ` Did you mean ${before}${meant}?`
}

/** Normalises a word: `--data-dir`, `data_dir` and `DATA_DIR` are the same. */
function plain(word: string): string {
  return word.replaceAll('-', '_').toLowerCase()
}

/**
 * Returns how many letters must be inserted, removed, changed or swapped with their neighbour to get from one word to
 * another (optimal string alignment).
 */
function distance(from: string, to: string): number {
  const [one, other] = [Array.from(from), Array.from(to)]
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (const [index, letter] of one.entries()) {
    const next = [index + 1]
    for (const [column, wanted] of other.entries()) {
      const change = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      const isSwapped = letter === other[column - 1] && one[index - 1] === wanted
      const swap = isSwapped ? (before[column - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(change, swap, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/**
 * Returns what to do about a certificate, from the code of a connection error: `untrusted` where the authority is unknown;
 * `undefined` for errors that do not concern the certificate.
 */
export function trustAdvice(code: string | undefined, untrusted: string): string | undefined {
  if (code === undefined) return undefined
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired. Renew it.'
  if (code === 'CERT_NOT_YET_VALID')
    return 'Its certificate is not valid yet. Check the clocks of both machines.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Its certificate is for another host. Use a host name of the certificate.'
  return /CERT|SIGNATURE|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$/.test(code) ? untrusted : undefined
}

/** Advice on a body that was cut by a length that counts a character beyond ASCII as one. */
export const COUNT_BYTES = 'Content-Length must count bytes, not characters.'

/** Returns the usual cause of a receiver's status, and what to do; `undefined` for a status with several causes. */
export function statusAdvice(status: number): string | undefined {
  if (status === 405) return 'This path does not accept POST. Check the URL.'
  if (status === 413)
    return 'The receiver, or a proxy before it, refuses bodies of this size. Raise its limit, such as client_max_body_size of nginx.'
  if (status === 502 || status === 504)
    return 'A proxy got no response from the receiver. Start the receiver, or correct its address in the proxy.'
  return undefined
}

/** Returns the words of a connection error: those of OpenSSL without its numbers and the line of its source. */
export function connectionReason({ message }: { message: string }): string {
  const [, reason = message] = /:SSL routines:[^:]*:([^:]+):/.exec(message) ?? []
  return reason.endsWith('no application protocol') ? 'it does not accept HTTP/1.1' : reason
}

/** Returns a text as messages repeat it: its first `most` UTF-16 units, and `…` where it is longer. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${startOf(text, most)}…` : text
}

/** Returns the first `most` UTF-16 units of a text, without half of a surrogate pair at the end. */
export function startOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
}

/** Longest body whose text is looked for, in UTF-16 units. */
const LONGEST_PAGE = 16_384

/** Characters that pages of frameworks write as named entities. */
const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  amp: '&',
}

/** Returns the character of an entity such as `&lt;` or `&#039;`, or an unknown entity. */
function characterOf(entity: string, name: string): string {
  const [, hex, decimal] = /^#(?:x([\da-f]{1,5})|(\d{1,6}))$/i.exec(name) ?? []
  if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16))
  return decimal === undefined
    ? (entities[name.toLowerCase()] ?? entity)
    : String.fromCodePoint(Number(decimal))
}

/** Returns the text of a response body on one line: without the markup, styles and scripts of a page. */
export function plainText(body: string): string {
  return textOfPage(body) ?? onOneLine(startOf(body, LONGEST_PAGE))
}

/** Returns the text of a page on one line; `undefined` for another body. */
export function textOfPage(body: string): string | undefined {
  if (!/^\s*<(!doctype|html|head|body|h\d|pre)\b/i.test(body)) return undefined
  const text = startOf(body, LONGEST_PAGE)
    .replace(/<!--[^]*?-->|<(style|script)\b[^]*?(<\/\1>|$)/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(#x[\da-f]{1,5}|#\d{1,6}|[a-z]{2,6});/gi, characterOf)
  return onOneLine(text)
}

/** Replaces white space and control characters by single blanks. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\0-\x1f\x7f]+/g, ' ').trim()
}

/** A place in a text: its index from 0, line and column from 1. */
interface TextPlace {
  index: number
  line: number
  column: number
}

/** Longest start of a text that is searched when V8 does not tell the place: a search takes up to 20 parses of it. */
const LONGEST_SEARCHED = 256 * 1024

/**
 * Returns the place of the character with which a text stops being JSON; `undefined` for JSON, and for a late place in a
 * long text that V8 does not tell. `message` is V8's message for the text.
 */
export function placeOfError(text: string, message = whyNotJson(text)): TextPlace | undefined {
  if (message === undefined) return undefined
  const [, position] = /at position (\d+)/.exec(message) ?? []
  const search = () => (message.startsWith('Unexpected end') ? text.length : endOfStart(text))
  const index = position === undefined ? search() : Number(position)
  if (index === undefined) return undefined
  const lines = text.slice(0, index).split('\n')
  return { index, line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** Returns the length of the longest start of a text that can become JSON. */
function endOfStart(text: string): number | undefined {
  let [shortest, longest] = [0, 1]
  while (longest < text.length && isStartOfJson(text.slice(0, longest))) {
    if (longest >= LONGEST_SEARCHED) return undefined
    shortest = longest
    longest *= 2
  }
  longest = Math.min(longest, text.length)
  while (shortest < longest) {
    const middle = Math.ceil((shortest + longest) / 2)
    if (isStartOfJson(text.slice(0, middle))) shortest = middle
    else longest = middle - 1
  }
  return shortest
}

/** Returns V8's message for a text that is not JSON. */
function whyNotJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Returns true for a text that is JSON or becomes JSON when more follows. Not all messages of V8 have a position. */
function isStartOfJson(text: string): boolean {
  const message = whyNotJson(text)
  if (message === undefined) return true
  const [, position] = /at position (\d+)/.exec(message) ?? []
  return /^(Unexpected end|Unterminated)/.test(message) || Number(position) === text.length
}

/** Returns what to do about a text that stops being JSON at an index; `undefined` for unknown mistakes. */
export function jsonAdvice(text: string, index: number): string | undefined {
  const before = text.slice(Math.max(0, index - 100), index)
  const after = text.slice(index, index + 100)
  if (text.startsWith('--')) return 'This looks like a multipart form. Send JSON.'
  if (/^(\0[\x01-\x7f]|[\x01-\x7f]\0)/.test(text)) return 'This looks like UTF-16. Encode the body as UTF-8.'
  if (/,\s*$/.test(before) && /^[}\]]/.test(after)) return `Remove the comma before ${after.charAt(0)}.`
  if (/\d,$/.test(before) && /^\d/.test(after)) return 'Numbers have a decimal point, not a comma.'
  if (/^('|(None|True|False)\b)/.test(after)) return "This looks like Python's repr. Use json.dumps."
  if (/^(NaN|Infinity)\b/.test(after)) return 'JSON has neither NaN nor Infinity. Send a number.'
  if (/^(:\w+\s*)?=>/.test(after)) return "This looks like Ruby's inspect. Use to_json."
  return undefined
}
