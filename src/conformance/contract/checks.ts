import { isDeepStrictEqual } from 'node:util'
import { must, type ContractCase } from './case.ts'
import { itemsOf, pushAll, read, readable } from './push-and-read.ts'
import { item, push } from './pushes.ts'
import type { Site } from './site.ts'

const [a, b, c] = [item('a'), item('b', 700), item('c', 450)]

/** Three states of one check in their order. The specification shows no field that orders them; `revision` is ours. */
const states = [
  push([a], { revision: 1 }),
  push([a, b], { revision: 2 }),
  push([b, c], { revision: 3, table: { number: '14' } }),
]

const orders = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
  [2, 0, 0, 1, 2],
  [1, 2, 1, 0, 1],
]

/** Specification, section 4: the rules of `PUT /checks/external/{external_check_id}`. */
export const checks: readonly ContractCase[] = [
  {
    group: 'checks',
    id: 'accepted',
    title: 'a push with the fields of the specification is accepted',
    section: 'section 4: PUT /checks/external/{external_check_id}',
    async check(site) {
      await pushAll(site, site.freshCheck(), [push([a, b])])
    },
  },
  {
    group: 'checks',
    id: 'replay',
    title: 'replaying an identical push changes nothing',
    section: 'section 4, rule 1: replaying an identical call has no effect',
    async check(site) {
      const path = site.freshCheck()
      const first = await pushAll(site, path, [push([a, b])])
      const before = (await read(site, path)) ?? first
      const second = await pushAll(site, path, [push([a, b])])
      const after = (await read(site, path)) ?? second
      must(isDeepStrictEqual(before, after), 'The check is another one after the replay.')
    },
  },
  {
    group: 'checks',
    id: 'full_state',
    title: 'a push is the whole check: what it leaves out is gone',
    section: 'section 4: the body is the complete current state, not a delta',
    async check(site) {
      const path = site.freshCheck()
      await pushAll(site, path, [push([a, b]), push([c])])
      const items = itemsOf(await readable(site, path))
      must(items === 'c', `After a push of c alone, the items are: ${items}.`)
    },
  },
  {
    group: 'checks',
    id: 'order',
    title: 'an older push that arrives late does not undo a newer one',
    section: 'section 4, rule 2: out-of-order updates converge on the same state',
    async check(site) {
      const path = site.freshCheck()
      await pushAll(site, path, [states[1], states[0]])
      const items = itemsOf(await readable(site, path))
      must(items === 'a, b', `Revision 2, then 1, leaves these items: ${items}.`)
    },
  },
  {
    group: 'checks',
    id: 'convergence',
    title: 'three pushes in any order, repeated too, end in one state',
    section: 'section 1: updates that arrive out of order converge on the same final state',
    async check(site) {
      for (const order of orders) {
        const path = site.freshCheck()
        await pushAll(
          site,
          path,
          order.map((index) => states[index]),
        )
        const items = itemsOf(await readable(site, path))
        const told = order.map((index) => index + 1).join(', ')
        must(items === 'b, c', `Revisions ${told} leave these items: ${items}.`)
      }
    },
  },
  {
    group: 'checks',
    id: 'success_status',
    title: 'what a push answers',
    section: 'section 4: success status code and body are not shown',
    async observe({ ask, freshCheck }) {
      const path = freshCheck()
      const [created, updated] = [
        await ask('PUT', path, { json: push([a]) }),
        await ask('PUT', path, { json: push([b]) }),
      ]
      return `${created.status} for a new check, ${updated.status} for an update`
    },
  },
  ...observed(
    'odd_totals',
    'totals that do not add up',
    push([a], { totals: { subtotal_cents: 1, tax_cents: 1, total_cents: 9 } }),
  ),
  ...observed('unknown_field', 'a field that the specification does not show', push([a], { covers: 2 })),
  ...observed(
    'unknown_status',
    'a status that the specification does not show',
    push([a], { status: 'paused' }),
  ),
  ...observed('no_items', 'a check without items', push([])),
]

function observed(id: string, title: string, json: object): ContractCase[] {
  const section = 'section 2: the bounds and allowed values of check fields are not shown'
  const observe = async ({ ask, freshCheck }: Site) =>
    `answered ${(await ask('PUT', freshCheck(), { json })).status}`
  return [{ group: 'checks', id, title, section, observe }]
}
