/** Writes amounts in minor units of a currency as its readers do: `$12.50`, `12,50 €`, `¥1,250`. */
export function moneyIn(currency: string, language: string | undefined): (cents: number) => string {
  const format = formatOf(currency, language)
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return (cents) => format.format(cents / 10 ** digits)
}

/** How many decimals the minor unit of a currency makes: 2 of most, 0 of yen. */
export function digitsOf(currency: string): number {
  return formatOf(currency, 'en').resolvedOptions().maximumFractionDigits ?? 2
}

/** A currency that nobody knows is written as a plain number; so is none. */
function formatOf(currency: string, language: string | undefined): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency })
  } catch {
    return new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  }
}
