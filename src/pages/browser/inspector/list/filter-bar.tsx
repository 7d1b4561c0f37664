import { useEffect, useRef, useState } from 'preact/hooks'
import { address, go } from '../address.tsx'
import { serviceNow } from '../clock.tsx'
import { useKeys } from '../keyboard.tsx'
import type { Missing } from './rows.ts'
import type { View } from './view.ts'

/** Milliseconds without typing after which the search starts. */
const TYPING_MS = 200

/** The search field and the filters of a list; the address holds their values. */
export function FilterBar<T extends { id: string }>({
  view,
  shown,
  missing,
}: {
  view: View<T>
  shown: number
  missing: Missing
}) {
  const { filters } = address.value
  // A narrow screen shows the filters on demand.
  const [isExpanded, setExpanded] = useState(false)
  const active = Object.entries(filters).filter(([name, value]) => name !== 'q' && value !== '').length
  const set = (name: string, value: string, how?: 'replace') =>
    go({ filters: { ...address.peek().filters, [name]: value } }, how)
  return (
    <form
      class={`filters${isExpanded ? ' expanded' : ''}`}
      role="search"
      aria-label={view.title}
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchField hint={view.hint} value={filters.q ?? ''} onSearch={(text) => set('q', text, 'replace')} />
      <button type="button" class="more" aria-expanded={isExpanded} onClick={() => setExpanded(!isExpanded)}>
        {active === 0 ? 'Filters' : `Filters (${active})`}
      </button>
      {view.isTimed === true && <TimeFilter />}
      {view.filters.map(({ name, label, choices, all = `Any ${label.toLowerCase()}` }) => (
        <select
          key={name}
          aria-label={label}
          value={filters[name] ?? ''}
          onChange={({ currentTarget }) => set(name, currentTarget.value)}
        >
          <option value="">{all}</option>
          {(typeof choices === 'function' ? choices() : choices).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ))}
      <LinkedFilters
        filters={filters}
        known={[
          'q',
          ...(view.isTimed === true ? ['from', 'to'] : []),
          ...view.filters.map(({ name }) => name),
        ]}
      />
      {view.actions?.(filters)}
      <span class="count">{shown === 0 ? '' : countText(shown, missing)}</span>
    </form>
  )
}

function countText(shown: number, missing: Missing): string {
  const count = shown.toLocaleString('en')
  return { nowhere: count, below: `${count}+`, above: `oldest ${count}` }[missing]
}

function SearchField({
  hint,
  value,
  onSearch,
}: {
  hint: string
  value: string
  onSearch: (text: string) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useKeys({ '/': () => field.current?.focus() }, [])
  // A search of this view must not filter the next one.
  useEffect(() => () => clearTimeout(timer.current), [])
  // A field in use is not overwritten by the text of an earlier search.
  useEffect(() => {
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value
  }, [value])
  return (
    <input
      ref={field}
      type="search"
      class="search"
      aria-label="Search"
      placeholder={hint}
      maxLength={255}
      onInput={({ currentTarget }) => {
        clearTimeout(timer.current)
        const text = currentTarget.value
        timer.current = setTimeout(() => onSearch(text), TYPING_MS)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur()
      }}
    />
  )
}

/** Filters without a control, set by a link (one endpoint's deliveries): each has a button that removes it. */
function LinkedFilters({
  filters,
  known,
}: {
  filters: Readonly<Record<string, string>>
  known: readonly string[]
}) {
  const others = Object.entries(filters).filter(([name, value]) => !known.includes(name) && value !== '')
  return others.map(([name, value]) => (
    <button
      key={name}
      type="button"
      class="chip"
      aria-label={`Remove filter ${name}: ${value}`}
      onClick={() => go({ filters: { ...filters, [name]: '' } })}
    >
      {name}: {value} <span aria-hidden="true">×</span>
    </button>
  ))
}

/** Ranges up to the service's time, in minutes. */
const presets = [
  ['Last 5 minutes', 5],
  ['Last hour', 60],
  ['Last 24 hours', 1_440],
] as const

/** A filter by time: two times in UTC, and ranges up to the service's time. The address holds `from` and `to`. */
function TimeFilter() {
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
  // A click outside closes the choice, as it does for a select.
  useEffect(() => {
    const onPress = ({ target }: PointerEvent) => {
      if (target instanceof Node && element.current?.contains(target) === false) element.current.open = false
    }
    document.addEventListener('pointerdown', onPress)
    return () => document.removeEventListener('pointerdown', onPress)
  }, [])
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
