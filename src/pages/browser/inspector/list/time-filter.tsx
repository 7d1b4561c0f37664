import { useRef } from 'preact/hooks'
import { address, go } from '../address.tsx'
import { serviceNow } from '../clock.tsx'

/** Ranges up to the service's time, in minutes. */
const presets = [
  ['Last 5 minutes', 5],
  ['Last hour', 60],
  ['Last 24 hours', 1_440],
] as const

/** A filter by time: two times in UTC, and ranges up to the service's time. The address holds `from` and `to`. */
export function TimeFilter() {
  const element = useRef<HTMLDetailsElement>(null)
  const { from = '', to = '' } = address.value.filters
  const set = (range: { from?: string; to?: string }) =>
    go({ filters: { ...address.peek().filters, ...range } })
  const close = () => {
    if (element.current === null) return
    element.current.open = false
    element.current.querySelector('summary')?.focus()
  }
  const choose = (range: { from: string; to: string }) => {
    set(range)
    close()
  }
  return (
    <details
      class="time-filter"
      ref={element}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || element.current?.open !== true) return
        event.preventDefault()
        close()
      }}
      onFocusOut={({ relatedTarget }) => {
        // A click outside closes the choice, as it does for a select.
        if (relatedTarget instanceof Node && element.current?.contains(relatedTarget) === false)
          element.current.open = false
      }}
    >
      <summary class="button">{from === '' && to === '' ? 'Any time' : rangeText(from, to)}</summary>
      <div class="choice" role="group" aria-label="Time">
        <div class="buttons">
          {presets.map(([label, minutes]) => (
            <button
              key={label}
              type="button"
              onClick={() =>
                choose({ from: new Date(serviceNow.peek() - minutes * 60_000).toISOString(), to: '' })
              }
            >
              {label}
            </button>
          ))}
          <button type="button" onClick={() => choose({ from: '', to: '' })}>
            Any time
          </button>
        </div>
        <TimeField label="From (UTC)" value={from} onSet={(time) => set({ from: time })} />
        <TimeField label="Before (UTC)" value={to} onSet={(time) => set({ to: time })} />
      </div>
    </details>
  )
}

interface TimeFieldProps {
  label: string
  value: string
  onSet: (time: string) => void
}

function TimeField({ label, value, onSet }: TimeFieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        step={1}
        value={value.slice(0, 19)}
        onChange={({ currentTarget }) => {
          const time = new Date(`${currentTarget.value}Z`)
          onSet(Number.isNaN(time.getTime()) ? '' : time.toISOString())
        }}
      />
    </label>
  )
}

/** Returns the text of a range: `11-21 18:00:00 to 18:05:00`. */
function rangeText(from: string, to: string): string {
  const text = (iso: string) => iso.slice(5, 19).replace('T', ' ')
  if (to === '') return `from ${text(from)}`
  if (from === '') return `before ${text(to)}`
  const isSameDay = from.slice(0, 10) === to.slice(0, 10)
  return `${text(from)} to ${isSameDay ? to.slice(11, 19) : text(to)}`
}
