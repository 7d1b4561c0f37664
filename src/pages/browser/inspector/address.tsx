import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** The views, in the order of their tabs. */
export const viewNames = [
  'checks',
  'pushes',
  'events',
  'deliveries',
  'endpoints',
  'requests',
  'controls',
] as const
export type ViewName = (typeof viewNames)[number]

/** The page's state that its URL holds, so that a copied URL shows the same. */
export interface Address {
  view: ViewName
  /** Filters of the list; `q` is the search text. */
  filters: Readonly<Record<string, string>>
  /** The record in the drawer: an id, or `check/` and an external id; empty when the drawer is closed. */
  open: string
}

const search = signal(location.search)

addEventListener('popstate', () => {
  search.value = location.search
})

export const address = computed<Address>(() => {
  const { view = '', open = '', ...filters } = Object.fromEntries(new URLSearchParams(search.value))
  return { view: viewNames.find((name) => name === view) ?? 'deliveries', filters, open }
})

/** Returns the URL of an address with changes. A change of the view clears filters and drawer. */
function hrefOf(changes: Partial<Address>, current: Address): string {
  const isOther = changes.view !== undefined && changes.view !== current.view
  const { view, filters, open } = { ...current, ...(isOther && { filters: {}, open: '' }), ...changes }
  const kept = Object.entries(filters)
    .filter(([, value]) => value !== '')
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const query = new URLSearchParams([['view', view], ...kept])
  if (open !== '') query.set('open', open)
  return `/?${query.toString()}`
}

/** Changes the address without loading the page; `replace` adds no entry to the browser's history. */
export function go(changes: Partial<Address>, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', hrefOf(changes, address.peek()))
  search.value = location.search
}

interface LinkProps {
  to: Partial<Address>
  class?: string
  current?: boolean
  tabIndex?: number
  /** The record that the link opens, for shortcuts. */
  'data-open'?: string
  onFocus?: () => void
  children: ComponentChildren
}

/** A link to another address: a plain click changes the address, other clicks open a tab or window as usual. */
export function Link({ to, current = false, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={hrefOf(to, address.value)}
      aria-current={current ? 'true' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

/** A link to a check, named by its external id. */
export function CheckLink({ id }: { id: string }) {
  return <Link to={{ open: `check/${id}` }}>{id}</Link>
}

/** Grows with each request to move the focus into the drawer. */
export const drawerFocus = signal(0)

/** Opens a record and moves the focus into the drawer: the effect of Enter in a list. */
export function openInDrawer(open: string): void {
  go({ open })
  drawerFocus.value += 1
}
