import { computed, effect, signal } from '@preact/signals'
import type { Delivery } from '../../../model/delivery.ts'
import { callApi } from './api.ts'
import { clock, realNow, Time } from './clock.tsx'
import { pendingMoves, stopMoves } from './clock-moves.ts'
import { endpointName } from './views/endpoints.tsx'

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
