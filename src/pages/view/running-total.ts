import { ownClaims, pricesOf } from '../amounts.ts'
import { h, type Tree } from '../tree.ts'
import type { Scene } from './scene.ts'

/** What this guest has taken so far, in sight wherever the page stands. */
export function runningTotalView({ model, money }: Scene): Tree {
  const index = model.view.checks.findIndex((check) => ownClaims(check).length > 0)
  const check = model.view.checks[index]
  if (check === undefined) return null
  const claims = ownClaims(check)
  const amount = claims.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  const rest = amount - pricesOf(claims)
  return h(
    'aside',
    { class: 'running', 'aria-label': 'Your share' },
    h(
      'p',
      {},
      h('strong', { class: 'amount' }, money(amount)),
      h(
        'span',
        { class: 'quiet' },
        rest === 0 ? 'your share' : `your share, ${money(rest)} of it tax and charges`,
      ),
    ),
    h('a', { href: `#pay-${index}`, class: 'main' }, 'Pay'),
  )
}
