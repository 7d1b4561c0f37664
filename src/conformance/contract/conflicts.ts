import { isDeepStrictEqual } from 'node:util'
import { isSuccess, type ServiceResponse } from './ask.ts'
import { rulesOf, type ContractCase, type CaseRule } from './case.ts'
import { explained, ifPossible, must, NotChecked, unlessNotChecked } from './outcome.ts'
import { accepted, otherTable, replaced } from './pushes.ts'
import { changedSince, entriesOf, inOrder, observeCheck, type ObservedCheck } from './fields.ts'
import { at, differences, holds, timeless } from './shape.ts'
import type { Target } from './target.ts'
import type { Item, TrialCheck } from './trial-checks.ts'

interface Claimed {
  check: TrialCheck
  /** Of the last push. */
  body: object
  soup: Item
  bread: Item
}

/** A check with soup and bread, whose soup a guest has claimed. @throws NotChecked when guests cannot claim here. */
export async function claimed(target: Target): Promise<Claimed> {
  const check = target.freshCheck()
  const [soup, bread] = [check.item('soup'), check.item('bread', { price_cents: 300 })]
  const body = target.body(check, [soup, bread])
  await target.push(check, body)
  // A push may be applied later, and until then there is nothing to claim.
  await ifPossible(target.shows(check, [soup, bread], [soup, bread]))
  await claim(target, check, soup)
  return { check, body, soup, bread }
}

/**
 * Makes a guest claim an item, and waits until GET shows a change, because a claim may be applied later. Where GET shows no
 * claims, only the first claim of a run is waited for.
 */
async function claim(target: Target, check: TrialCheck, item: Item): Promise<void> {
  const before = timeless(await ifPossible(target.read(check)))
  await target.claim(check, item)
  const isShown = () =>
    ifPossible(
      target.eventually(
        async () => differences(before, timeless(await target.read(check))),
        ({ length }) => length > 0,
      ),
    )
  if (await target.once('shows claims', async () => (await isShown()) !== undefined)) await isShown()
}

/** Pushes `items` after the claim. */
async function afterClaim(
  target: Target,
  items: (claimed: Claimed) => readonly Item[],
): Promise<ServiceResponse> {
  const one = await claimed(target)
  return target.ask('PUT', one.check.path, { json: target.body(one.check, items(one)) })
}

/** @throws Broken when updates are not applied at all, as far as that can be seen. */
async function updated(target: Target): Promise<void> {
  await accepted(target)
  await unlessNotChecked(replaced(target))
}

/** Pushes an item more after the claim. @throws Broken when that is refused. */
function added(target: Target): Promise<void> {
  return target.once('added after a claim', async () => {
    const answer = await afterClaim(target, ({ check, soup, bread }) => [soup, bread, check.item('wine')])
    requireAccepted(answer)
  })
}

/**
 * Removes the claimed item and adds another, which the service must refuse as a whole. The twin is a check that was claimed
 * just before, without a conflict.
 */
async function conflict(target: Target) {
  const { check: twin } = await claimed(target)
  const one = await claimed(target)
  const wine = one.check.item('wine')
  const before = await unlessNotChecked(observeCheck(target, one.check))
  const json = target.body(one.check, [one.bread, wine])
  const answer = await target.ask('PUT', one.check.path, { json })
  return { ...one, twin, before, answer }
}

/** As `conflict`, done once. */
export function conflicted(target: Target) {
  return target.once('conflict', () => conflict(target))
}

/** @throws NotChecked when there was no conflict, which is another case's to judge. */
export function requireConflict({ status }: Pick<ServiceResponse, 'status'>): void {
  if (status !== 409) throw new NotChecked(`No conflict occurred: the push returned ${status}.`)
}

function requireAccepted({ status }: ServiceResponse): void {
  must(isSuccess({ status }), `The push returned ${status}; expected a 2xx status.`)
}

/**
 * Returns the paths of a claimed check that differ from how it was observed. GET may show a claim later, and the minutes
 * since it, so a value that the twin shows, too, does not count as a difference.
 */
