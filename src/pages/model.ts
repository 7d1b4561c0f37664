import type { TableCheck, TableView } from '../model/guest-table/view.ts'

/** What guests are about to pay. */
export type PayMode = 'mine' | 'even' | 'all'

/** All that the page shows, as one value: what the service told, and what this guest is doing. */
export interface PageModel {
  view: TableView
  language: string | undefined
  /** Without a script, the page is there to be read. */
  interactive: boolean
  connection: 'live' | 'reconnecting' | 'offline'
  name: string
  mode: PayMode
  people: number
  /** A share of what is paid in percent, or the guest's own amount as it was typed. */
  tip: { percent: number } | { typed: string }
  card: 'approved' | 'declined'
  /** The check that is being paid, by its external id; `null` while none is. */
  paying: string | null
  rating: number
  comment: string
  /** Checks that this guest has rated, by their external ids. */
  rated: readonly string[]
  /** What is under way, so that nothing is asked for twice. */
  busy: boolean
  /** What went wrong last, in words for the guest. */
  problem: string | null
  /** What is read out to whoever does not see it. */
  announcement: string
}

/** What a guest can do. The service, which only writes the page, has none of it. */
export interface Actions {
  rename(name: string): void
  claim(check: TableCheck, itemId: string, quantity: number): void
  release(claimId: string): void
  set(changes: Partial<PageModel>): void
  pay(check: TableCheck): void
  rate(check: TableCheck): void
  dismiss(): void
}

export const noActions: Actions = {
  rename: nothing,
  claim: nothing,
  release: nothing,
  set: nothing,
  pay: nothing,
  rate: nothing,
  dismiss: nothing,
}

function nothing(): void {}

export function initialModel(view: TableView, language: string | undefined): PageModel {
  return {
    view,
    language,
    interactive: false,
    connection: 'live',
    name: '',
    mode: 'mine',
    people: 2,
    tip: { percent: 0 },
    card: 'approved',
    paying: null,
    rating: 0,
    comment: '',
    rated: [],
    busy: false,
    problem: null,
    announcement: '',
  }
}
