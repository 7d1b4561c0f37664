import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client.ts'
import { newToken } from '../ids.ts'
import type { Check } from '../model/check.ts'
import { TRIAL_PREFIX, isTrialPath } from '../model/simulator/trial-check.ts'
import { paginate } from '../client/reads.ts'

/** What one order of pushes, by their place in the record from 1 on, made of a fresh check. */
export interface Ending {
  order: number[]
  check: Check
}

/** Whether the pushes of one check come to one state in any order. */
export interface Convergence {
  external_check_id: string
  pushes: string[]
  /** How many orders were tried beside the recorded one. */
  orders: number
  seed: number
  converged: boolean
  /** The recorded order and the first that ended otherwise, with the fields that differ. */
  divergence: { fields: string[]; endings: [Ending, Ending] } | null
}

interface Asked {
  orders: number
  seed: number
}

/** The pushes of each check, in their order. */
export function byCheck(pushes: readonly RecordedPush[]): RecordedPush[][] {
  const ids = [...new Set(pushes.map(({ id }) => id))]
  return ids.map((wanted) => pushes.filter(({ id }) => id === wanted))
}

/** Plays the pushes of one check in many orders, each on a check of its own, and stops at the first that diverges. */
export async function permute(
  client: Pick<Client, 'checks'>,
  pushes: readonly RecordedPush[],
  { orders, seed }: Asked,
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

/** What tells two checks apart whatever was pushed. */
const own: readonly string[] = ['id', 'external_id', 'created_at', 'updated_at', 'closed_at']

function differing(one: Check, other: Check): string[] {
  const fields = Object.keys({ ...one, ...other }) as (keyof Check)[]
  return fields.filter((field) => !own.includes(field) && !isDeepStrictEqual(one[field], other[field]))
}

/**
 * In which orders so many pushes are tried, as their indexes: first as recorded, then `orders` others that the seed
 * decides, in each of which about half of the pushes come twice.
 */
function ordersOf(pushes: number, orders: number, seed: number): number[][] {
  const recorded = Array.from({ length: pushes }, (_, index) => index)
  const drawn = Array.from({ length: orders }, (_, order) => {
    const twice = shuffled(recorded, seed + 2 * order + 1).slice(0, Math.ceil(pushes / 2))
    return shuffled([...recorded, ...twice], seed + 2 * order)
  })
  return [recorded, ...drawn]
}

/** A push that can be made again. */
export interface RecordedPush {
  /** The external id of its check. */
  id: string
  /** Where it is from: a file, or the request that brought it. */
  name: string
  body: string | Uint8Array
}

const PATH = /^\/v1\/checks\/external\/([^/?]+)/

/**
 * The pushes that the service took since it started, in order of arrival, as far as its log reaches. Refused ones are no
 * part of any state, and our own trials none of the session. With `only`, those of this check alone.
 */
export async function pushesInLog(
  client: Pick<Client, 'requests'>,
  only: string | undefined,
): Promise<RecordedPush[]> {
  const newestFirst: RecordedPush[] = []
  for await (const { id: name, path, push, request_body: body } of paginate(client.requests.list)) {
    const [, escaped] = PATH.exec(path) ?? []
    if (escaped === undefined || push === null || push.outcome === 'conflict') continue
    const id = decodeURIComponent(escaped)
    if (body !== null && !isTrialPath(path) && (only === undefined || id === only))
      newestFirst.push({ id, name, body })
  }
  return newestFirst.reverse()
}

/** The elements in an order that the seed decides: the same seed, the same order (Fisher–Yates). */
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

/** A small generator of numbers in [0, 1) whose whole state is one 32-bit seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
