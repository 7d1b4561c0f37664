import type { Delivery } from '../model/delivery.ts'
import { moment } from '../model/moment.ts'

/** What somebody waits for. */
export interface Wanted {
  type?: string | undefined
  /** External id. */
  check?: string | undefined
  endpoint?: string | undefined
  status: Delivery['status']
  /** So many at least; with `exactly`, and no more. */
  count: number
  exactly: boolean
  none: boolean
}

export type Verdict = { ok: true; deliveries: readonly Delivery[] } | Unmet
export interface Unmet {
  ok: false
  code: 'never_came' | 'refused' | 'other_status' | 'too_often' | 'came_anyway'
  message: string
  /** Whatever came, in any status. */
  seen: readonly Delivery[]
}

function matching(seen: ReadonlyMap<string, Delivery>, { status }: Wanted): Delivery[] {
  return [...seen.values()].filter((delivery) => delivery.status === status)
}

/** Whether waiting longer can change nothing any more. */
export function isDecided(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): boolean {
  const came = matching(seen, wanted).length
  if (wanted.none) return came > 0
  return wanted.exactly ? came > wanted.count : came >= wanted.count
}

/** What came of it, when nothing more is waited for. */
export function judge(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): Verdict {
  const unmet = (code: Unmet['code'], message: string): Unmet => ({
    ok: false,
    code,
    message,
    seen: [...seen.values()],
  })
  const came = matching(seen, wanted)
  const ids = came.map(({ id }) => id).join(', ')
  const about = inWords(wanted)
  if (wanted.none && came.length > 0)
    return unmet('came_anyway', `There was to be ${about}, but one came: ${ids}.`)
  if (wanted.exactly && came.length > wanted.count)
    return unmet(
      'too_often',
      `There was to be ${about}, but it came too often, ${came.length} times: ${ids}.`,
    )
  if (wanted.none || came.length >= wanted.count) return { ok: true, deliveries: came }
  const others = [...seen.values()].filter(({ status }) => status !== wanted.status)
  return unmet(...missing(came, others, wanted))
}

function missing(
  came: readonly Delivery[],
  others: readonly Delivery[],
  wanted: Wanted,
): [Unmet['code'], message: string] {
  const start = `There was to be ${inWords(wanted)}, but ${came.length === 0 ? '' : `only ${came.length} came; `}`
  const refused = others.find(({ attempts }) => (attempts.at(-1)?.error ?? null) !== null)
  if (wanted.status === 'delivered' && refused !== undefined)
    return ['refused', `${start}${refusal(refused)}`]
  const [other] = others
  if (other !== undefined) return ['other_status', `${start}${other.id} came and is ${other.status}.`]
  return ['never_came', `${start}${came.length === 0 ? 'it' : 'the rest'} never came.`]
}

function refusal({ id, attempts, next_attempt_at }: Delivery): string {
  const reason = (attempts.at(-1)?.error ?? '').replace(/\.$/, '')
  const next = next_attempt_at === null ? 'dead' : `next attempt ${moment(next_attempt_at)} UTC`
  return `${id} came but was refused at attempt ${attempts.length} (${next}): ${reason}.`
}

/** `1 delivery`, `2 deliveries`. */
function deliveries(number: number): string {
  return number === 1 ? '1 delivery' : `${number} deliveries`
}

/** `2 deliveries of check.closed about dinner, delivered`. */
export function inWords({ type, check, endpoint, status, count, exactly, none }: Wanted): string {
  const number = none ? 'no delivery' : `${exactly ? 'exactly ' : ''}${deliveries(count)}`
  const of = type === undefined ? '' : ` of ${type}`
  const about = check === undefined ? '' : ` about ${check}`
  const to = endpoint === undefined ? '' : ` to ${endpoint}`
  return `${number}${of}${about}${to}, ${status}`
}
