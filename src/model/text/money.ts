/** Returns a language tag in its canonical form; `undefined` for one that no formatter accepts, such as `C`. */
export function validLanguage(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** Returns a formatter of amounts in a currency's minor unit: `$12.50`, `12,50 €`, `¥1,250`. */
export function moneyIn(currency: string, language: string | undefined): (cents: number) => string {
  const format = formatOf(currency, language)
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return (cents) => format.format(cents / 10 ** digits)
}

/** Returns the decimals of a currency's minor unit: 2 for most, 0 for yen. */
export function digitsOf(currency: string): number {
  return formatOf(currency, 'en').resolvedOptions().maximumFractionDigits ?? 2
}

/**
 * Parses a typed amount such as `12.50` or `12,5` into minor units. Returns `undefined` for any other text. With two decimals,
 * `1,000` is refused, because it may mean one thousand.
 */
export function minorUnitsIn(typed: string, digits: number): number | undefined {
  const [, whole = '', fraction = ''] = /^(\d*)(?:[.,](\d*))?$/.exec(typed.trim()) ?? []
  const minor = Number(whole + fraction.padEnd(digits, '0'))
  return whole + fraction !== '' && fraction.length <= digits && Number.isSafeInteger(minor)
    ? minor
    : undefined
}

/**
 * Returns a name that can stand in a sentence. A non-ASCII name is wrapped in U+2068 and U+2069, so that right-to-left letters
 * do not reorder the text around it.
 */
export function isolated(name: string): string {
  return /^[ -~]*$/.test(name) ? name : `\u2068${name.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069`
}

/** Formats an unknown currency as a plain number. */
function formatOf(currency: string, language: string | undefined): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency })
  } catch {
    return new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  }
}
