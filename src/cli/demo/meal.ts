/** What is ordered, and what a POS would push of it. */
export const burger = {
  external_id: 'line-1',
  name: 'Copper Burger',
  quantity: 2,
  price_cents: 1450,
  note: 'one without onions',
}
export const fries = {
  external_id: 'line-2',
  name: 'Hand-cut Fries',
  quantity: 1,
  price_cents: 525,
  note: null,
}
export const tart = { external_id: 'line-3', name: 'Plum Tart', quantity: 2, price_cents: 780, note: null }

/** The full state of the check with these items, its totals included. */
export function checkOf(
  revision: number,
  status: 'open' | 'closed',
  items: readonly (typeof burger | typeof fries)[],
) {
  const subtotal_cents = items.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0)
  const tax_cents = Math.round(subtotal_cents * 0.0875)
  const totals = { subtotal_cents, tax_cents, total_cents: subtotal_cents + tax_cents }
  return { revision, table: { number: '12' }, status, items, totals }
}
