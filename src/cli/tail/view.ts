import type { Key } from './keys.ts'
import type { Told } from './deduplicate.ts'

/** A delivery that was shown, to be chosen and sent again. */
export interface Shown {
  id: string
  event_type: string
  external_check_id: string | null
}

/** What stands on a terminal on which `tail` runs, and what waits to. */
export interface View {
  paused: boolean
  failedOnly: boolean
  waiting: readonly Told[]
  /** So many that waited had to go, oldest first. */
  dropped: number
  shown: number
  failed: number
  /** Newest first, each once. */
  recent: readonly Shown[]
  /** Its place among them. */
  chosen: number
}

/** As many wait at most: beyond that, a pause would take the memory of what nobody looks at. */
const MOST_WAITING = 5_000
const MOST_RECENT = 100

export function newView(failedOnly: boolean): View {
  return { paused: false, failedOnly, waiting: [], dropped: 0, shown: 0, failed: 0, recent: [], chosen: 0 }
}

/** What changed, and what is to be shown now. */
export interface Turn {
  view: View
  show: readonly Told[]
}

/** Something has happened: it is shown, left out, or waits. */
export function take(view: View, told: Told): Turn {
  if (!view.paused) return shown(view, [told])
  const waiting = [...view.waiting, told]
  const over = waiting.length > MOST_WAITING ? 1 : 0
  return { view: { ...view, waiting: waiting.slice(over), dropped: view.dropped + over }, show: [] }
}

/** A key that changes what is shown; others change nothing here. */
export function press(view: View, key: Key): Turn {
  if (key === 'pause' && view.paused)
    return shown({ ...view, paused: false, waiting: [], dropped: 0 }, view.waiting)
  if (key === 'pause') return { view: { ...view, paused: true }, show: [] }
  if (key === 'filter') return { view: { ...view, failedOnly: !view.failedOnly }, show: [] }
  if (key === 'older' || key === 'newer') {
    const next = view.chosen + (key === 'older' ? 1 : -1)
    const chosen = Math.min(Math.max(next, 0), Math.max(view.recent.length - 1, 0))
    return { view: { ...view, chosen }, show: [] }
  }
  return { view, show: [] }
}

/** How many of those that wait will be shown, as the filter stands. */
export function waitingNow({ waiting, failedOnly }: View): number {
  return failedOnly ? waiting.filter((told) => isWanted(told, true)).length : waiting.length
}

export function chosenOf({ recent, chosen }: View): Shown | undefined {
  return recent[chosen]
}

function shown(view: View, told: readonly Told[]): Turn {
  const show = told.filter((one) => isWanted(one, view.failedOnly))
  return { view: show.reduce(counted, view), show }
}

function isWanted(told: Told, failedOnly: boolean): boolean {
  return told.type === 'request' ? !failedOnly : passes(told, { failed: failedOnly, requests: true })
}

function counted(view: View, told: Told): View {
  const failed = view.failed + (hasFailed(told) ? 1 : 0)
  if (told.type === 'request') return { ...view, shown: view.shown + 1, failed }
  const { id, event_type, external_check_id } = told.data
  const others = view.recent.filter((one) => one.id !== id)
  const recent = [{ id, event_type, external_check_id }, ...others].slice(0, MOST_RECENT)
  // Who has chosen one keeps it when others come.
  const kept = view.chosen === 0 ? 0 : recent.findIndex((one) => one.id === chosenOf(view)?.id)
  return { ...view, shown: view.shown + 1, failed, recent, chosen: Math.max(kept, 0) }
}

function hasFailed({ type, data }: Told): boolean {
  if (type === 'request') return data.status >= 400
  return type === 'delivery' || data.attempt.outcome !== 'succeeded'
}

/** What is shown of all that happens. */
export interface Filter {
  type?: string | undefined
  endpoint?: string | undefined
  failed: boolean
  requests: boolean
}

export function passes(told: Told, { type, endpoint, failed, requests }: Filter): boolean {
  if (told.type === 'request') return requests
  const { data } = told
  if (type !== undefined && data.event_type !== type) return false
  if (endpoint !== undefined && data.endpoint_id !== endpoint) return false
  return !failed || !('attempt' in data) || data.attempt.outcome !== 'succeeded'
}
