import { useState } from 'preact/hooks'
import {
  type ApiFaultKind,
  apiFaultKinds,
  apiFields,
  type DeliveryFaultKind,
  deliveryFaultKinds,
} from '../../../model/simulator/fault-kinds.ts'
import type { Fault, FaultsView } from '../../../model/simulator/fault.ts'
import { durationText } from '../../../model/text/time.ts'
import { act } from './actions.ts'
import { callApi } from './api.ts'
import { Action, Missing } from './elements.tsx'
import { useRead } from './live.ts'

/** Shows, sets and clears faults, like `tabwire faults`. */
export function FaultControls() {
  const { value, problem } = useRead<FaultsView>('/faults')
  if (value === undefined) return <Missing problem={problem} />
  const put = (faults: readonly Fault[], done: string) =>
    act(async () => {
      await (faults.length === 0
        ? callApi('DELETE', '/faults')
        : callApi('PUT', '/faults', { seed: value.seed, faults }))
      return done
    })
  const without = (index: number) => value.faults.filter((_fault, at) => at !== index)
  return (
    <section class="card" aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <p class="quiet">Inject failures. Repeatable with seed {value.seed}.</p>
      {value.faults.length === 0 ? (
        <p>No faults are set.</p>
      ) : (
        <ul class="lines">
          {value.faults.map((fault, index) => (
            <li key={index} class="claim">
              <span>
                <b>{fault.on}</b> {faultRows(fault).join('; ')}
              </span>
              <Action onClick={() => void put(without(index), 'Fault cleared.')}>Clear</Action>
            </li>
          ))}
        </ul>
      )}
      <FaultForm onSet={(fault) => void put([...value.faults, fault], 'Fault set.')} />
      {value.faults.length > 1 && (
        <div class="buttons">
          <Action onClick={() => void put([], 'All faults cleared.')}>Clear all</Action>
        </div>
      )}
    </section>
  )
}

/** A form that adds a fault. */
function FaultForm({ onSet }: { onSet: (fault: Fault) => void }) {
  const [kind, setKind] = useState<FaultKind>('drop')
  const [amount, setAmount] = useState('')
  const [times, setTimes] = useState('')
  const isLatency = kind === 'latency'
  const set = () => {
    const value = Number(amount === '' ? (isLatency ? 1_000 : 100) : amount)
    onSet(faultOf(kind, isLatency ? value : value / 100, times === '' ? undefined : Number(times)))
  }
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault()
        set()
      }}
    >
      <label class="wide">
        <span>Fault</span>
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value as FaultKind)}>
          {faultKinds.map((name) => (
            <option key={name} value={name}>
              {name}: {descriptions[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{isLatency ? 'Milliseconds' : 'Percent'}</span>
        <input
          type="number"
          min={1}
          max={isLatency ? 60_000 : 100}
          placeholder={isLatency ? '1000' : '100'}
          value={amount}
          onInput={(event) => setAmount(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>Limit</span>
        <input
          type="number"
          min={1}
          placeholder="no limit"
          value={times}
          onInput={(event) => setTimes(event.currentTarget.value)}
        />
      </label>
      <button class="main">Set fault</button>
    </form>
  )
}

type FaultKind = DeliveryFaultKind | ApiFaultKind

const faultKinds: readonly FaultKind[] = [...deliveryFaultKinds, ...apiFaultKinds]

const descriptions: Record<FaultKind, string> = {
  duplicate: 'deliver twice',
  reorder: 'deliver after a later one',
  delay: 'deliver late',
  drop: 'never deliver',
  latency: 'delay API responses',
  error: 'API returns 503, changes nothing',
  reset: 'API drops the connection, changes nothing',
  lost_answer: 'API applies the change, then drops the connection',
}

/**
 * Creates a fault.
 * @param value Probability from 0 to 1; for a latency its milliseconds.
 * @param times Limit of injections; none when undefined.
 */
function faultOf(kind: FaultKind, value: number, times: number | undefined): Fault {
  const limit = times === undefined ? {} : { times }
  if (isOfDeliveries(kind)) return { on: 'deliveries', [kind]: value, ...limit }
  return { on: 'api', [apiFields[kind]]: value, ...limit }
}

function isOfDeliveries(kind: FaultKind): kind is DeliveryFaultKind {
  return (deliveryFaultKinds as readonly string[]).includes(kind)
}

function timesText(count: number): string {
  return `triggered ${count} ${count === 1 ? 'time' : 'times'}`
}

/** Returns a text for each kind of a fault: value, injections so far, and the rest of the limit. */
function faultRows(fault: Fault): string[] {
  const values = { ...fault } as Record<string, unknown>
  return faultKinds.flatMap((kind) => {
    const value = values[isOfDeliveries(kind) ? kind : apiFields[kind]]
    if (typeof value !== 'number') return []
    const amount = kind === 'latency' ? durationText(value) : `${Math.round(value * 100)}%`
    const left = fault.left === undefined ? '' : `, ${fault.left} left`
    return [`${kind} ${amount}, ${timesText(fault.happened?.[kind] ?? 0)}${left}`]
  })
}
