import type { TableCheck } from '../../model/guest-table/view.ts'
import { moneyIn } from '../money.ts'
import type { Actions, PageModel } from '../model.ts'

/** What every part of the page is drawn from. */
export interface Scene {
  model: PageModel
  actions: Actions
  money: (cents: number) => string
}

export interface CheckScene extends Scene {
  check: TableCheck
  /** Tells the controls of several checks apart. */
  index: number
}

export function sceneOf(model: PageModel, actions: Actions): Scene {
  return { model, actions, money: moneyIn(model.view.location.currency, model.language) }
}

/** A quantity as its readers write it, to three decimals. */
export function quantityText(quantity: number, language: string | undefined): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(quantity)
}

/** What guests are called who gave no name. */
export function nameOf({ mine, guest_name }: { mine: boolean; guest_name: string | null }): string {
  return mine ? 'You' : (guest_name ?? 'A guest')
}
