import { createMovableClock } from '../clock.ts'
import type { Backlog } from '../delivery/backlog.ts'
import { createClockControls } from '../delivery/clock-controls.ts'
import { createClockFile } from '../delivery/clock-file.ts'
import { createDestinationPolicy } from '../delivery/destination/policy.ts'
import { normalUrl } from '../delivery/destination/url.ts'
import { createStateControls } from '../delivery/state-controls.ts'
import type { FaultParts } from '../http/sim/faults.ts'
import { createIdentifiers } from '../ids.ts'
import { Refusal } from '../model/refusal.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import type { Fault } from '../model/simulator/fault.ts'
import { newestId } from '../model/simulator/state.ts'
import type { Service } from '../service.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { openDeliveries } from './deliveries.ts'
import type { Parts } from './parts.ts'

type Deliveries = ReturnType<typeof openDeliveries>

/** Settings of a replay that its bundle does not have. */
export type ReplaySettings = Pick<Parts, 'port' | 'host' | 'onError'>

/** Returns the parts of a service in memory that shows a bundle. Its clock stands at the moment of the bundle. */
export function partsOfReplay(bundle: Bundle, settings: ReplaySettings): Omit<Parts, 'listening'> {
  const { state, location_id, settings: recorded } = bundle
  const clock = createMovableClock({ start: new Date(bundle.clock.now), frozen: true })
  const identifiers = createIdentifiers(() => clock.now())
  identifiers.restartAfter(newestId(state))
  return {
    ...settings,
    ...identifiers,
    clock,
    replay: bundle,
    locationId: location_id,
    store: createMemoryStore({ keepEvents: Math.max(recorded.keep_events, state.events.length) }),
    serviceName: recorded.service_name,
    orderBy: recorded.order_by,
    strict: recorded.strict,
    disableAfter: recorded.disable_after,
    signTime: recorded.sign_time,
  }
}

/** Makes the records of a bundle those of a service that has none. */
export async function loadRecords(service: Pick<Service, 'replace'>, { state }: Bundle): Promise<void> {
  const { format: _format, clock: _clock, ...records } = state
  await service.replace(() => ({ ...records, keys: [] }))
}

/** Shows the faults of a bundle as they were. A replay injects none. */
export function shownFaults({ faults: { seed, faults } }: Bundle): FaultParts['faults'] {
  const shown = <F extends Fault>(first: readonly F[]) => {
    let now = first
    return { set: (others: readonly F[]) => void (now = others), show: () => now }
  }
  return {
    seed,
    deliveries: shown(faults.filter((fault) => fault.on === 'deliveries')),
    api: shown(faults.filter((fault) => fault.on === 'api')),
  }
}

/** A backlog without a delivery that will be attempted. */
const nothingDue: Backlog = {
  settle: async () => ({ next_at: null, unrecorded: 0 }),
  inFlight: () => [],
  end: () => undefined,
}

/** Deliveries of a replay: none is sent, and no name is resolved. All of them stay as they were recorded. */
export function stillDeliveries(
  service: Service,
  parts: Parts,
  { clearFaults, isStopping }: { clearFaults: () => Promise<void>; isStopping: () => boolean },
): Deliveries {
  const { clock, restartAfter } = parts
  const clockFile = createClockFile(undefined)
  const controls =
    'moveTo' in clock
      ? createClockControls({ clock, backlog: async () => nothingDue, clockFile, isStopping })
      : undefined
  const policy = createDestinationPolicy({
    allowHttpLoopback: true,
    denyPrivate: false,
    own: () => undefined,
  })
  const fresh = { time: clock.now(), frozen: true }
  return {
    clock: controls,
    state:
      controls &&
      createStateControls({
        service,
        clock: controls,
        interrupt: (work) => work(),
        fresh,
        clearFaults,
        restartAfter,
      }),
    async judge(url) {
      const reason = policy.inspect(url)
      return reason === undefined ? { url: normalUrl(url) } : { reason }
    },
    lookup: () => (_hostname, _options, callback) => callback(sendsNothing(), []),
    authorities: () => Promise.reject(sendsNothing()),
    receive: () => () => undefined,
    thrownBy: () => undefined,
    begin: () => undefined,
    async attempt(id) {
      const delivery = await service.get('deliveries', id)
      if (delivery !== undefined) return delivery
      throw new Refusal('not_found', `Delivery ${id} not found.`)
    },
    idle: async () => undefined,
    stop: async () => controls?.ended(),
  }
}

/** The tool `receiver_check` of `/mcp` sends to receivers, as deliveries do. */
function sendsNothing(): Refusal {
  return new Refusal(
    'invalid_request',
    'This service is a replay, which sends nothing. Check the receiver with `tabwire receiver check`.',
  )
}
