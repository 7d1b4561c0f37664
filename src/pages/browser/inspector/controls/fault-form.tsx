import { useState } from 'preact/hooks'
import type { Fault } from '../../../../model/simulator/fault.ts'
import { faultKinds, faultOf, faultWords, type FaultKind } from './fault-text.ts'

/** Sets a fault beside those that are set. */
export function FaultForm({ onSet }: { onSet: (fault: Fault) => void }) {
  const [kind, setKind] = useState<FaultKind>('drop')
  const [much, setMuch] = useState('')
  const [times, setTimes] = useState('')
  const isLatency = kind === 'latency'
  const set = () => {
    const value = Number(much === '' ? (isLatency ? 1_000 : 100) : much)
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
              {name}: {faultWords[name]}
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
          value={much}
          onInput={(event) => setMuch(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>Times</span>
        <input
          type="number"
          min={1}
          placeholder="no end"
          value={times}
          onInput={(event) => setTimes(event.currentTarget.value)}
        />
      </label>
      <button class="main">Set</button>
    </form>
  )
}
