import { useEffect, useRef, useState } from 'preact/hooks'
import { address, go } from '../address.tsx'
import { onKeys } from '../keyboard.ts'
import type { Missing } from './rows.ts'
import { TimeFilter } from './time-filter.tsx'
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
  useEffect(() => onKeys({ '/': () => field.current?.focus() }), [])
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
