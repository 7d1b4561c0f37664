import type { ComponentChildren } from 'preact'
import { eventTypesAndPing } from '../../../../model/event.ts'
import type { Address, ViewName } from '../address.tsx'
import type { LiveMessage } from '../live.ts'

/** A kind of list: its route, filters, columns and live updates. */
export interface View<T extends { id: string }> {
  name: ViewName
  title: string
  /** Route below `/_sim`. */
  path: string
  /** Query parameters that are always sent. */
  fixed?: Readonly<Record<string, string>>
  filters: readonly Filter[]
  /** True when the list can be filtered by `from` and `to`. */
  isTimed?: boolean
  /** Returns the controls for all rows that match the filters. */
  actions?(filters: Address['filters']): ComponentChildren
  /** Placeholder of the search field. */
  hint: string
  headings: readonly string[]
  /** Returns the time by which the list is sorted; the first cell shows it. */
  time(row: T): string
  /** Returns one cell per heading after the first. */
  cells(row: T): ComponentChildren[]
  opens(row: T): Address['open']
  /** Message types after which the list is read again. */
  follows: readonly LiveMessage['type'][]
  /** Returns the id of the row that a message changes. */
  rowOf?(message: LiveMessage): string | undefined
  /** Returns a row with the change of a message. */
  withMessage?(row: T, message: LiveMessage): T
  /** Stands for an empty list: a text, an action of the page, and commands. */
  empty: { title: string; text: string; action?: () => ComponentChildren; commands: readonly string[] }
}

export interface Filter {
  name: string
  label: string
  /** Text of the choice that filters nothing; "any" and the label by default. */
  all?: string
  /** A function when the choices change. */
  choices: readonly Choice[] | (() => readonly Choice[])
}

type Choice = readonly [value: string, text: string]

/** Filters by event type, pings included. */
export const eventTypeFilter: Filter = {
  name: 'type',
  label: 'Event',
  choices: eventTypesAndPing.map((type) => [type, type] as const),
}
