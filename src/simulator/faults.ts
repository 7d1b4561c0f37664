import { createDeliveryFaults, type DeliveryFaults } from '../delivery/faults/faults.ts'
import { createAuthenticate } from '../http/auth/api-key.ts'
import { type ApiFaults, createApiFaults } from '../http/sim/api-faults.ts'
import type { FaultControls } from '../http/sim/controls.ts'
import {
  type ActiveFaults,
  faultSet,
  type FaultSet,
  noFaults,
  viewFaults,
} from '../model/simulator/fault-rules.ts'
import type { Service } from '../service.ts'
import type { Json } from '../store/shared-values.ts'
import type { Parts } from './parts.ts'
import { untilKnownElsewhere } from './sharing.ts'

/** Key of the faults among the shared values. */
const FAULTS = 'faults'

/** Fault injection, and its controls. All instances of a sandbox have the same faults. */
export function createFaults(
  service: Pick<Service, 'execute' | 'find' | 'list' | 'onCommit'>,
  { values, shared, seed: defaultSeed = 1 }: Pick<Parts, 'values' | 'shared' | 'seed'>,
): { controls: FaultControls; deliveries: DeliveryFaults; api: ApiFaults } {
  let now = stored(values.get(FAULTS))
  const untilKnown = untilKnownElsewhere({ shared })
  const listeners = new Set<() => void>()
  values.onChange((key, value) => {
    if (key !== FAULTS) return
    const { id } = now
    now = stored(value)
    if (now.id !== id) for (const listener of listeners) listener()
  })
  const active: ActiveFaults = {
    now: () => now,
    seed: () => now.seed ?? defaultSeed,
    update: (id, change) =>
      values.update(FAULTS, (value) => {
        const set = structuredClone(stored(value))
        if (set.id !== id) return { value, reply: undefined }
        const reply = change(set)
        return { value: json(set), reply }
      }),
    onReplaced: (listener) => void listeners.add(listener),
  }
  const deliveries = createDeliveryFaults(service, active)
  const show = () => viewFaults(now, active.seed())
  const controls: FaultControls = {
    async show() {
      await shared?.bringUpToDate()
      return show()
    },
    async set(seed, faults) {
      await values.update(FAULTS, (value) => ({
        value: json(faultSet(stored(value), seed, faults)),
        reply: undefined,
      }))
      await deliveries.replaced()
      await untilKnown?.()
      return show()
    },
  }
  return { controls, deliveries, api: createApiFaults(active, createAuthenticate(service)) }
}

function stored(value: Json | undefined): FaultSet {
  return value === undefined ? noFaults : (value as object as FaultSet)
}

function json(set: FaultSet): Json {
  return set as object as Json
}
