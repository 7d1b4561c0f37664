import { useEffect, useRef } from 'preact/hooks'
import { address, go } from '../address.ts'
import { onKeys } from '../keyboard.ts'
import type { Missing } from '../merge.ts'
import type { View } from './view.ts'

/** Milliseconds after the last letter: nobody searches for half a word. */
const TYPING_MS = 200

/** The search and the filters of a list, which are kept in the address. */
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
  const set = (name: string, value: string, how?: 'replace') =>
    go({ filters: { ...address.peek().filters, [name]: value } }, how)
  return (
    <form class="filters" role="search" aria-label={view.title} onSubmit={(event) => event.preventDefault()}>
      <SearchField hint={view.hint} value={filters.q ?? ''} onSearch={(text) => set('q', text, 'replace')} />
      {view.filters.map(({ name, label, choices, all = `any ${label.toLowerCase()}` }) => (
        <select
          key={name}
          aria-label={label}
          value={filters[name] ?? ''}
          onChange={({ currentTarget }) => set(name, currentTarget.value)}
        >
          <option value="">{all}</option>
          {choices.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ))}
      <Others filters={filters} known={['q', ...view.filters.map(({ name }) => name)]} />
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
  // What is being typed is not to be overwritten by what was typed before it.
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

/** Filters that a link has set, such as one endpoint's deliveries: each can be taken away. */
function Others({ filters, known }: { filters: Readonly<Record<string, string>>; known: readonly string[] }) {
  const others = Object.entries(filters).filter(([name, value]) => !known.includes(name) && value !== '')
  return others.map(([name, value]) => (
    <button
      key={name}
      type="button"
      class="chip"
      aria-label={`No longer only ${name} ${value}`}
      onClick={() => go({ filters: { ...filters, [name]: '' } })}
    >
      {name}: {value} <span aria-hidden="true">×</span>
    </button>
  ))
}
