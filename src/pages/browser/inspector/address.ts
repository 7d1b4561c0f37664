import { computed, signal } from '@preact/signals'

/** The lists, in the order in which they stand in the bar. */
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

/** Everything that the address tells: it can be copied, and shows somebody else the same. */
export interface Address {
  view: ViewName
  /** Filters of the list, and `q`, what is searched for. */
  filters: Readonly<Record<string, string>>
  /** What is shown in full: an id, or `check/` and an external id. */
  open: string
}

const search = signal(location.search)

export const address = computed<Address>(() => addressOf(search.value))

export function addressOf(text: string): Address {
  const { view = '', open = '', ...filters } = Object.fromEntries(new URLSearchParams(text))
  return { view: viewNames.find((name) => name === view) ?? 'deliveries', filters, open }
}

/** The same address with these changes. Another list begins without the filters of this one. */
export function hrefOf(changes: Partial<Address>, now = address.peek()): string {
  const isOther = changes.view !== undefined && changes.view !== now.view
  const { view, filters, open } = { ...now, ...(isOther && { filters: {}, open: '' }), ...changes }
  const kept = Object.entries(filters)
    .filter(([, value]) => value !== '')
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const query = new URLSearchParams([['view', view], ...kept])
  if (open !== '') query.set('open', open)
  return `/?${query.toString()}`
}

/** Goes there without loading anything; `replace` keeps what is typed out of the history. */
export function go(changes: Partial<Address>, how: 'push' | 'replace' = 'push'): void {
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', hrefOf(changes))
  search.value = location.search
}

addEventListener('popstate', () => {
  search.value = location.search
})
