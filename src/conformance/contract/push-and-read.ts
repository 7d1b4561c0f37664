import { field } from './ask.ts'
import { Broken, must, NotChecked } from './seen.ts'
import { isSuccess, type Site } from './site.ts'

/** Pushes one state after the other, and returns what the last was answered. @throws Broken when one is refused. */
export async function pushAll(
  { ask }: Pick<Site, 'ask'>,
  path: string,
  bodies: readonly unknown[],
): Promise<unknown> {
  let last: unknown
  for (const json of bodies) {
    const answer = await ask('PUT', path, { json })
    must(isSuccess(answer), `A push was answered ${answer.status}: ${answer.text.slice(0, 200)}`)
    last = answer.json
  }
  return last
}

/** The check as `GET` tells it, or `undefined` where it does not: how a check is read is not shown. */
export async function read({ ask }: Pick<Site, 'ask'>, path: string): Promise<unknown> {
  const answer = await ask('GET', path)
  return isSuccess(answer) ? answer.json : undefined
}

/** The check as `GET` tells it. @throws NotChecked where it does not. */
export async function readable(site: Pick<Site, 'ask'>, path: string): Promise<unknown> {
  const check = await read(site, path)
  if (check !== undefined) return check
  throw new NotChecked(
    'The check cannot be read with GET at the path of the push, which the specification does not show.',
  )
}

/** Which items a check has, in words. @throws Broken when it has no list of them. */
export function itemsOf(check: unknown): string {
  const items = field(check, 'items')
  if (!Array.isArray(items)) throw new Broken('The check has no items.')
  const ids = items.map((one) => String(field(one, 'external_id'))).sort()
  return ids.length === 0 ? 'none' : ids.join(', ')
}
