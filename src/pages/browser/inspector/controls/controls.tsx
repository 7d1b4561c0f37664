import { useState } from 'preact/hooks'
import { durationMs } from '../../../../model/text/time.ts'
import { freeze, reset } from '../actions.ts'
import { advanceBy } from '../clock-moves.ts'
import { clock, serviceNow } from '../clock.tsx'
import { Confirm } from '../dialog.tsx'
import { Action } from '../elements.tsx'
import { FaultControls } from './faults.tsx'
import { Upcoming } from './upcoming.tsx'

/** Controls of the whole service: clock, faults and reset. */
export function Controls() {
  return (
    <div class="controls">
      <ClockControls />
      <Upcoming />
      <FaultControls />
      <ResetControls />
    </div>
  )
}

/** The pauses of the retry schedule, and their sum. */
const steps = ['1m', '5m', '30m', '2h', '8h', '24h', '36h']

/** Advances and freezes the clock, like `tabwire clock advance` and `freeze`. */
function ClockControls() {
  const [typed, setTyped] = useState('')
  const now = new Date(serviceNow.value).toISOString()
  const frozen = clock.value?.frozen === true
  const duration = durationMs(typed.trim())
  return (
    <section class="card" aria-labelledby="clock-title">
      <h2 id="clock-title">Clock</h2>
      <p class="now">
        {now.slice(0, 10)} <b>{now.slice(11, 19)}</b> UTC {frozen && <span class="tag">frozen</span>}
      </p>
      <p class="quiet">Jump ahead. Due retries run in order.</p>
      <div class="buttons" role="group" aria-label="Advance the clock by">
        {steps.map((step) => (
          <button key={step} type="button" onClick={() => advanceBy(durationMs(step) ?? 0)}>
            +{step}
          </button>
        ))}
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          if (duration !== undefined) advanceBy(duration)
        }}
      >
        <label>
          <span>Duration</span>
          <input
            type="text"
            placeholder="1h30m"
            value={typed}
            aria-invalid={typed !== '' && duration === undefined}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button class="main">Advance</button>
        <Action onClick={() => freeze(!frozen)}>{frozen ? 'Resume' : 'Freeze'}</Action>
      </form>
    </section>
  )
}

/** Resets the service after a confirmation, like `tabwire state reset`. */
function ResetControls() {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <section class="card" aria-labelledby="reset-title">
      <h2 id="reset-title">Reset data</h2>
      <p class="quiet">
        Deletes checks, endpoints, events, deliveries and faults. Keeps locations and API keys.
      </p>
      <div class="buttons">
        <Action kind="danger" onClick={() => setConfirming(true)}>
          Reset…
        </Action>
      </div>
      {isConfirming && (
        <Confirm
          title="Reset all data?"
          text="This deletes all checks, events, deliveries, and endpoints with their secrets. To keep a copy, run tabwire state save first."
          action="Reset data"
          onConfirm={reset}
          onClose={() => setConfirming(false)}
        />
      )}
    </section>
  )
}
