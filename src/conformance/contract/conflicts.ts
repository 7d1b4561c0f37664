import { isDeepStrictEqual } from 'node:util'
import type { Answer } from './ask.ts'
import { must, NotChecked, type ContractCase } from './case.ts'
import { pushAll, readable } from './push-and-read.ts'
import { item, push } from './pushes.ts'
import { isSuccess, type Site } from './site.ts'

const [soup, bread] = [item('soup'), item('bread', 300)]

/** Pushes soup and bread, has a guest claim the soup, and then pushes these items. */
async function afterClaim(site: Site, items: readonly ReturnType<typeof item>[]) {
  const path = site.freshCheck()
  await pushAll(site, path, [push([soup, bread])])
  const claim = path.replace('/checks/external/', '/checks/') + '/claims'
  const claimed = await site.sim('POST', claim, { json: { items: [{ external_id: 'soup', quantity: 1 }] } })
  if (!isSuccess(claimed)) throw new NotChecked(`The guest could not claim an item: ${claimed.status}.`)
  const before = await readable(site, path)
  return { path, before, answer: await site.ask('PUT', path, { json: push(items) }) }
}

/** A push that removes a claimed item, and what it was answered; made once. */
export function conflicted(site: Site): Promise<{ path: string; before: unknown; answer: Answer }> {
  return site.once('conflict', () => afterClaim(site, [bread]))
}

/** @throws NotChecked when there was no conflict, which is another case's to judge. */
function requireConflict({ status }: Answer): void {
  if (status !== 409) throw new NotChecked(`There was no conflict: it was answered ${status}.`)
}

const RULE = 'section 4, rule 4'

const one = (
  id: string,
  title: string,
  section: string,
  check: (site: Site) => Promise<void>,
): ContractCase => ({
  group: 'conflicts',
  id,
  title,
  section,
  needs: ['guests'],
  check,
})

const accepted = (id: string, title: string, items: readonly ReturnType<typeof item>[]) =>
  one(id, title, `${RULE}: only removing or cheapening a claimed item conflicts`, async (site) => {
    const { answer } = await afterClaim(site, items)
    must(isSuccess(answer), `It was answered ${answer.status}.`)
  })

/** Specification, section 4, rule 4, and section 7: what guests have claimed stays. */
export const conflicts: readonly ContractCase[] = [
  one('removed', 'removing a claimed item is 409', `${RULE}: the call is rejected with 409`, async (site) => {
    const { answer } = await conflicted(site)
    must(answer.status === 409, `It was answered ${answer.status}.`)
  }),
  one(
    'cheaper',
    'lowering the price of a claimed item is 409',
    `${RULE}: the call is rejected with 409`,
    async (site) => {
      const { answer } = await afterClaim(site, [item('soup', 899), bread])
      must(answer.status === 409, `It was answered ${answer.status}.`)
    },
  ),
  one(
    'matched_by_id',
    'the same dish under another external_id is another item',
    'section 4, rule 3: items are diffed by external_id',
    async (site) => {
      const { answer } = await afterClaim(site, [{ ...soup, external_id: 'soup-2' }, bread])
      must(
        answer.status === 409,
        `A claimed item that came back under another id was answered ${answer.status}.`,
      )
    },
  ),
  one(
    'code',
    'the error code is conflict_with_paid_items',
    'section 7: 409 conflict_with_paid_items',
    async (site) => {
      const { answer } = await conflicted(site)
      requireConflict(answer)
      const named = answer.text.includes('"conflict_with_paid_items"')
      must(named, 'The answer does not hold the code conflict_with_paid_items.')
    },
  ),
  one(
    'unchanged',
    'a conflict leaves the check as it was',
    `${RULE}: the existing check is left unchanged`,
    async (site) => {
      const { path, before, answer } = await conflicted(site)
      requireConflict(answer)
      const same = isDeepStrictEqual(await readable(site, path), before)
      must(same, 'The check is another one after the conflict.')
    },
  ),
  accepted('unclaimed_removed', 'removing an item that nobody claimed is accepted', [soup]),
  accepted('dearer', 'raising the price of a claimed item is accepted', [item('soup', 950), bread]),
  {
    group: 'conflicts',
    id: 'quantity',
    title: 'leaving less of an item than is claimed',
    section: `${RULE}: says nothing of quantities`,
    needs: ['guests'],
    observe: async (site) =>
      `answered ${(await afterClaim(site, [{ ...soup, quantity: 0.5 }, bread])).answer.status}`,
  },
]
