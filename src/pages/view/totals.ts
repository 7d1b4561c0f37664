import { h, type Tree } from '../tree.ts'
import type { CheckScene } from './scene.ts'

/** What the check comes to, as the POS has added it up, and what is left to pay. */
export function totalsView({ check, money }: CheckScene): Tree {
  const { subtotal_cents, tax_cents, total_cents } = check.totals
  const more = total_cents - subtotal_cents - tax_cents
  return [
    h(
      'dl',
      { class: 'totals' },
      line('Subtotal', money(subtotal_cents)),
      tax_cents !== 0 && line(more === -tax_cents ? 'Tax, included' : 'Tax', money(tax_cents)),
      more !== 0 && more !== -tax_cents && line('Charges and discounts', money(more)),
      line('Total', money(total_cents), 'grand'),
      check.paid_cents !== 0 && line('Paid', money(-check.paid_cents)),
      check.paid_cents !== 0 && line('Left to pay', money(Math.max(check.balance_cents, 0)), 'grand'),
    ),
    check.paid_cents > 0 &&
      check.balance_cents > 0 &&
      h('progress', { value: check.paid_cents, max: total_cents, 'aria-label': 'Paid so far' }),
  ]
}

/** A name and an amount, in one row. */
export function line(name: string, amount: string, kind = ''): Tree {
  return h('div', { class: kind }, h('dt', {}, name), h('dd', {}, amount))
}
