import { useState } from 'preact/hooks'
import { durationMs } from '../../../../model/text/time.ts'
import { advance, freeze, reset } from '../actions.ts'
import { clock, serviceNow } from '../clock.tsx'
import { Confirm } from '../dialog.tsx'
import { Action } from '../elements.tsx'
import { FaultControls } from './faults.tsx'

/** Controls of the whole service: clock, faults and reset. */
export function Controls() {
  return (
    <div class="controls">
      <ClockControls />
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
  const isDuration = durationMs(typed.trim()) !== undefined
  return (
    <section class="card" aria-labelledby="clock-title">
      <h2 id="clock-title">Clock</h2>
      <p class="now">
        {now.slice(0, 10)} <b>{now.slice(11, 19)}</b> UTC {frozen && <span class="tag">frozen</span>}
      </p>
      <p class="quiet">
        An advance plays all retries that fall due on the way, in order, and takes milliseconds.
      </p>
      <div class="buttons" role="group" aria-label="Advance by">
        {steps.map((step) => (
          <Action key={step} onClick={() => advance({ advance: step })}>
            +{step}
          </Action>
        ))}
      </div>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          if (isDuration) advance({ advance: typed.trim() })
        }}
      >
        <label>
          <span>By</span>
          <input
            type="text"
            placeholder="1h30m"
            value={typed}
            aria-invalid={typed !== '' && !isDuration}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button class="main">Advance</button>
        <Action onClick={() => freeze(!frozen)}>{frozen ? 'Let it run' : 'Freeze'}</Action>
      </form>
    </section>
  )
}

/** Resets the service after a confirmation, like `tabwire state reset`. */
function ResetControls() {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <section class="card" aria-labelledby="reset-title">
      <h2 id="reset-title">Start afresh</h2>
      <p class="quiet">Checks, endpoints, events, deliveries and faults go; locations and API keys stay.</p>
      <div class="buttons">
        <Action kind="danger" onClick={() => setConfirming(true)}>
          Reset…
        </Action>
      </div>
      {isConfirming && (
        <Confirm
          title="Reset the service?"
          text="All checks, endpoints with their secrets, events and deliveries are gone then. tabwire state save keeps them under a name."
          action="Reset"
          onConfirm={reset}
          onClose={() => setConfirming(false)}
        />
      )}
    </section>
  )
}
