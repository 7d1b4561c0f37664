import type { TableView } from '../../model/guest-table/view.ts'
import { moneyIn } from '../../model/text/money.ts'
import { leftOf } from './money.ts'

/** Words the payments and other changes between two states of the table; empty when nothing changed. */
export function changesOf(before: TableView, after: TableView, language: string | undefined): string {
  const money = moneyIn(after.location.currency, language)
  const sentences = after.checks.flatMap((check) => {
    const old = before.checks.find(({ external_id }) => external_id === check.external_id)
    if (old === undefined) return ['There is a new check.']
    const paid = check.payments
      .slice(old.payments.length)
      .map(
        ({ mine, guest_name, amount_cents, tip_cents }) =>
          `${mine ? 'You' : (guest_name ?? 'Another guest')} paid ${money(amount_cents + (tip_cents ?? 0))}.`,
      )
    const hasChanged =
      JSON.stringify([old.items, old.totals, old.status]) !==
      JSON.stringify([check.items, check.totals, check.status])
    if (old.balance_cents === check.balance_cents && paid.length === 0)
      return hasChanged ? ['The check has changed.'] : []
    if (paid.length === 0) paid.push('The check has changed.')
    return [
      ...paid,
      check.balance_cents > 0 ? `${money(leftOf(check))} is left.` : 'The check is fully paid.',
    ]
  })
  if (after.checks.length < before.checks.length) sentences.push('A check has left the table.')
  return sentences.join(' ')
}
