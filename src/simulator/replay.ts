import { createMovableClock, isMovable } from '../clock.ts'
import type { Backlog } from '../delivery/backlog.ts'
import { createClockControls } from '../delivery/clock-controls.ts'
import { createClockFile } from '../delivery/clock-file.ts'
import { createDestinationPolicy } from '../delivery/destination/policy.ts'
import { normalUrl } from '../delivery/destination/url.ts'
import { createStateControls } from '../delivery/state-controls.ts'
import type { FaultControls } from '../http/sim/controls.ts'
import { createIdentifiers } from '../ids.ts'
import { Refusal } from '../model/refusal.ts'
import { deliveryNotFound } from '../operations/offer-attempt.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import type { Fault } from '../model/simulator/fault.ts'
import { newestId } from '../model/simulator/state.ts'
import type { Service } from '../service.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { createLocalValues } from '../store/shared-values.ts'
import type { SimulatorOptions } from '../simulator-options.ts'
import type { openDeliveries } from './deliveries.ts'
import type { Parts } from './parts.ts'
import { callbacksOf, defaults } from './settings.ts'
import { createRestarts } from './sharing.ts'

type Deliveries = ReturnType<typeof openDeliveries>

/** Settings of a replay that its bundle does not have. */
type ReplaySettings = Pick<SimulatorOptions, 'port' | 'host' | 'onError'>

/** Returns the parts of a service in memory that shows a bundle. Its clock stands at the moment of the bundle. */
export function partsOfReplay(bundle: Bundle, settings: ReplaySettings): Omit<Parts, 'listening'> {
  const { state, location_id, settings: recorded } = bundle
  const clock = createMovableClock({ start: new Date(bundle.clock.now), frozen: true })
  const identifiers = createIdentifiers(() => clock.now())
  identifiers.restartAfter(newestId(state))
  return {
    ...defaults,
    ...callbacksOf(settings),
    ...identifiers,
    port: settings.port,
    host: settings.host ?? defaults.host,
    clock,
    replay: bundle,
    locationId: location_id,
    values: createLocalValues(),
    shared: undefined,
    instance: 'replay',
    store: createMemoryStore({ keepEvents: Math.max(recorded.keep_events, state.events.length) }),
    serviceName: recorded.service_name,
    orderBy: recorded.order_by,
    strict: recorded.strict,
    keepEvents: recorded.keep_events,
    disableAfter: recorded.disable_after,
    signTime: recorded.sign_time,
  }
}

/** Makes the records of a bundle those of a service that has none. Returns the parts of the service that show it. */
export async function showBundle(service: Pick<Service, 'replace'>, bundle: Bundle) {
  const { format: _format, clock: _clock, ...records } = bundle.state
  await service.replace(() => ({ ...records, keys: [] }))
  return { faults: shownFaults(bundle), openDeliveries: openReplayDeliveries }
}

/** Shows the faults of a bundle as they were. A replay injects none. */
function shownFaults({ faults: recorded }: Bundle): FaultControls {
  let shown = recorded
  return {
    show: async () => shown,
    async set(seed = recorded.seed, faults) {
      shown = { seed, faults: inOrder(faults) }
      return shown
    },
  }
}

function inOrder(faults: readonly Fault[]): readonly Fault[] {
  return [...faults.filter(({ on }) => on === 'deliveries'), ...faults.filter(({ on }) => on === 'api')]
}

/** A backlog without a delivery that will be attempted. */
const nothingDue: Backlog = {
  settle: async () => ({ next_at: null, unrecorded: 0 }),
  inFlight: () => [],
  end: () => undefined,
}

/** Deliveries of a replay: none is sent, and no name is resolved. All of them stay as they were recorded. */
function openReplayDeliveries(
  service: Service,
  parts: Parts,
  { clearFaults, isStopping }: { clearFaults: () => Promise<void>; isStopping: () => boolean },
): Deliveries {
  const { clock, values, instance } = parts
  const clockFile = createClockFile(undefined)
  const controls = isMovable(clock)
    ? createClockControls({
        clock,
        values,
        instance,
        generation: service.generation,
        backlog: async () => nothingDue,
        onCommit: service.onCommit,
        clockFile,
        isStopping,
      })
    : undefined
  const policy = createDestinationPolicy({
    allowHttpLoopback: true,
    denyPrivate: false,
    own: {},
  })
  const shown = clock.now()
  const resetTarget = () => ({ time: shown, frozen: true })
  return {
    clock: controls,
    state:
      controls &&
      createStateControls({
        service,
        clock: controls,
        interrupt: (work) => work(),
        resetTarget,
        clearFaults,
        restarts: createRestarts(service, parts),
      }),
    async judgeDestination(url) {
      const reason = policy.whyTextRefused(url)
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
      throw deliveryNotFound(id)
    },
    idle: async () => undefined,
    stop: async () => controls?.ended(),
  }
}

/** Returns the refusal of the MCP tool `receiver_check`, since a replay sends nothing. */
function sendsNothing(): Refusal {
  return new Refusal(
    'invalid_request',
    'This service is a replay, which sends nothing. Check the receiver with `tabwire receiver check`.',
  )
}
