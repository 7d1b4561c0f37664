import chalk from 'chalk'
import { durationText } from '../../model/text/time.ts'
import { apiFaultKinds, apiFields, deliveryFaultKinds } from '../../model/simulator/fault-kinds.ts'
import type { ApiFault, DeliveryFault, FaultsView } from '../../model/simulator/fault.ts'
import { renderTable, renderFields } from './layout.ts'
import { renderer } from './text.ts'

/** Returns the faults injected into an attempt or a request, with `before` in front. */
export function faultsText(faults: readonly string[] | undefined, before = '  '): string {
  return faults === undefined ? '' : `${before}${chalk.yellow(`faults: ${faults.join(', ')}`)}`
}

const NONE = 'No faults are set. Set some with: tabwire faults set duplicate=0.3 drop=0.2'

/** Renders one row per fault kind. */
export const renderFaults = renderer(({ seed, faults }: FaultsView, columns?: number): string => {
  if (faults.length === 0) return chalk.dim(NONE)
  const rows = faults.flatMap((fault) =>
    (fault.on === 'api' ? apiRows(fault) : deliveryRows(fault)).map(({ kind, chance, what }) => [
      fault.on,
      kind,
      String(chance),
      what,
      limitsOf(fault),
      String(fault.happened?.[kind] ?? 0),
    ]),
  )
  const table = renderTable(['on', 'fault', 'chance', 'effect', 'limits', 'injected'], rows, '', columns)
  return `${renderFields([['seed', String(seed)]])}\n\n${table}`
})

interface Row {
  kind: string
  chance: number
  what: string
}

function deliveryRows(fault: DeliveryFault): Row[] {
  const { delay_ms = 0, reorder_ms = 0 } = fault
  const what = {
    duplicate: 'sent twice',
    reorder: `held until overtaken, at most ${durationText(reorder_ms)}`,
    delay: `delayed by ${durationText(delay_ms)}`,
    drop: 'not sent; the attempt fails',
  }
  return deliveryFaultKinds.flatMap((kind) => {
    const chance = fault[kind]
    return chance === undefined ? [] : [{ kind, chance, what: what[kind] }]
  })
}

function apiRows(fault: ApiFault): Row[] {
  const what = {
    latency: `delayed by ${durationText(fault.latency_ms ?? 0)}`,
    error: `answered ${fault.error_status ?? ''}; not processed`,
    reset: 'connection reset; not processed',
    lost_answer: 'processed; then connection reset',
  }
  return apiFaultKinds.flatMap((kind) => {
    const value = fault[apiFields[kind]]
    return value === undefined ? [] : [{ kind, chance: kind === 'latency' ? 1 : value, what: what[kind] }]
  })
}

function limitsOf(fault: DeliveryFault | ApiFault): string {
  const named =
    fault.on === 'api' ? fault.paths : [...(fault.event_types ?? []), ...(fault.endpoint_ids ?? [])]
  const left = fault.left === undefined ? [] : [`${fault.left} more`]
  return [...(named ?? []), ...left].join(', ')
}
