import { Errors, Flags, Args } from '@oclif/core'
import type { Check, CheckItem } from '../model/check.ts'
import type { ClaimBody, ClaimView } from '../model/guests/records.ts'
import { isClaimable, roundToThousandths, unclaimedQuantity } from '../model/guests/claimed-items.ts'
import { usageError, type CommandError } from './errors.ts'
import { suggestion } from './suggestion.ts'
import { didYouMeanSentence } from '../model/text/advice.ts'
import type { Client } from '../client.ts'
import { ApiError, Unreachable } from '../client/errors.ts'
import { paginate } from '../client/reads.ts'
import { digitsOf } from '../model/text/money.ts'
import type { PageQuery } from '../model/simulator/list-queries.ts'
import { hasFields } from './render/foreign.ts'

type Wanted = ClaimBody['items']
type Chosen = Pick<Check, 'external_id' | 'items'>

/**
 * Returns the items of words such as `burger=1`: an external id, a name, or a part of a name that only one item has.
 * Without a quantity, a word means all that is left of the item.
 * @throws CommandError (usage) when no item or several items match a word, or the quantity is not a number.
 */
export function chosenItems({ external_id: check, items }: Chosen, words: readonly string[]): Wanted {
  const quantities = new Map<string, number>()
  for (const word of words) {
    const { external_id, quantity } = chosen(items, word, check)
    const before = quantities.get(external_id)
    // The service refuses a quantity with too many decimals.
    quantities.set(external_id, before === undefined ? quantity : roundToThousandths(before + quantity))
  }
  return Array.from(quantities, ([external_id, quantity]) => ({ external_id, quantity }))
}

/** Returns all items of a check that can still be claimed. */
export function unclaimedItems({ items }: Pick<Check, 'items'>): Wanted {
  return items
    .filter(isClaimable)
    .map((item) => ({ external_id: item.external_id, quantity: unclaimedQuantity(item) }))
}

function chosen(items: readonly CheckItem[], word: string, check: string): Wanted[number] {
  const whole = itemFor(items, word)
  // An item without a rest is requested as well, so that the service explains its refusal.
  if (whole !== undefined)
    return { external_id: whole.external_id, quantity: Math.max(unclaimedQuantity(whole), 0) || 1 }
  const [, name = word, quantity = ''] = /^(.+)=([^=]*)$/s.exec(word) ?? []
  const item = itemFor(items, name)
  if (item === undefined) throw noSuchItem(items, name, check)
  const number = /^(\d+(\.\d*)?|\.\d+)$/.test(quantity) ? Number(quantity) : 0
  if (number > 0) return { external_id: item.external_id, quantity: number }
  throw usageError(
    `ITEM=QUANTITY must have a quantity above 0, such as ${name}=2 or ${name}=0.5, got ${JSON.stringify(word)}.`,
  )
}

function noSuchItem(items: readonly CheckItem[], word: string, check: string): CommandError {
  const known = items.flatMap(({ external_id, name }) => [external_id, name, ...name.split(/\s+/)])
  const meant = didYouMeanSentence(word, known)
  return usageError(
    `ITEM must match an item of check ${check}, got ${JSON.stringify(word)}.${meant} To see its items, run: ${suggestion('checks show', [check])}`,
  )
}

function itemFor(items: readonly CheckItem[], word: string): CheckItem | undefined {
  const wanted = word.toLowerCase()
  const byId = items.find(({ external_id }) => external_id === word)
  if (byId !== undefined || wanted === '') return byId
  const named = items.filter(({ name }) => name.toLowerCase() === wanted)
  const found = named.length > 0 ? named : items.filter(({ name }) => name.toLowerCase().includes(wanted))
  if (found.length > 1) {
    const which = found.map(({ external_id, name }) => `${external_id} (${name})`).join(', ')
    throw usageError(
      `ITEM must match one item, got ${JSON.stringify(word)}. Pass one of these ids: ${which}.`,
    )
  }
  return found[0]
}

interface Reader {
  claims: Pick<Client['claims'], 'all'>
}

/**
 * Returns the ids of the claims to pay: each word is an id, or the name of a guest, for all active claims of that
 * guest.
 * @throws CommandError (usage) for a name without an active claim.
 */
export async function claimIds(client: Reader, check: string, words: readonly string[]): Promise<string[]> {
  const ids = new Set<string>()
  let active: ClaimView[] | undefined
  for (const word of words) {
    if (word.startsWith('clm_')) ids.add(word)
    else for (const id of held((active ??= await activeClaims(client, check)), word)) ids.add(id)
  }
  return [...ids]
}

function held(active: readonly ClaimView[], name: string): string[] {
  const ids = active
    .filter(({ guest_name }) => guest_name?.toLowerCase() === name.toLowerCase())
    .map(({ id }) => id)
  if (ids.length > 0) return ids
  const known = active.map(({ id, guest_name }) => (guest_name === null ? id : `${id} (${guest_name})`))
  const those = known.length === 0 ? 'This check has no active claims' : `Active claims: ${known.join(', ')}`
  throw usageError(
    `--claim must be a claim id or a guest with an active claim, got ${JSON.stringify(name)}. ${those}.`,
  )
}

async function activeClaims({ claims }: Reader, external_check_id: string): Promise<ClaimView[]> {
  const found: ClaimView[] = []
  for await (const claim of claims.all({ external_check_id }))
    if (claim.status === 'active') found.push(claim)
  return found
}

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
  const [, minor] = /^(\d+)c$/i.exec(text.trim()) ?? []
  const digits = digitsOf(currency)
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? []
  const cents = Number(whole === undefined ? (minor ?? NaN) : whole + fraction.padEnd(digits, '0'))
  // The service would say "at least 1", in minor units.
  if (cents === 0 && flag === 'amount')
    throw usageError(`--amount must be above 0, got ${JSON.stringify(text)}.`)
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
  // Another service may have lists in another form.
  const list = async (query?: PageQuery) => {
    const page = await client.locations.list(query)
    return Array.isArray(page.data) ? page : { data: [], next_cursor: null }
  }
  for await (const location of paginate(list))
    if (hasFields(location, 'id', 'currency')) found[location.id] = location.currency
  return found
}

/**
 * Returns the currencies for a text about a call that has succeeded: none when they cannot be read, such as with an
 * injected fault or without the scope to read them.
 */
export async function readableCurrencies(client: Locations): Promise<Record<string, string>> {
  return currenciesOf(client).catch((error: unknown) => {
    if (error instanceof ApiError || error instanceof Unreachable) return {}
    throw error
  })
}

/** Returns the currency of a location; `undefined` when the key does not see the location. */
export async function currencyOf(client: Locations, locationId: string): Promise<string | undefined> {
  return (await currenciesOf(client))[locationId]
}

/**
 * Returns a check after an action. Reads under `/_sim`, where injected faults, rate limits and a missing scope `read` cannot
 * turn a successful action into an error.
 */
export async function checkAfter(client: Pick<Client, 'request'>, externalId: string): Promise<Check> {
  const { json } = await client.request('GET', `/_sim/checks/${encodeURIComponent(externalId)}`)
  return json as Check
}

export const nameFlag = Flags.string({ char: 'n', description: 'Name of the guest, as a label.' })

export const checkArg = Args.string({
  ignoreStdin: true,
  description: 'External id of the check.',
  required: true,
})
