import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client, type GuestsReport, type GuestsWanted } from '../../client.ts'
import type { Delivery } from '../../model/delivery.ts'

/** Milliseconds between two rounds of the guests, and between two looks at delayed deliveries. */
const PACE = 50
const LOOK = 150

/** Guests who play while a command runs. */
export interface Playing {
  /**
   * Ends the play and the injected faults, and plays all retries that are due later, by moving the clock.
   * @throws what ended the play early.
   */
  settle(): Promise<GuestsReport>
}

/** The parts of a client that are called. */
type Calls = Pick<Client, 'guests' | 'deliveries' | 'clock' | 'faults'>

/**
 * Plays guests on every open check. Deliveries that a fault drops or holds are not awaited in real time: the clock moves
 * to their next attempt. Other retries keep their time, so that a receiver can restart meanwhile. `idle` resolves when
 * no delivery is due or in flight.
 */
export function playAlong(
  client: Calls,
  wanted: Pick<GuestsWanted, 'seed' | 'guests'>,
  idle: () => Promise<void>,
): Playing {
  const end = new AbortController()
  const playing = client.guests.play({ ...wanted, pace: PACE, untilPaid: false, signal: end.signal })
  const skipping = skipDelays(client, end.signal)
  // Both are awaited in settle.
  for (const one of [playing, skipping]) one.catch(() => end.abort())
  return {
    async settle() {
      end.abort()
      const [report] = await Promise.all([playing, skipping])
      await client.faults.clear()
      await idle()
      for (let next = await nextAttempt(client); next !== undefined; next = await nextAttempt(client)) {
        await moveAhead(client, next)
        await idle()
      }
      return report
    },
  }
}

/** Moves the clock to deliveries that a fault delays, once they have been seen twice: others may overtake them. */
async function skipDelays(client: Calls, signal: AbortSignal): Promise<void> {
  let seen = new Set<string>()
  while (!signal.aborted) {
    const delayed = (await pendingOf(client)).filter(isDelayed)
    const again = delayed.filter((delivery) => seen.has(markOf(delivery)))
    seen = new Set(delayed.map(markOf))
    const next = earliest(again)
    if (next !== undefined) await moveAhead(client, next)
    await sleep(LOOK, undefined, { signal }).catch(() => undefined)
  }
}

function isDelayed({ held, attempts }: Delivery): boolean {
  return held !== undefined || attempts.at(-1)?.outcome === 'dropped'
}

function markOf({ id, next_attempt_at }: Delivery): string {
  return `${id} ${next_attempt_at}`
}

/** Moves the clock to a time, unless it has passed it meanwhile. */
async function moveAhead({ clock }: Calls, time: string): Promise<void> {
  if (time <= (await clock.show()).now) return
  await clock.moveTo(time).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 422) throw error
  })
}

async function nextAttempt(client: Calls): Promise<string | undefined> {
  return earliest(await pendingOf(client))
}

function earliest(deliveries: readonly Delivery[]): string | undefined {
  return deliveries.flatMap(({ next_attempt_at }) => next_attempt_at ?? []).toSorted()[0]
}

async function pendingOf({ deliveries }: Calls): Promise<Delivery[]> {
  const pending: Delivery[] = []
  for await (const delivery of deliveries.all({ status: 'pending' })) pending.push(delivery)
  return pending
}
