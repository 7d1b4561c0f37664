import type { Check, OrderedPush } from '../../model/check.ts'
import type { Revision } from '../../model/revision.ts'
import { createNewId } from '../../ids.ts'

/** Body of a push, with items as in JSON. */
export type PushBody = OrderedPush

/** Returns the push body that describes a check's current state. */
export function pushBodyOf({ table, status, items, totals, revision }: Check): PushBody {
  return {
    table,
    status,
    items: items.map(({ external_id, name, quantity, price_cents, note }) => ({
      external_id,
      name,
      quantity,
      price_cents,
      note,
    })),
    totals,
    ...(revision !== null && { revision }),
  }
}

/** Returns a later push: a revision, if any, increases. */
export function next(body: PushBody, changes: Partial<PushBody>): PushBody {
  const { revision } = body
  return { ...body, ...changes, ...(revision !== undefined && { revision: following(revision) }) }
}

/** Returns the next number, or the time a millisecond later. */
function following(revision: Revision): Revision {
  return typeof revision === 'number' ? revision + 1 : new Date(Date.parse(revision) + 1).toISOString()
}

/** Moves the revision to the field by which the service orders pushes. */
export function orderedBy(orderBy: string, { revision, ...body }: PushBody): object {
  return revision === undefined ? body : { [orderBy]: revision, ...body }
}

/** Returns the next push with one more item, included in the totals. */
export function withAnotherLine(body: PushBody): PushBody {
  const { items, totals } = body
  const taken = new Set(items.map(({ external_id }) => external_id))
  let number = items.length + 1
  while (taken.has(`line-${number}`)) number += 1
  const line = { external_id: `line-${number}`, name: 'Espresso', quantity: 1, price_cents: 350, note: null }
  const { subtotal_cents, tax_cents, total_cents } = totals
  return next(body, {
    items: [...items, line],
    totals: {
      subtotal_cents: subtotal_cents + line.price_cents,
      tax_cents,
      total_cents: total_cents + line.price_cents,
    },
  })
}

/** Makes a unique name that sorts by time: `trigger-01k9…`. */
export function uniqueName(of: string): string {
  const [, unique = ''] = createNewId(() => new Date())('chk').split('_')
  return `${of}-${unique.toLowerCase()}`
}
