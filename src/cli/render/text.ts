import chalk from 'chalk'

/** Control characters, marks that change the writing direction, and further line breaks. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** The same, but not line breaks and tabs. */
const steeringInLines = /(?!\n|\t|\r\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/**
 * Makes a line from a POS, a guest, a receiver or a file safe for a terminal: nothing in it moves, colours or hides
 * text. Control characters become their pictures (`␛`, `␊`), other marks their number (`<U+202E>`). Our own colours
 * are added afterwards.
 */
export function printable(text: string): string {
  return text.replace(steering, picture)
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

/** Fields with texts of several lines, which renderers lay out. */
const fieldsWithLines = new Set(['body', 'request_body', 'response_body', 'detail', 'reason'])

/**
 * Makes a renderer safe: each text in its arguments, however deep, is made {@link printable} first. Line breaks and
 * tabs stay in bodies and in texts that are arguments themselves.
 */
export function renderer<A extends unknown[], R>(render: (...args: A) => R): (...args: A) => R {
  return (...args) => render(...(args.map((value) => shown(value, true)) as A))
}

function shown(value: unknown, hasLines: boolean): unknown {
  if (typeof value === 'string') return hasLines ? value.replace(steeringInLines, picture) : printable(value)
  if (Array.isArray(value)) return value.map((one) => shown(one, false))
  if (typeof value !== 'object' || value === null) return value
  // Dates, URLs and bytes stay.
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [printable(key), shown(one, fieldsWithLines.has(key))]),
  )
}

/** Colour codes that renderers use. Hidden text and cursor movements are not among them. */
const ours = /\u001b\[(?:0|1|2|22|3[0-79]|4[0-79]|9[0-7]|10[0-7])m/y

/**
 * Makes a text safe for a terminal, except for our own colours, line breaks and tabs: a second check of what passed
 * no renderer.
 */
export function harmless(text: string): string {
  return text.replace(steeringInLines, (character, at: number) => {
    ours.lastIndex = at
    return character === '\u001b' && ours.test(text) ? character : picture(character)
  })
}

/** Returns equivalent JSON without characters that control a terminal. */
export function jsonText(resource: unknown, indent?: number): string {
  return ((JSON.stringify(resource, null, indent) as string | undefined) ?? '').replace(
    steeringInLines,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

/** Formats minor units of two digits: 1350 → `13.50`. Negative amounts keep their sign. */
export function money(cents: number): string {
  const sign = cents < 0 ? '-' : ''
  const whole = Math.abs(cents)
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}

const statusColours: Record<string, (text: string) => string> = {
  accepted: chalk.green,
  created: chalk.green,
  updated: chalk.green,
  unchanged: chalk.dim,
  stale: chalk.yellow,
  conflict: chalk.red,
  open: chalk.green,
  closed: chalk.dim,
  enabled: chalk.green,
  disabled: chalk.red,
  pending: chalk.yellow,
  delivered: chalk.green,
  dead: chalk.red,
  succeeded: chalk.green,
}

/** Colours a status word. */
export function status(word: string): string {
  return (statusColours[word] ?? chalk.red)(word)
}

/** Formats 1350 and `USD` as `$13.50`; only the number when the currency is unknown. */
export function price(cents: number, currency: string | undefined): string {
  const format = currency === undefined ? undefined : formatOf(currency)
  if (format === undefined) return money(cents)
  return format.format(cents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}

/** A loaded state can hold an unknown currency. */
function formatOf(currency: string): Intl.NumberFormat | undefined {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  } catch {
    return undefined
  }
}
