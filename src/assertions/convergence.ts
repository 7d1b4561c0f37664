import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client.ts'
import { newToken } from '../ids.ts'
import { checkKey, type Check } from '../model/check.ts'
import { TRIAL_PREFIX, isTrialPath } from '../model/simulator/request-entry.ts'

/** Final state of a fresh check after one order of pushes; the order lists their positions in the record, from 1. */
export interface Ending {
  order: number[]
  check: Check
}

/** Result of comparing orders: whether the pushes of one check lead to one state. */
export interface Convergence {
  external_check_id: string
  pushes: string[]
  /** Number of orders that were tried, without the recorded one. */
  orders: number
  seed: number
  converged: boolean
  /** The recorded order, the first order with another result, and the fields that differ. */
  divergence: { fields: string[]; endings: [Ending, Ending] } | null
}

interface OrderOptions {
  orders: number
  seed: number
}

/** The pushes of each check, in their order. Checks of two locations can have the same external id. */
export function byCheck(pushes: readonly RecordedPush[]): RecordedPush[][] {
  const keyOf = ({ location_id = '', id }: RecordedPush) => checkKey({ location_id, external_id: id })
  const keys = [...new Set(pushes.map(keyOf))]
  return keys.map((wanted) => pushes.filter((push) => keyOf(push) === wanted))
}

/** Plays the pushes of one check in many orders, each on a check of its own, and stops at the first that diverges. */
export async function permute(
  client: Pick<Client, 'checks'>,
  pushes: readonly RecordedPush[],
  { orders, seed }: OrderOptions,
): Promise<Convergence> {
  const token = newToken()
  const [external_check_id = ''] = pushes.map(({ id }) => id)
  const about = { external_check_id, pushes: pushes.map(({ name }) => name), orders, seed }
  let recorded: Ending | undefined
  for (const [number, order] of ordersOf(pushes.length, orders, seed).entries()) {
    const ending = await play(client, `${TRIAL_PREFIX}${token}-${number}`, pushes, order)
    recorded ??= ending
    const fields = differing(recorded.check, ending.check)
    if (fields.length > 0)
      return { ...about, converged: false, divergence: { fields, endings: [recorded, ending] } }
  }
  return { ...about, converged: true, divergence: null }
}

async function play(
  { checks }: Pick<Client, 'checks'>,
  id: string,
  pushes: readonly RecordedPush[],
  order: readonly number[],
): Promise<Ending> {
  for (const index of order) {
    const push = pushes[index]
    if (push !== undefined) await checks.push(id, push.body)
  }
  return { order: order.map((index) => index + 1), check: await checks.get(id) }
}

/** Fields that differ between any two checks. */
const own: readonly string[] = ['id', 'external_id', 'created_at', 'updated_at', 'closed_at']

function differing(one: Check, other: Check): string[] {
  const fields = Object.keys({ ...one, ...other }) as (keyof Check)[]
  return fields.filter((field) => !own.includes(field) && !isDeepStrictEqual(one[field], other[field]))
}

/**
 * Returns the orders to try, as indexes: first the recorded one, then `orders` others by the seed, in each of which
 * about half of the pushes are repeated.
 */
function ordersOf(pushes: number, orders: number, seed: number): number[][] {
  const recorded = Array.from({ length: pushes }, (_, index) => index)
  const drawn = Array.from({ length: orders }, (_, order) => {
    const twice = shuffled(recorded, seed + 2 * order + 1).slice(0, Math.ceil(pushes / 2))
    return shuffled([...recorded, ...twice], seed + 2 * order)
  })
  return [recorded, ...drawn]
}

/** A recorded push. */
export interface RecordedPush {
  /** The external id of its check. */
  id: string
  /** Location of the check; absent for pushes of files. */
  location_id?: string | undefined
  /** Its source: a file, or the request that carried it. */
  name: string
  body: string | Uint8Array
}

/**
 * Returns the pushes that the service accepted since it started, in order of arrival, as far as its log reaches.
 * Leaves out refused pushes and our own trials. With `only`, returns those of this check. `lost` is the number of pushes of
 * any check that the log no longer has.
 */
export async function pushesInLog(
  client: Pick<Client, 'requests' | 'report'>,
  only: string | undefined,
): Promise<{ pushes: RecordedPush[]; lost: number }> {
  const newestFirst: RecordedPush[] = []
  const { pushes: received } = await client.report()
  let logged = 0
  for await (const request of client.requests.all({ kind: 'push' })) {
    const { id: name, path, location_id, push, request_body: body } = request
    if (!isTrialPath(path)) logged += 1
    if (push === null || push.outcome === 'conflict' || body === null || isTrialPath(path)) continue
    const id = push.external_check_id
    if (only === undefined || id === only) newestFirst.push({ id, location_id, name, body })
  }
  return { pushes: newestFirst.reverse(), lost: Math.max(0, received - logged) }
}

/** Shuffles the elements by the seed: the same seed gives the same order (Fisher–Yates). */
export function shuffled<T>(elements: readonly T[], seed: number): T[] {
  const random = mulberry32(seed)
  const result: T[] = []
  for (const element of elements) {
    const place = Math.floor(random() * (result.length + 1))
    const displaced = result[place]
    result[place] = element
    if (displaced !== undefined) result.push(displaced)
  }
  return result
}

/** Makes a random number generator in [0, 1) whose state is one 32-bit seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
