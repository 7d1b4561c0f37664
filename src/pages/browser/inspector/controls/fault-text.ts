import { durationText } from '../../../../model/time.ts'
import {
  apiFaultKinds,
  apiFields,
  deliveryFaultKinds,
  type ApiFaultKind,
  type DeliveryFaultKind,
} from '../../../../model/simulator/fault-kinds.ts'
import type { Fault } from '../../../../model/simulator/fault.ts'

export type FaultKind = DeliveryFaultKind | ApiFaultKind

export const faultKinds: readonly FaultKind[] = [...deliveryFaultKinds, ...apiFaultKinds]

/** What befalls, in a few words. */
export const faultWords: Record<FaultKind, string> = {
  duplicate: 'a delivery comes twice',
  reorder: 'a delivery is overtaken by a later one',
  delay: 'a delivery is late',
  drop: 'a delivery never arrives',
  latency: 'the API answers late',
  error: 'the API answers 503 and does nothing',
  reset: 'the API breaks off and does nothing',
  lost_answer: 'the API does it and breaks off',
}

/** One that befalls so often (0 to 1), a number of times or without end; a latency is always there, and in milliseconds. */
export function faultOf(kind: FaultKind, chance: number, times: number | undefined): Fault {
  const limit = times === undefined ? {} : { times }
  if (isOfDeliveries(kind)) return { on: 'deliveries', [kind]: chance, ...limit }
  return { on: 'api', [apiFields[kind]]: chance, ...limit }
}

function isOfDeliveries(kind: FaultKind): kind is DeliveryFaultKind {
  return (deliveryFaultKinds as readonly string[]).includes(kind)
}

/** What a fault does, and how often it has: a text for each kind in it. */
export function faultRows(fault: Fault): string[] {
  const values = { ...fault } as Record<string, unknown>
  return faultKinds.flatMap((kind) => {
    const value = values[isOfDeliveries(kind) ? kind : apiFields[kind]]
    if (typeof value !== 'number') return []
    const much = kind === 'latency' ? durationText(value) : `${Math.round(value * 100)} %`
    const left = fault.left === undefined ? '' : `, ${fault.left} left`
    return [`${kind} ${much}, happened ${fault.happened?.[kind] ?? 0}×${left}`]
  })
}
