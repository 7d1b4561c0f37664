import type { TableCheck, TableView } from '../../model/guest-table/view.ts'

/** The amount to pay: the guest's own items, an even share, or the whole balance. */
export type PayMode = 'mine' | 'even' | 'all'

/** The whole state of the guest page: the table as the service sent it, and the guest's input. */
export interface PageModel {
  view: TableView
  language: string | undefined
  /** False in the page that the service renders: it has no controls. */
  interactive: boolean
  connection: 'live' | 'reconnecting' | 'offline'
  name: string
  mode: PayMode
  people: number
  /** Percent of the amount, or the guest's own amount as typed. */
  tip: { percent: number } | { typed: string }
  card: 'approved' | 'declined'
  /** External id of the check with a payment in flight, or `null`. */
  paying: string | null
  rating: number
  comment: string
  /** External ids of the checks that this guest has rated. */
  rated: readonly string[]
  /** True while a request is in flight; controls are disabled, so that nothing is sent twice. */
  busy: boolean
  /** The last error, worded for the guest. */
  problem: string | null
  /** Text for screen readers. */
  announcement: string
}

/** Reactions to the guest's input. */
export interface Actions {
  rename(name: string): void
  claim(check: TableCheck, itemId: string, quantity: number): void
  release(claimId: string): void
  set(changes: Partial<PageModel>): void
  pay(check: TableCheck): void
  rate(check: TableCheck): void
  dismiss(): void
}

/** Actions of the page that the service renders. */
export const noActions: Actions = {
  rename: ignore,
  claim: ignore,
  release: ignore,
  set: ignore,
  pay: ignore,
  rate: ignore,
  dismiss: ignore,
}

function ignore(): void {}

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