async function changedByConflict(
  target: Target,
  { check, twin }: { check: TrialCheck; twin: TrialCheck },
  before: ObservedCheck,
): Promise<readonly string[]> {
  let changed = await changedSince(target, check, before)
  if (changed.length === 0) return []
  const idsOf = ({ id, item }: TrialCheck) => [id, item('soup').external_id, item('bread').external_id]
  const twinIds = idsOf(twin)
  const pathAtTwin = (path: string) =>
    idsOf(check).reduce((shown, id, index) => shown.replaceAll(id, twinIds[index] ?? id), path)
  await target.eventually(
    async () => {
      const [now, other] = [await target.read(check), await target.read(twin)]
      changed = changed.filter((path) => {
        const value = at(now, path)
        return value === undefined || !isDeepStrictEqual(value, at(other, pathAtTwin(path)))
      })
      return changed
    },
    ({ length }) => length === 0,
  )
  return changed
}

const RULE = 'section 4, rule 4'

const rule = rulesOf('conflicts', async (target) => {
  await updated(target)
  await added(target)
})

const accepts = (id: string, title: string, items: (claimed: Claimed) => readonly Item[]): CaseRule =>
  rule(id, title, `${RULE}: only removing a claimed item or lowering its price is rejected`, async (target) =>
    requireAccepted(await afterClaim(target, items)),
  )

/** Pushes one after the other, each of which must be a conflict. @throws Broken when one is not. */
async function requireConflicts(
  target: Target,
  check: TrialCheck,
  pushes: readonly (readonly [what: string, items: readonly Item[]])[],
): Promise<void> {
  for (const [what, items] of pushes) {
    const { status } = await target.ask('PUT', check.path, { json: target.body(check, items) })
    must(status === 409, `${what} returned ${status}; expected 409.`)
  }
}

/**
 * A conflict in a push that also changes the check itself. The change alone comes first, because the specification does not
 * show which ones are allowed, and so does the conflict alone, which other cases judge.
 */
const despite = (id: string, title: string, what: string, changes: (check: TrialCheck) => object): CaseRule =>
  rule(id, title, `${RULE}: the update removes an item, or decreases its price`, async (target) => {
    const push = async (items: (one: Claimed) => readonly Item[], change: typeof changes = () => ({})) => {
      const one = await claimed(target)
      const json = target.body(one.check, items(one), change(one.check))
      return (await target.ask('PUT', one.check.path, { json })).status
    }
    const allowed = await push(({ soup, bread }) => [soup, bread], changes)
    if (!isSuccess({ status: allowed }))
      throw new NotChecked(
        `The service refuses a push that ${what} a check with a claimed item (${allowed}).`,
      )
    const kinds: [kind: string, items: (one: Claimed) => readonly Item[]][] = [
      ['removes a claimed item', ({ bread }) => [bread]],
      [
        'lowers the price of a claimed item',
        ({ soup, bread }) => [{ ...soup, price_cents: soup.price_cents - 1 }, bread],
      ],
    ]
    const refused: typeof kinds = []
    for (const one of kinds) if ((await push(one[1])) === 409) refused.push(one)
    if (refused.length === 0) throw new NotChecked('No conflict occurred without the further change.')
    for (const [kind, items] of refused) {
      const status = await push(items, changes)
      must(status === 409, `A push that ${what} a check and ${kind} returned ${status}; expected 409.`)
    }
  })

/** @throws Broken unless a push is refused. */
async function requireRefused(
  target: Target,
  check: TrialCheck,
  what: string,
  items: readonly Item[],
): Promise<void> {
  const { status } = await target.ask('PUT', check.path, { json: target.body(check, items) })
  must(status >= 400 && status < 500, `${what} returned ${status}; expected a 4xx status.`)
}

