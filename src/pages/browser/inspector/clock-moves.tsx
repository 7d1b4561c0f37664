import { signal, computed, effect } from '@preact/signals'
import type { Delivery } from '../../../model/delivery.ts'
import { durationText, formatTime } from '../../../model/text/time.ts'
import { showFailure, outcome } from './announce.tsx'
import type { List } from '../../../model/simulator/list-queries.ts'
import { callApi } from './api.ts'
import type { ClockView } from '../../../model/simulator/playback.ts'
import { readClock, clock, realNow, Time } from './clock.tsx'
import { publishReturn } from './live.ts'
import { endpointName } from './views/endpoints.tsx'

interface AdvanceReport {
  now: string
  attempted_total: number
}

/** Returns the duration of a move when its turn comes, in milliseconds; a text when there is nothing to move to. */
type Target = () => Promise<number | string>

/** Number of moves of the clock that this page has asked for and that have not ended. */
export const pendingMoves = signal(0)

/** Milliseconds until a move counts as unreachable: a day, because it may play 35 hours against receivers that time out. */
const TIMEOUT_MS = 24 * 3_600_000

let stopping = new AbortController()
let last: Promise<void> = Promise.resolve()

/**
 * Moves run one after another, each by a duration. A duration is read when the move starts: a time that the page showed at
 * the click may have passed by then.
 */
function move(target: Target): void {
  const { signal: stopped } = stopping
  pendingMoves.value += 1
  last = last.then(async () => {
    try {
      if (!stopped.aborted) outcome.value = { text: await moveNow(target, stopped), bad: false }
    } catch (error) {
      if (stopped.aborted) await showStopped()
      else showFailure(error)
    } finally {
      pendingMoves.value -= 1
      publishReturn()
    }
  })
}

async function moveNow(target: Target, stopped: AbortSignal): Promise<string> {
  const ms = await target()
  if (typeof ms === 'string') return ms
  outcome.value = null
  const body = { advance: durationText(ms) }
  const { now, attempted_total } = await callApi<AdvanceReport>('POST', '/clock', body, {
    signal: stopped,
    timeoutMs: TIMEOUT_MS,
  })
  return `Clock moved to ${formatTime(now)} UTC. Attempts made: ${attempted_total}.`
}

/** Never rejects: a rejection would end the chain of moves. */
async function showStopped(): Promise<void> {
  try {
    const { now } = await readClock()
    outcome.value = { text: `Clock stopped at ${formatTime(now)} UTC.`, bad: false }
  } catch (error) {
    showFailure(error)
  }
}

/** Advances the clock by milliseconds, like `tabwire clock advance`. */
export function advanceBy(ms: number): void {
  move(async () => ms)
}

/** Advances the clock to the next attempt of a delivery, as it is when the move starts. */
export function advanceToAttempt(deliveryId: string): void {
  move(async () => {
    const path = `/deliveries/${encodeURIComponent(deliveryId)}`
    const { next_attempt_at, status } = await callApi<Delivery>('GET', path)
    return next_attempt_at === null
      ? `The delivery is ${status}. It has no next attempt.`
      : until(next_attempt_at)
  })
}

/** Advances the clock to the earliest next attempt. */
export function advanceToNext(): void {
  move(async () => {
    const [next] = (await callApi<List<Delivery>>('GET', '/deliveries/upcoming?limit=1')).data
    const time = next?.next_attempt_at ?? null
    return time === null ? 'No attempts are scheduled.' : until(time)
  })
}

/** Returns the milliseconds from the service's time until a time, 0 for a time that has passed. */
async function until(time: string): Promise<number> {
  const { now } = await callApi<ClockView>('GET', '/clock')
  return Math.max(0, Date.parse(time) - Date.parse(now))
}

/** Stops the current move where the clock is, and drops those that wait. */
function stopMoves(): void {
  stopping.abort()
  stopping = new AbortController()
}

/** The delivery that the clock waits for, and when this page saw it first, in milliseconds of real time. */
const waiting = signal<{ key: string; id: string; endpointId?: string; since: number } | undefined>(undefined)

const isPlaying = computed(() => pendingMoves.value > 0 || (clock.value?.moving ?? null) !== null)

effect(() => {
  const view = clock.value
  const id = view?.moving?.waiting_for[0]
  if (view === undefined || id === undefined) {
    waiting.value = undefined
    return
  }
  // The clock stands while it waits, so another time means another attempt.
  const key = `${view.now} ${id}`
  if (waiting.peek()?.key === key) return
  const since = Date.now()
  waiting.value = { key, id, since }
  void callApi<Delivery>('GET', `/deliveries/${encodeURIComponent(id)}`).then(
    ({ endpoint_id }) => {
      if (waiting.peek()?.key === key) waiting.value = { key, id, since, endpointId: endpoint_id }
    },
    () => undefined,
  )
})

/** Shows a running move of the clock: its target and what it waits for. Covers the page, so nothing moves. */
export function Playing() {
  const moving = clock.value?.moving ?? null
  const others = (moving?.waiting_for.length ?? 0) - 1
  const waited = waiting.value
  return (
    <section class={isPlaying.value ? 'playing' : 'spoken'} aria-label="Move of the clock">
      <p>
        {/* Without the seconds, which would be read out twice a second. */}
        <span role="status">
          {isPlaying.value && 'Playing…'}
          {waited !== undefined && <Waited endpointId={waited.endpointId} others={others} />}
        </span>
        {waited !== undefined && (
          <span aria-hidden="true">
            , {Math.max(0, Math.round((realNow.value - waited.since) / 1_000))} s
          </span>
        )}
        {moving !== null && (
          <span class="quiet">
            {' '}
            until <Time at={moving.to} />
          </span>
        )}
        {pendingMoves.value > 1 && <span class="quiet">, then {pendingMoves.value - 1} more</span>}
      </p>
      {pendingMoves.value > 0 && (
        <button type="button" onClick={stopMoves}>
          Stop
        </button>
      )}
    </section>
  )
}

function Waited({ endpointId, others }: { endpointId: string | undefined; others: number }) {
  return (
    <>
      {' waiting for '}
      {endpointId === undefined ? 'a receiver' : endpointName(endpointId)}
      {others > 0 && ` and ${others} more`}
    </>
  )
}
