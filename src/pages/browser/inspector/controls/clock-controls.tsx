import { useState } from 'preact/hooks'
import { durationMs } from '../../../../model/time.ts'
import { advance, freeze } from '../actions.ts'
import { clock, serviceNow } from '../clock.ts'
import { Action } from '../detail/parts.tsx'

/** The waits of the retry ladder, and the whole of it. */
const steps = ['1m', '5m', '30m', '2h', '8h', '24h', '36h']

/** What `tabwire clock advance` and `freeze` do. */
export function ClockControls() {
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