/** Specification, section 4, rule 4, and section 7: claimed items are protected. */
export const conflicts: readonly ContractCase[] = [
  {
    ...rule(
      'added',
      'adding an item beside a claimed one is accepted',
      `${RULE}: only removal or a lower price is rejected`,
      added,
    ),
    control: updated,
  },
  rule(
    'removed',
    'removing a claimed item is 409',
    `${RULE}: the call is rejected with HTTP 409`,
    async (target) => {
      const { answer } = await conflicted(target)
      must(answer.status === 409, `The push returned ${answer.status}; expected 409.`)
    },
  ),
  rule(
    'cheaper',
    'lowering the price of a claimed item is 409',
    `${RULE}: the call is rejected with HTTP 409`,
    async (target) => {
      const { check, soup, bread } = await claimed(target)
      const less = soup.price_cents - 1
      await requireConflicts(target, check, [
        ['A push that lowers the price by a cent', [{ ...soup, price_cents: less }, bread]],
        ['A push that lowers the price to a cent', [{ ...soup, price_cents: 1 }, bread]],
        [
          'A push that lowers the price and doubles the quantity',
          [{ ...soup, price_cents: less, quantity: 2 }, bread],
        ],
      ])
      // Whether a price may be 0 is not shown, so any 4xx status passes.
      await requireRefused(target, check, 'A push that lowers the price to 0', [
        { ...soup, price_cents: 0 },
        bread,
      ])
    },
  ),
  rule(
    'raised_and_lowered',
    'lowering a raised price of a claimed item is 409',
    `${RULE}: the update decreases the price of an item`,
    async (target) => {
      const { check, soup, bread } = await claimed(target)
      const raised = { ...soup, price_cents: soup.price_cents + 50 }
      const { status } = await target.ask('PUT', check.path, { json: target.body(check, [raised, bread]) })
      if (!isSuccess({ status })) throw new NotChecked(`The service refuses a higher price (${status}).`)
      // A push may be applied later, and until then the lower price is a higher one.
      await ifPossible(
        target.eventually(
          () => entriesOf(target, check, soup),
          (entries) => holds(entries, raised.price_cents),
        ),
      )
      await requireConflicts(target, check, [
        [
          'A push that lowers the raised price, but not below that of the claim,',
          [{ ...raised, price_cents: raised.price_cents - 20 }, bread],
        ],
      ])
    },
  ),
  rule(
    'each_of_two',
    'each of two claimed items of a check is protected',
    `${RULE}: items that guests have already claimed`,
    async (target) => {
      const { check, soup, bread } = await claimed(target)
      await claim(target, check, bread)
      await requireConflicts(target, check, [
        ['A push that removes the item that was claimed first', [bread]],
        ['A push that removes the item that was claimed last', [soup]],
      ])
      // Whether a check may have no items is not shown, so any 4xx status passes.
      await requireRefused(target, check, 'A push that removes all items', [])
    },
  ),
  rule(
    'matched_by_id',
    'a claimed item under another external_id counts as removed',
    `${RULE}: the call is rejected with HTTP 409`,
    async (target) => {
      const { check, soup, bread } = await claimed(target)
      const other = { ...soup, external_id: check.item('soup2').external_id }
      await requireConflicts(target, check, [['The push', [other, bread]]])
    },
  ),
  rule(
    'kept',
    'a claim is still protected after other pushes',
    `${RULE}: items that guests have already claimed`,
    async (target) => {
      const { check, body, soup, bread } = await claimed(target)
      const wine = check.item('wine')
      const more = target.body(check, [soup, bread, wine])
      await target.push(check, body, more, more)
      await requireConflicts(target, check, [
        ['A removal after a replay and an addition', [bread, wine]],
        ['The second removal', [bread]],
        ['A lower price after two conflicts', [{ ...soup, price_cents: soup.price_cents - 1 }, bread]],
      ])
    },
  ),
  rule(
    'code',
    'the error code is conflict_with_paid_items',
    'section 7: 409 conflict_with_paid_items',
    async (target) => {
      const { answer } = await conflicted(target)
      requireConflict(answer)
      const seen = [answer.text, ...Object.values(answer.headers)].join(' ')
      const isNamed = /\bconflict_with_paid_items\b/.test(seen)
      must(isNamed, 'The response does not contain the code conflict_with_paid_items.')
    },
  ),
  rule(
    'unchanged',
    'a conflict leaves the check unchanged',
    `${RULE}: the existing check is left unchanged`,
    async (target) => {
      // Not the conflict of other cases: since then, its table may have been given to another check.
      const { check, twin, soup, bread, before, answer } = await conflict(target)
      requireConflict(answer)
      if (before instanceof NotChecked) throw before
      const [changed] = await changedByConflict(target, { check, twin }, before)
      must(changed === undefined, `After the conflict, GET returns another value at ${changed}.`)
      const all = [
        { ...soup, name: 'Dish x', note: 'no salt', price_cents: soup.price_cents - 1, quantity: 3 },
        { ...bread, name: 'Dish y', note: 'no salt', price_cents: bread.price_cents + 77, quantity: 2 },
        check.item('tea'),
      ]
      const second = await target.ask('PUT', check.path, { json: target.body(check, all, otherTable(check)) })
      if (isSuccess(second)) return
      const [also] = await changedByConflict(target, { check, twin }, before)
      must(
        also === undefined,
        `After a conflict that changes every field, GET returns another value at ${also}.`,
      )
    },
  ),
  rule(
    'order_unchanged',
    'a conflict does not make earlier pushes stale',
    `${RULE}: the existing check is left unchanged`,
    async (target) => {
      const { check, soup, bread } = await claimed(target)
      const all = [soup, bread, check.item('wine')]
      const [newer, newest] = [target.body(check, all), target.body(check, [bread])]
      requireConflict(await target.ask('PUT', check.path, { json: newest }))
      const { status } = await target.ask('PUT', check.path, { json: newer })
      const what = 'A push that is older than a refused one, but newer than the check,'
      must(isSuccess({ status }), `${what} returned ${status}; expected a 2xx status.`)
      await explained(target.shows(check, all, all), `${what} was not applied.`)
    },
    async (target) => {
      await updated(target)
      await added(target)
      await inOrder(target)
    },
  ),
  despite('closing', 'removing a claimed item while closing the check is 409', 'closes', () => ({
    status: 'closed',
  })),
  despite('moving', 'removing a claimed item while moving the check is 409', 'moves', otherTable),
  accepts('reordered', 'another order of the items is accepted', ({ soup, bread }) => [bread, soup]),
  accepts('unclaimed_removed', 'removing an item that no guest claimed is accepted', ({ soup }) => [soup]),
  accepts('unclaimed_cheaper', 'lowering the price of an unclaimed item is accepted', ({ soup, bread }) => [
    soup,
    { ...bread, price_cents: 250 },
  ]),
  accepts('dearer', 'raising the price of a claimed item is accepted', ({ soup, bread }) => [
    { ...soup, price_cents: soup.price_cents + 50 },
    bread,
  ]),
  accepts('renamed', 'renaming a claimed item is accepted', ({ soup, bread }) => [
    { ...soup, name: 'Dish x' },
    bread,
  ]),
  rule(
    'other_check',
    'an item of another check with the same external_id is not claimed',
    `${RULE}: items that guests have already claimed`,
    async (target) => {
      const { soup, bread } = await claimed(target)
      const other = target.freshCheck()
      const first = await target.ask('PUT', other.path, { json: target.body(other, [soup, bread]) })
      if (!isSuccess(first))
        throw new NotChecked(
          `The service refuses the external_id of an item of another check (${first.status}).`,
        )
      requireAccepted(await target.ask('PUT', other.path, { json: target.body(other, [bread]) }))
    },
  ),
  {
    group: 'conflicts',
    id: 'quantity',
    title: 'a quantity below the claimed quantity',
    section: `${RULE}: quantities are not defined`,
    async observe(target) {
      const { status } = await afterClaim(target, ({ soup, bread }) => [{ ...soup, quantity: 0.5 }, bread])
      return `returned ${status}`
    },
  },
]
