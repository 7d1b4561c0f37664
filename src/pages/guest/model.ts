import type { TableCheck, TableView } from '../../model/guests/guest-table.ts'

/** The amount to pay: the guest's own items, an even share, or the whole balance. */
export type PayMode = 'mine' | 'even' | 'all'

/** A message for the guest. */
export interface Notice {
  text: string
  /** True for a failure. */
  isProblem: boolean
  /** External ids of the check and item that the message is about; it is shown there and leaves by itself. */
  at?: readonly [check: string, item: string]
}

/** The whole state of the guest page: the table as the service sent it, and the guest's input. */
export interface PageModel {
  view: TableView
  language: string | undefined
  /** False in the page that the service renders: it has no controls. */
  interactive: boolean
  connection: 'live' | 'reconnecting' | 'offline'
  name: string
  /** External id of the expanded check. */
  open: string | null
  /** True while the payment form replaces the bar. */
  form: boolean
  /** `null` until the guest chooses: the guest's items, or the balance when the guest has none. */
  mode: PayMode | null
  people: number
  /** Percent of the amount, or the guest's own amount as typed. */
  tip: { percent: number } | { typed: string }
  card: 'approved' | 'declined'
  /** True when others have changed the amount to pay while the form was open, until the guest confirms it. */
  changed: boolean
  /** True while a payment is in flight. */
  paying: boolean
  /** {@link ratingKey} of the check that `rating` and `comment` are about. */
  rates: string | null
  rating: number
  comment: string
  /** {@link ratingKey} of the checks that this guest has rated. */
  rated: readonly string[]
  /** True while a request is in flight; controls are disabled, so that nothing is sent twice. */
  busy: boolean
  notice: Notice | null
  /** Text for screen readers. */
  announcement: string
}

/** Reactions to the guest's input. */
export interface Actions {
  rename(name: string): void
  claim(check: TableCheck, itemId: string, quantity: number): void
  release(check: TableCheck, itemId: string, claimId: string): void
  /** Changes the model and removes the message. */
  set(changes: Partial<PageModel>): void
  /** Changes the model and moves the focus to the first element that matches the selector. */
  go(changes: Partial<PageModel>, selector: string): void
  pay(check: TableCheck): void
  rate(check: TableCheck): void
}

const ignore = () => {}

/** Actions of the page that the service renders. */
export const noActions: Actions = {
  rename: ignore,
  claim: ignore,
  release: ignore,
  set: ignore,
  go: ignore,
  pay: ignore,
  rate: ignore,
}

/** Choices for one payment; a payment resets them. */
export const firstChoices = { form: false, mode: null, tip: { percent: 0 }, changed: false } as const

export function initialModel(view: TableView, language: string | undefined): PageModel {
  return {
    ...firstChoices,
    view,
    language,
    interactive: false,
    connection: 'live',
    name: '',
    open: openIn(view),
    people: 2,
    card: 'approved',
    paying: false,
    rates: null,
    rating: 0,
    comment: '',
    rated: [],
    busy: false,
    notice: null,
    announcement: '',
  }
}

/**
 * Returns the check to expand: the first one with a balance that this guest has paid nothing of, otherwise the first
 * open one without payments: it is empty, or costs nothing.
 */
export function openIn({ checks }: TableView): string | null {
  const check =
    checks.find(({ balance_cents, payments }) => balance_cents > 0 && !payments.some(({ mine }) => mine)) ??
    checks.find(({ status, paid_cents }) => status === 'open' && paid_cents === 0)
  return check?.external_id ?? null
}

/** Identifies a check for the ratings that a browser remembers: a POS uses an external id again, for example after a reset. */
export function ratingKey({ external_id, created_at }: TableCheck): string {
  return `${created_at} ${external_id}`
}
