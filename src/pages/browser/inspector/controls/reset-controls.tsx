import { useState } from 'preact/hooks'
import { reset } from '../actions.ts'
import { Action } from '../detail/parts.tsx'
import { Confirm } from '../dialog/confirm.tsx'

/** What `tabwire state reset` does, once it was asked for twice. */
export function ResetControls() {
  const [asking, setAsking] = useState(false)
  return (
    <section class="card" aria-labelledby="reset-title">
      <h2 id="reset-title">Start afresh</h2>
      <p class="quiet">Checks, endpoints, events, deliveries and faults go; locations and API keys stay.</p>
      <div class="buttons">
        <Action kind="danger" onClick={() => setAsking(true)}>
          Reset…
        </Action>
      </div>
      {asking && (
        <Confirm
          title="Reset the service?"
          text="All checks, endpoints with their secrets, events and deliveries are gone then. tabwire state save keeps them under a name."
          action="Reset"
          onConfirm={reset}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}
