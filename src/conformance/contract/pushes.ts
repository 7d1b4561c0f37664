/** An item of a push. */
export function item(external_id: string, price_cents = 900, changes: object = {}) {
  return { external_id, name: `Dish ${external_id}`, quantity: 1, price_cents, note: '', ...changes }
}

/** A check with just the fields of the specification, section 2, and whatever else is said. */
export function push(items: readonly ReturnType<typeof item>[], changes: object = {}) {
  const total = items.reduce((sum, { price_cents, quantity }) => sum + price_cents * quantity, 0)
  const totals = { subtotal_cents: total, tax_cents: 0, total_cents: total }
  return { table: { number: '12' }, status: 'open', items, totals, ...changes }
}
