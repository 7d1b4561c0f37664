import type { ComponentChildren } from 'preact'
import type { Address, ViewName } from '../address.ts'
import type { News } from '../news.ts'

/** What a list shows, and of what. */
export interface View<T extends { id: string }> {
  name: ViewName
  title: string
  /** Of the list below `/_sim`. */
  path: string
  /** Always asked for, beside what the user filters by. */
  fixed?: Readonly<Record<string, string>>
  filters: readonly Filter[]
  /** What can be searched for. */
  hint: string
  headings: readonly string[]
  /** One for each heading. */
  cells(row: T): ComponentChildren[]
  opens(row: T): Address['open']
  /** News after which the list is looked at again. */
  follows: readonly News['type'][]
  /** A row as it is after this news. */
  changed?(row: T, news: News): T
  /** The id of the row that the news is of. */
  concerns?(news: News): string | undefined
  empty: { title: string; text: string; commands: readonly string[] }
}

export interface Filter {
  name: string
  label: string
  /** What stands for all values; `any` and the label without it. */
  all?: string
  /** The values to choose from, with their words. */
  choices: readonly (readonly [value: string, text: string])[]
}
