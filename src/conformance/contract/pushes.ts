import { isSuccess, type NoAnswer } from './ask.ts'
import { Broken, NotChecked } from './outcome.ts'
import { at } from './shape.ts'
import type { Target } from './target.ts'
import type { Item, TrialCheck } from './trial-checks.ts'

/**
 * Pushes a check with the fields of the specification. @throws Broken when it is refused, NotChecked when the service
 * accepts a body that is not JSON as well, so that accepting means nothing.
 */
export function accepted(target: Target): Promise<void> {
  return target.once('accepted', async () => {
    const check = target.freshCheck()
    const items = [check.item('a'), check.item('b', { price_cents: 700 })]
    let isRenumbered = false
    const push = (): Promise<void> => {
      const body = target.body(check, items)
      return target.push(check, body).catch((error: unknown) => {
        // Numbers of tables may be limited, as may checks at a table; the form of the ordering field is not shown.
        isRenumbered = target.numberTablesFrom1()
        if (!isRenumbered && !target.reuseTables(body) && !target.orderOtherwise()) throw error
        return push()
      })
    }
    await push()
    // A service may know the tables of a restaurant alone, which has fewer than a run has checks.
    if (isRenumbered) {
      const other = target.freshCheck()
      const table = { table: at(target.body(check, items), 'table') }
      const sharing = target.body(other, [other.item('a')], table)
      if (isSuccess(await target.ask('PUT', other.path, { json: sharing }))) target.shareTable(check)
      else target.reuseTables()
    }
    const broken = await target.ask('PUT', target.freshCheck().path, { body: '{' })
    const keyless = await target.ask('PUT', target.freshCheck().path, { body: '{', authorization: null })
    if (isSuccess(broken) && isSuccess(keyless))
      throw new NotChecked('The service accepts a push without JSON and key, so acceptance proves nothing.')
  })
}

/** Makes `accepted` reject for a push without a response: each case that depends on it would wait as long. */
export function givePushesUp(target: Target, { reason }: NoAnswer): Promise<void> {
  const broken = new Broken(`A push got no response: ${reason}.`)
  return target.once('accepted', () => Promise.reject(broken)).catch(() => undefined)
}

/** Pushes two items, then one other. @throws Broken when the check is not the second push, NotChecked when it cannot be read. */
export function replaced(target: Target): Promise<void> {
  return target.once('replaced', async () => {
    const check = target.freshCheck()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
    await target.push(check, target.body(check, [a, b]))
    await target.shows(check, [a, b, c], [a, b])
    await target.push(check, target.body(check, [c]))
    await target.shows(check, [a, b, c], [c])
  })
}

/** Beyond ASCII, Latin-1 and the basic plane, and a slash, which some escape: a signature over other bytes is seen. */
const TEXT = 'à la crème 🍣 1/2'

/**
 * Pushes a new check with one item whose note has such text, or a plain one where the service refuses it: which texts are
 * allowed is not shown. @throws Broken when the plain one is refused, too.
 */
export async function pushText(target: Target, check: TrialCheck): Promise<{ item: Item; body: object }> {
  const plain = check.item('a')
  const item = { ...plain, note: TEXT }
  const body = target.body(check, [item])
  if (isSuccess(await target.ask('PUT', check.path, { json: body }))) return { item, body }
  const plainBody = target.body(check, [plain])
  await target.push(check, plainBody)
  return { item: plain, body: plainBody }
}

/** Pushes a new check with one item, and waits until GET shows it. */
export async function pushed(target: Target): Promise<[TrialCheck, Item]> {
  const check = target.freshCheck()
  const item = check.item('a')
  await target.push(check, target.body(check, [item]))
  await target.shows(check, [item], [item])
  return [check, item]
}

/** @throws NotChecked when the service refuses the push, whose content the specification does not show. */
export async function pushIfAllowed(
  target: Target,
  check: TrialCheck,
  json: object,
  what: string,
): Promise<void> {
  const { status } = await target.ask('PUT', check.path, { json })
  if (!isSuccess({ status })) throw new NotChecked(`The service refuses ${what} (${status}).`)
}

/** Returns another table for a push that moves a check; no other check of the run has its number. */
export function otherTable({ number }: TrialCheck): { table: { number: string } } {
  return { table: { number: String(1_000_000 + number) } }
}
