import chalk from 'chalk'

/** Names and values below each other. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields
    .map(
      ([name, value]) => `${chalk.dim(name.padEnd(width))}  ${harmless(value).replaceAll('\n', LINE_BREAK)}`,
    )
    .join('\n')
}

const LINE_BREAK = '\u240a'

/** Control characters, the marks that turn the direction of writing, and further breaks of a line. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** The same without the breaks and the tabs of a text of several lines. */
const steeringInLines = /(?!\n|\t|\r\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/**
 * A text of one line that a POS, a guest, a receiver or a file wrote, for a terminal: nothing in it moves, colours or hides
 * anything. Control characters become their pictures (`␛`, `␊`), other marks their number (`<U+202E>`). Colours of ours are
 * added afterwards.
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

/** Fields whose text has lines, which renderers lay out. */
const fieldsWithLines = new Set(['body', 'request_body', 'response_body', 'detail', 'reason'])

/**
 * Makes a renderer safe for what it is given: every text in its arguments, however deep, is made {@link printable} before
 * the renderer sees it. Breaks of a line and tabs stay in bodies and in texts that are arguments themselves.
 */
export function renderer<A extends unknown[], R>(render: (...args: A) => R): (...args: A) => R {
  return (...args) => render(...(args.map((value) => shown(value, true)) as A))
}

function shown(value: unknown, hasLines: boolean): unknown {
  if (typeof value === 'string') return hasLines ? value.replace(steeringInLines, picture) : printable(value)
  if (Array.isArray(value)) return value.map((one) => shown(one, false))
  if (typeof value !== 'object' || value === null) return value
  // A date, a URL or bytes.
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [printable(key), shown(one, fieldsWithLines.has(key))]),
  )
}

/** The colours that renderers use. Not among them: text that is hidden, and any movement. */
const ours = /\u001b\[(?:0|1|2|22|3[0-79]|4[0-79]|9[0-7]|10[0-7])m/y

/**
 * A text that is about to go to a terminal, in which only our own colours, breaks of a line and tabs steer it: a net
 * below the renderers, for what reached the text without one.
 */
export function harmless(text: string): string {
  return text.replace(steeringInLines, (character, at: number) => {
    ours.lastIndex = at
    return character === '\u001b' && ours.test(text) ? character : picture(character)
  })
}

/** JSON in which nothing steers a terminal either; what it says is the same. */
export function jsonText(resource: unknown, indent?: number): string {
  return ((JSON.stringify(resource, null, indent) as string | undefined) ?? '').replace(
    steeringInLines,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
}

/** 1350 → `13.50`, in minor units of two digits as all fixtures are; negative amounts keep their sign. */
export function money(cents: number): string {
  const sign = cents < 0 ? '-' : ''
  const whole = Math.abs(cents)
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}

const moods: Record<string, (text: string) => string> = {
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

/** A status word in the colour that it has everywhere. */
export function status(word: string): string {
  return (moods[word] ?? chalk.red)(word)
}

/** `12 items`, `1 item`; a noun with a plural of its own brings it along. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

export { moment } from '../../model/moment.ts'

/** 1350 and `USD` → `$13.50`; where the currency is unknown, the number alone. */
export function price(cents: number, currency: string | undefined): string {
  const format = currency === undefined ? undefined : formatOf(currency)
  if (format === undefined) return money(cents)
  return format.format(cents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}

/** How many digits of an amount in this currency are minor units: 2 for USD, 0 for JPY; 2 where it is unknown. */
export function minorDigits(currency: string): number {
  return formatOf(currency)?.resolvedOptions().maximumFractionDigits ?? 2
}

/** A loaded state may hold a currency that no one else knows of. */
function formatOf(currency: string): Intl.NumberFormat | undefined {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  } catch {
    return undefined
  }
}
