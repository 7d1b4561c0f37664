import { money } from './words.ts'

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
