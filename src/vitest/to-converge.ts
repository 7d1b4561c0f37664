import type { JsonText } from '../client.ts'
import { createSimulator, type Simulator } from '../library.ts'
import type { Check, PushInput } from '../model/check.ts'
import { ORDER_BY } from '../model/revision.ts'
import {
  requireKnownOptions,
  requireSetting,
  wholeNumber,
  wholeNumbers,
} from '../model/simulator/settings.ts'
import {
  byCheck,
  permute,
  type Convergence,
  type Ending,
  pushesInLog,
  type RecordedPush,
} from '../assertions/convergence.ts'
import { failed, kindOf, passed, requireSimulator, type Outcome } from './matchers.ts'
import { shortened } from '../model/text/advice.ts'
import { count } from '../model/text/count.ts'

/** Options of the tried orders. */
export interface ConvergeOptions {
  /**
   * Number of orders beside the one in which they came.
   * @default 20
   */
  orders?: number | undefined
  /**
   * Seed that the orders follow from.
   * @default 1
   */
  seed?: number | undefined
  /**
   * Of the pushes that the simulator has received, only those of this check (external id).
   * @default undefined, all checks
   */
  check?: string | undefined
}

/**
 * Repeats the pushes of one check, or all that the simulator has received, in other orders and with repetitions. Runs
 * in a separate simulator: this one and its receivers are not affected.
 */
export async function toConverge(
  simulator: Simulator,
  pushes?: readonly (PushInput | JsonText)[],
  options: ConvergeOptions = {},
): Promise<Outcome> {
  requireSimulator('toConverge', simulator, 'requests', 'fetch')
  requireKnownOptions(options, ['orders', 'seed', 'check'])
  if (pushes !== undefined && !Array.isArray(pushes))
    throw new TypeError(`toConverge expects a list of pushes, got ${kindOf(pushes)}.`)
  const { orders = 20, seed = 1, check } = options
  if (pushes !== undefined && check !== undefined)
    throw new TypeError(
      'toConverge selects by `check` among recorded pushes. Pass a list of pushes, or `check`.',
    )
  requireSetting('orders', wholeNumber({ min: 1 }), orders)
  requireSetting('seed', wholeNumber(wholeNumbers.seed), seed)
  const expected = 'the pushes of each check end in one state, in any order and repeated'
  const { pushes: recorded, lost } =
    pushes === undefined ? await pushesInLog(simulator, check) : { pushes: pushes.map(recordedOf), lost: 0 }
  // Thrown, so that `.not` does not pass either.
  if (lost > 0)
    throw new TypeError(
      `toConverge cannot judge all pushes: the request log no longer has ${lost} of them. Pass a list of pushes.`,
    )
  if (recorded.length === 0)
    throw new TypeError(
      `toConverge has no pushes to repeat${check === undefined ? '' : ` of check ${check}`}. Push checks to the simulator first, or pass a list of pushes.`,
    )
  const { order_by: orderBy = ORDER_BY } = await simulator.health()
  const trial = await createSimulator({ port: false, orderBy, bodyLimit: Number.MAX_SAFE_INTEGER })
  try {
    const found: Diverging[] = []
    for (const ofOne of byCheck(recorded)) {
      const { divergence, external_check_id: id } = await permute(trial, ofOne, { orders, seed })
      if (divergence !== null) found.push({ id, pushes: ofOne, divergence })
    }
    if (found.length === 0) return passed({ expected: 'different states', got: 'one state in any order' })
    return failed({
      expected,
      got: `different states of ${found.map(({ id }) => id).join(', ')}`,
      lines: [
        ...found.flatMap((one) => linesOf(one, orderBy)),
        `Send ${orderBy} with each push, and increase it with each change.`,
      ],
      diff: { actual: found.map((one) => endOf(one, 1)), expected: found.map((one) => endOf(one, 0)) },
    })
  } finally {
    await trial.close()
  }
}

/** A check whose pushes end in different states. */
interface Diverging {
  id: string
  pushes: readonly RecordedPush[]
  divergence: NonNullable<Convergence['divergence']>
}

function recordedOf(body: PushInput | JsonText, index: number): RecordedPush {
  const text = typeof body === 'string' || ArrayBuffer.isView(body) ? body : JSON.stringify(body)
  return { id: 'the check', name: `push ${index + 1}`, body: text }
}

/** Lists the pushes by number, and each field that differs with both of its values. */
function linesOf({ id, pushes, divergence: { fields, endings } }: Diverging, orderBy: string): string[] {
  const [one, other] = endings
  const values = fields.map(
    (field) =>
      `  ${field}: ${valueOf(one, field)} after ${orderOf(one)}; ${valueOf(other, field)} after ${orderOf(other)}`,
  )
  return [
    `The pushes of ${id}:`,
    ...pushes.map(({ name, body }, index) => `  ${index + 1} = ${name}${briefOf(body, orderBy)}`),
    ...values,
  ]
}

function orderOf({ order }: Ending): string {
  return order.join(' ')
}

/** Longest value that a line shows, in UTF-16 units; the diff has all of it. */
const LONGEST_VALUE = 120

function valueOf({ check }: Ending, field: string): string {
  const text = JSON.stringify(check[field as keyof Check]) ?? 'nothing'
  return shortened(text, LONGEST_VALUE)
}

/** Returns the fields that differ, with their values after one of the two orders. */
function endOf({ id, divergence: { fields, endings } }: Diverging, end: 0 | 1): object {
  const { check } = endings[end]
  return { check: id, ...Object.fromEntries(fields.map((field) => [field, check[field as keyof Check]])) }
}

/** Returns ` (open, 2 items, total_cents 3154, revision 3)`, without the parts that the body of a push lacks. */
function briefOf(body: RecordedPush['body'], orderBy: string): string {
  const push = parsed(body)
  const { status, items, totals } = push
  const ordering: unknown = push[orderBy as keyof PushInput]
  const parts = [
    typeof status === 'string' ? status : '',
    Array.isArray(items) ? count(items.length, 'item') : '',
    totals?.total_cents === undefined ? '' : `total_cents ${totals.total_cents}`,
    ordering === undefined ? '' : `${orderBy} ${JSON.stringify(ordering)}`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function parsed(body: RecordedPush['body']): Partial<PushInput> {
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString())
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
