import { useState } from 'preact/hooks'
import type { Delivery } from '../../../model/delivery.ts'
import { mostAttempts } from '../../../model/retry-schedule.ts'
import { durationMs, durationText } from '../../../model/text/time.ts'
import { act, busy, freeze, reset } from './actions.ts'
import { CheckLink, Link } from './address.tsx'
import { outcome } from './announce.tsx'
import type { List } from '../../../model/simulator/list-queries.ts'
import { callApi } from './api.ts'
import { advanceBy, advanceToAttempt, advanceToNext } from './clock-moves.tsx'
import { clock, Countdown, serviceNow } from './clock.tsx'
import { Confirm } from './dialog.tsx'
import { Action, NotLoaded } from './elements.tsx'
import { useRead } from './live.ts'
import { endpointName } from './views/endpoints.tsx'
import {
  type ApiFaultKind,
  apiFaultKinds,
  apiFields,
  type DeliveryFaultKind,
  deliveryFaultKinds,
} from '../../../model/simulator/fault-kinds.ts'
import type { Fault, FaultsView } from '../../../model/simulator/fault.ts'
import { count } from '../../../model/text/count.ts'

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

/** The backoffs of the retry schedule, and a duration that is longer than their sum. */
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
          else outcome.value = { text: 'Enter a duration such as 1h30m.', bad: true }
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

/** Attempts shown. */
const SHOWN = 20

/** The next attempts of all deliveries, earliest first. */
function Upcoming() {
  const { value, problem } = useRead<List<Delivery>>(`/deliveries/upcoming?limit=${SHOWN}`)
  return (
    <section class="card" aria-labelledby="upcoming-title">
      <h2 id="upcoming-title">Next attempts</h2>
      {value === undefined ? (
        <NotLoaded problem={problem} />
      ) : value.data.length === 0 ? (
        <p class="quiet">No attempts are scheduled. A failed delivery is retried six times in 35 hours.</p>
      ) : (
        <>
          <div class="buttons">
            <button type="button" class="main" onClick={advanceToNext}>
              Advance to next attempt
            </button>
          </div>
          <ol class="upcoming">
            {value.data.map((delivery) => (
              <Row key={delivery.id} delivery={delivery} />
            ))}
          </ol>
          {value.data.length === SHOWN && <p class="quiet">Shows the next {SHOWN} attempts.</p>}
        </>
      )}
    </section>
  )
}

/** Returns `attempt 3 of 7`: the number of a delivery's next attempt. */
function nextAttemptText({ event_type, attempts }: Pick<Delivery, 'event_type' | 'attempts'>): string {
  return `attempt ${attempts.length + 1} of ${mostAttempts(event_type)}`
}

function Row({ delivery }: { delivery: Delivery }) {
  const { id, event_type, external_check_id, endpoint_id, endpoint_url, next_attempt_at } = delivery
  if (next_attempt_at === null) return null
  return (
    <li>
      <span class="due">
        <Countdown to={next_attempt_at} />
      </span>
      <span class="what">
        <Link to={{ open: id }}>{event_type}</Link>{' '}
        {external_check_id !== null && <CheckLink id={external_check_id} />}{' '}
        <span class="quiet to" title={endpointName(endpoint_id, endpoint_url)}>
          {nextAttemptText(delivery)} to {endpointName(endpoint_id, endpoint_url)}
        </span>
      </span>
      <button
        type="button"
        aria-label={`Advance to ${event_type}, ${nextAttemptText(delivery)}`}
        onClick={() => advanceToAttempt(id)}
      >
        Advance
      </button>
    </li>
  )
}

/** Shows, sets and clears faults, like `tabwire faults`. */
function FaultControls() {
  const { value, problem } = useRead<FaultsView>('/faults')
  if (value === undefined) return <NotLoaded problem={problem} />
  // From the current faults, which a command may have changed meanwhile.
  const change = (changed: (faults: readonly Fault[]) => readonly Fault[], done: string) =>
    act(async () => {
      const now = await callApi<FaultsView>('GET', '/faults')
      const faults = changed(now.faults)
      await (faults.length === 0
        ? callApi('DELETE', '/faults')
        : callApi('PUT', '/faults', { seed: now.seed, faults }))
      return done
    })
  const clear = (fault: Fault) =>
    change((faults) => {
      const at = faults.findIndex((one) => settingsOf(one) === settingsOf(fault))
      if (at === -1) throw new Error('This fault was changed meanwhile.')
      return faults.filter((_fault, index) => index !== at)
    }, 'Fault cleared.')
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
              <Action onClick={() => void clear(fault)}>Clear</Action>
            </li>
          ))}
        </ul>
      )}
      <FaultForm onSet={(fault) => void change((faults) => [...faults, fault], 'Fault set.')} />
      {value.faults.length > 1 && (
        <div class="buttons">
          <Action onClick={() => void change(() => [], 'All faults cleared.')}>Clear all</Action>
        </div>
      )}
    </section>
  )
}

/** Returns a text of a fault without its counts of injections. */
function settingsOf({ happened: _happened, left: _left, ...settings }: Fault): string {
  return JSON.stringify(settings)
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
          min={isLatency ? 1 : 0}
          step={isLatency ? 1 : 'any'}
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
      <button aria-disabled={busy.value || undefined} class="main">
        Set fault
      </button>
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

/** Returns a text for each kind of a fault: value, injections so far, what it is limited to, and the rest of the limit. */
function faultRows(fault: Fault): string[] {
  const values = { ...fault } as Record<string, unknown>
  const named =
    fault.on === 'api' ? fault.paths : [...(fault.event_types ?? []), ...(fault.endpoint_ids ?? [])]
  const only = named === undefined || named.length === 0 ? '' : `, only ${named.join(', ')}`
  return faultKinds.flatMap((kind) => {
    const value = values[isOfDeliveries(kind) ? kind : apiFields[kind]]
    if (typeof value !== 'number') return []
    const amount = kind === 'latency' ? durationText(value) : `${Number((value * 100).toPrecision(3))}%`
    // The form describes the default status.
    const isOther = kind === 'error' && ![undefined, 503].includes(values.error_status as number | undefined)
    const status = isOther ? ` with ${String(values.error_status)}` : ''
    const left = fault.left === undefined ? '' : `, ${fault.left} left`
    return [
      `${kind} ${amount}${status}${only}, triggered ${count(fault.happened?.[kind] ?? 0, 'time')}${left}`,
    ]
  })
}
