import { parsePush, sameContent, type OrderedPush } from '../../../model/check.ts'
import { isLater } from '../../../model/revision.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { ValidationIssue } from '../../../model/validation.ts'
import { CommandError, exitCodes } from '../../errors.ts'
import { withoutByteOrderMark } from '../../files/input.ts'

/** A push to explore around. */
interface GivenPush {
  /** The file that holds it; of an array, with the number of the element. */
  name: string
  body: Record<string, unknown>
  push: OrderedPush
}

/** The pushes of one check, in their order. */
export interface History {
  /** Name of the check in scenarios: its external id. */
  check: string
  pushes: readonly GivenPush[]
}

/** A push as it was read. */
interface ReadPush {
  id: string
  name: string
  body: string
}

/** Groups pushes by their check. @throws CommandError (usage) for a push that the service would refuse. */
export function historiesOf(pushes: readonly ReadPush[], orderBy: string): History[] {
  const histories = new Map<string, GivenPush[]>()
  for (const { id, name, body } of pushes) {
    const list = histories.get(id) ?? []
    list.push(givenPush(name, body, orderBy))
    histories.set(id, list)
  }
  return [...histories].map(([check, list]) => ({ check, pushes: list }))
}

function givenPush(name: string, text: string, orderBy: string): GivenPush {
  const refused = (code: string, message: string) =>
    new CommandError(code, `${name}: ${message}`, exitCodes.usage)
  let json: unknown
  try {
    json = JSON.parse(withoutByteOrderMark(text))
  } catch (error) {
    throw refused('invalid_json', `400 invalid_json: ${(error as Error).message}.`)
  }
  try {
    const push = parsePush(json, { orderBy })
    const { $schema: _schema, ...body } = json as Record<string, unknown>
    return { name, body, push }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const issues = (error.details.issues ?? []) as readonly ValidationIssue[]
    const described = issues.map(({ path, message }) => `${path} ${message}`).join('; ')
    throw refused(error.code, `422 ${error.code}: ${described === '' ? error.message : `${described}.`}`)
  }
}

/** Returns true when all pushes carry the field that orders them. Only then may a late one arrive without an effect. */
export function isOrdered({ pushes }: History): boolean {
  return pushes.every(({ push }) => push.revision !== undefined)
}

/**
 * Returns the earlier push whose content a push repeats although another content came between them: a stale state under
 * a new revision. A void removes an item from the newest state, and so gives a content that was not there before.
 */
export function repeatedBy({ pushes }: History, index: number): number | undefined {
  const repeat = pushes[index]
  if (repeat === undefined) return undefined
  const isSame = (other: GivenPush) => sameContent(other.push, repeat.push)
  const between = pushes.slice(0, index).findLastIndex((other) => !isSame(other) && isBefore(other, repeat))
  const earlier = pushes.slice(0, Math.max(between, 0)).findLastIndex(isSame)
  return earlier < 0 ? undefined : earlier
}

function isBefore({ push: { revision: one } }: GivenPush, { push: { revision: other } }: GivenPush): boolean {
  return one === undefined || other === undefined || isLater(other, one)
}
