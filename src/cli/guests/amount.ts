import { Errors, Flags, Args } from '@oclif/core'
import { usageError } from '../errors.ts'
import { minorDigits } from '../render/text.ts'
import type { Client } from '../../client.ts'
import { hasFields } from '../render/foreign.ts'

/** An amount, validated in full once the currency is known. */
export const amountFlag = Flags.custom({
  parse: async (input) => {
    if (/^\s*\d+(\.\d+|c)?\s*$/i.test(input)) return input
    throw new Errors.CLIError(
      `must be an amount such as 12.50, or 1250c in minor units, got ${JSON.stringify(input)}.`,
    )
  },
})

/**
 * Converts a typed amount to minor units: `12.50` and `12` are as on the bill, `1250c` is in minor units. Errors name
 * `flag`.
 * @throws CommandError (usage) for a text that is not an amount of this currency.
 */
export function readAmount(text: string, currency: string, flag: string): number {
  const inMinor = /^(\d+)c$/i.exec(text.trim())
  const digits = minorDigits(currency)
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? []
  const cents =
    inMinor !== null ? Number(inMinor[1]) : Number(`${whole ?? 'no'}${fraction.padEnd(digits, '0')}`)
  if (fraction.length <= digits && Number.isSafeInteger(cents)) return cents
  throw usageError(
    `--${flag} must be an amount${currency === '' ? '' : ` in ${currency}`} such as ${example(digits)}, or 1250c in minor units, got ${JSON.stringify(text)}.`,
  )
}

function example(digits: number): string {
  return digits === 0 ? '1250' : `12.${'50'.padEnd(digits, '0').slice(0, digits)}`
}

interface Locations {
  locations: Pick<Client['locations'], 'list'>
}

/** Returns the currency of each location by its id; none of a service that does not show currencies. */
export async function currenciesOf(client: Locations): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  let cursor: string | null | undefined
  do {
    const { data, next_cursor } = await client.locations.list({ limit: 100, cursor: cursor ?? undefined })
    for (const location of Array.isArray(data) ? data : [])
      if (hasFields(location, 'id', 'currency')) found[location.id] = location.currency
    cursor = next_cursor as string | null | undefined
  } while (typeof cursor === 'string')
  return found
}

/** Returns the currency of a location; `undefined` when the key does not see the location. */
export async function currencyOf(client: Locations, locationId: string): Promise<string | undefined> {
  return (await currenciesOf(client))[locationId]
}

export const nameFlag = Flags.string({ char: 'n', description: 'Name of the guest, as a label.' })

export const checkArg = Args.string({
  ignoreStdin: true,
  description: 'External id of the check.',
  required: true,
})
