import { h, type Tree } from '../tree.ts'
import { itemView } from './item.ts'
import { payView } from './pay.ts'
import { ratingView } from './rating.ts'
import { othersPaidView, receiptsView } from './receipt.ts'
import type { CheckScene } from './scene.ts'
import { totalsView } from './totals.ts'

/** A check: what is on it, what it comes to, and what this guest can do about it. */
export function checkView(scene: CheckScene): Tree {
  const { check, index, model } = scene
  const title = `check-${index}`
  const isPaid = check.balance_cents <= 0 && check.paid_cents > 0
  return h(
    'article',
    { class: 'check', key: check.external_id, 'aria-labelledby': title },
    h(
      'section',
      { class: 'sheet' },
      h(
        'div',
        { class: 'heading' },
        h('h2', { id: title }, model.view.checks.length > 1 ? `Check ${check.external_id}` : 'Your check'),
        h(
          'span',
          { class: `badge ${isPaid ? 'paid' : check.status}` },
          isPaid ? 'Paid' : statusText(check.status),
        ),
      ),
      isPaid && h('p', { class: 'thanks' }, 'All paid. Thank you, and see you again.'),
      check.items.length === 0
        ? h('p', { class: 'quiet' }, 'Nothing has been ordered yet.')
        : h(
            'ul',
            { class: 'items' },
            check.items.map((item) => itemView(scene, item)),
          ),
      totalsView(scene),
    ),
    h(
      'div',
      { class: 'side' },
      receiptsView(scene),
      model.interactive && ratingView(scene),
      model.interactive && check.balance_cents > 0 && payView(scene),
      othersPaidView(scene),
    ),
  )
}

function statusText(status: 'open' | 'closed'): string {
  return status === 'open' ? 'Open' : 'Closed'
}
