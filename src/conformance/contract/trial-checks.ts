import { isObject } from '../../model/validation.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { TRIAL_PREFIX } from '../../model/simulator/request-entry.ts'
import { isSuccess, NoAnswer, statusOf, type Ask, type ServiceResponse } from './ask.ts'
import { Broken, NotChecked, unlessNotChecked } from './outcome.ts'
import { fillBody, fillPath, type Profile } from './profile.ts'
import { at, isRemoved, itemLists, listsAt, type Entries } from './shape.ts'

/** An item of a push, with just the fields of the specification, section 2, and those of the profile. */
export interface Item {
  external_id: string
  name: string
  quantity: number
  price_cents: number
  note: string
}

/** A check that only this run pushes. */
export interface TrialCheck {
  /** Its external id. */
  id: string
  /** Counts the checks of the run from 1. */
  number: number
  /** The path of its push. */
  path: string
  /** An item whose external id no other check has, so that it can be found wherever the service names it. */
  item(name: string, changes?: Partial<Item>): Item
}

/** Pushes and reads the checks of one run. */
export interface TrialChecks {
  /** Returns a check that was not pushed yet. */
  freshCheck(): TrialCheck
  /** The body of a push of a check. With an ordering field, each body is newer than the one before. */
  body(check: Omit<TrialCheck, 'item'>, items: readonly Item[], changes?: object): object
  /** The same body at a place in the order, 1 being the oldest. @throws NotChecked without an ordering field. */
  ordered(body: object, place: number): object
  /** Writes the ordering field in another form from now on; false where none is left to try. */
  orderOtherwise(): boolean
  /** Numbers the tables from 1 from now on; false where that is so already. */
  numberTablesFrom1(): boolean
  /** Gives all checks from now on the table of this one. */
  shareTable(check: TrialCheck): void
  /**
   * Gives a new check the table of an earlier one from now on, which is closed before: a service may have few tables, and
   * allow one open check at each. False where that is so already, or where no check of this run is open at the table of `body`.
   */
  reuseTables(body?: object): boolean
  /** Wraps a function for requests, to know the open checks and to close one whose table is given to another. */
  withTables(ask: Ask): Ask
  /** Closes the checks at tables that are reused, since the next run needs these tables. Ignores failures. */
  freeTables(): Promise<void>
  /** Returns true when the service refused the first form, so that the present one is a guess. */
  isOrderGuessed(): boolean
  /** Pushes bodies one after the other. @throws Broken when one is refused. */
  push(check: TrialCheck, ...bodies: readonly object[]): Promise<void>
  /** The path where GET of the check is expected. */
  readPath(check: TrialCheck): string
  /**
   * Returns the answer to GET of the check.
   * @throws NotChecked when it cannot be read.
   */
  read(check: TrialCheck): Promise<unknown>
  /** Waits until the check has the expected ones of `items`. @throws Broken when it does not, NotChecked when it cannot be read. */
  shows(check: TrialCheck, items: readonly Item[], expected: readonly Item[]): Promise<void>
  /** The entries of an item in a check, unless they say that they are removed; `isAnswer` where GET answered the value. */
  entriesIn(value: unknown, item: Item, isAnswer?: boolean): readonly unknown[]
  /**
   * Polls `look` until `isThere` is true; `undefined` after `settleMs`.
   * @throws NotChecked when the check is not there until then, where others are.
   */
  eventually<T>(look: () => Promise<T>, isThere: (seen: T) => boolean): Promise<T | undefined>
}

interface TrialChecksOptions {
  ask: Ask
  profile: Profile
  /** Makes the names of this run unique. */
  token: string
  /** Time limit until GET shows a push, in milliseconds. */
  settleMs: number
}

/** Form of the ordering field: a whole number, a number as text, or a time with `Z` or `+00:00`. */
type OrderForm = 'integer' | 'string' | 'time' | 'offset'

/** The places of ordered pushes are 9, 10 and 11, so that a service that compares numbers as text is seen. */
const ORDERED_FROM = 8

/** Number of tables that are reused: more checks than a case reads. */
const REUSED_TABLES = 10

/** The path of a table's number in a push. */
const TABLE = 'table.number'

/** Ordering times lie in the past, since a service may refuse others. */
const HOUR_MS = 3_600_000

/** Between two looks at a check that does not yet show what was pushed, in milliseconds. */
const LOOK_AGAIN_MS = 100

/** Creates the checks of a run. Checks and bodies are numbered from 1. */
export function createTrialChecks({ profile, token, settleMs, ...options }: TrialChecksOptions): TrialChecks {
  const { paths = {}, fields = {} } = profile
  const { newest, ...ordering } = createOrdering(profile)
  const { tableOf, pushedTo, ...tables } = createTables(newest, options.ask)
  const ask = tables.withTables(options.ask)
  let isUnreadable = false
  /** True when GET has returned a check. */
  let hasRead = false
  /** Set when GET of a check got no answer. */
  let unanswered: NotChecked | undefined
  /** The names of lists that have shown the items as they were pushed, each time. */
  let listNames: readonly string[] | undefined
  let checks = 0

  const trial: TrialChecks = {
    ...ordering,
    ...tables,
    freshCheck() {
      const number = ++checks
      const id = `${TRIAL_PREFIX}${token}-${number}`
      return {
        id,
        number,
        path: `/checks/external/${id}`,
        item: (name, changes = {}) => ({
          external_id: `${name}-${token}-${number}`,
          name: `Dish ${name}`,
          quantity: 1,
          price_cents: 900,
          note: 'no onions',
          ...profile.item,
          ...changes,
        }),
      }
    },
    body({ id, number, path }, items, changes = {}) {
      const subtotal = items.reduce((sum, { price_cents, quantity }) => sum + price_cents * quantity, 0)
      const tax = Math.round(subtotal / 10)
      const totals = { subtotal_cents: subtotal, tax_cents: tax, total_cents: subtotal + tax }
      // A table of its own for each check, since a service may allow one open check per table.
      const table = { number: tableOf(number) }
      const more = fillBody(profile.push, { external_check_id: id }) as object | undefined
      const body = { table, status: 'open', items, totals, ...more }
      pushedTo(path, at(body, TABLE))
      return newest({ ...body, ...changes })
    },
    async push(check, ...all) {
      for (const json of all) {
        const answer = await ask('PUT', check.path, { json })
        if (!isSuccess(answer)) throw refusalOf(answer)
      }
    },
    readPath: (check) =>
      fillPath(paths.check ?? '/checks/external/{external_check_id}', { external_check_id: check.id }),
    async read(check) {
      const path = trial.readPath(check)
      if (unanswered !== undefined) throw unanswered
      const answer = await ask('GET', path).catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error
        // Each further one would take as long.
        unanswered = new NotChecked(
          `${error.message}. The specification does not define how to read a check.`,
        )
        throw unanswered
      })
      if (isSuccess(answer) && answer.json !== undefined) {
        hasRead = true
        return answer.json
      }
      if (hasRead && answer.status === 404) throw new Missing(path)
      throw new NotChecked(
        `GET ${path} returned ${answer.status}. The specification does not define how to read a check. Name the path with --profile (paths.check).`,
      )
    },
    async shows(check, items, expected) {
      let seen = ''
      let last: unknown
      const found = await trial.eventually(
        async () => {
          last = await readFresh(check)
          const compared = compare(last, items, expected)
          seen = compared.seen
          return compared.isSame
        },
        (isSame) => isSame,
      )
      if (found !== undefined) return
      // Somewhere, but in no list whose entries have them.
      const text = JSON.stringify(last)
      const areThere = expected.length > 0 && expected.every(({ external_id }) => text.includes(external_id))
      if (seen === namesOf([]) && listNames === undefined && areThere)
        throw new NotChecked(
          'The response of GET has the ids of the items, but no list of items by these ids. Name the fields with --profile (fields.items, fields.external_id).',
        )
      throw new Broken(`The items are ${seen}; expected ${namesOf(expected)}.`)
    },
    entriesIn(value, { external_id }, isAnswer = true) {
      const places = isAnswer ? fields : { external_id: fields.external_id }
      const lists = itemLists(value, [external_id], places)
      const names = namesIn(lists)
      return names.flatMap((name) => lists.get(name)?.get(external_id) ?? []).filter(isKept)
    },
    async eventually(look, isThere) {
      const deadline = performance.now() + settleMs
      for (;;) {
        const isLast = performance.now() >= deadline
        const seen = await look().catch((error: unknown) => {
          if (isLast || !(error instanceof Missing)) throw error
          return error
        })
        if (!(seen instanceof Missing) && isThere(seen)) return seen
        if (isLast) return undefined
        await sleep(LOOK_AGAIN_MS)
      }
    },
  }
  return trial

  /** Names the lists of items: those that showed the items so far, before that a list called `items`, or else any list. */
  function namesIn(lists: ReadonlyMap<string, Entries>): readonly string[] {
    return listNames ?? (lists.has('items') ? ['items'] : [...lists.keys()])
  }

  /**
   * Compares the items that a check shows with the expected ones. One list must match; others, such as a history, also hold
   * removed items.
   */
  function compare(check: unknown, items: readonly Item[], expected: readonly Item[]) {
    if (fields.items !== undefined && listsAt(check, fields.items) === undefined)
      throw new NotChecked(
        `The response of GET has no list at ${fields.items}. Correct fields.items of --profile, a path from the root of the response.`,
      )
    const lists = itemLists(
      check,
      items.map(({ external_id }) => external_id),
      fields,
    )
    const names = namesIn(lists)
    const shownIn = (name: string) => namesOf(foundIn(lists.get(name), items))
    const matching = names.filter((name) => shownIn(name) === namesOf(expected))
    const isSame = matching.length > 0 || (names.length === 0 && expected.length === 0)
    if (isSame && expected.length > 0) listNames = matching
    return { isSame, seen: names[0] === undefined ? namesOf([]) : shownIn(names[0]) }
  }

  /** Reads a check, and waits for one that was just pushed. Does not wait when no check could be read before. */
  async function readFresh(check: TrialCheck): Promise<unknown> {
    let seen: unknown
    await trial.eventually(
      async () => (seen = await unlessNotChecked(trial.read(check))),
      (one) => !(one instanceof NotChecked) || (isUnreadable && !(one instanceof Missing)),
    )
    if (seen instanceof Missing) throw new Broken(`A push was accepted, but ${seen.message}`)
    isUnreadable = seen instanceof NotChecked
    if (seen instanceof NotChecked) throw seen
    return seen
  }
}

/** Writes the ordering field of bodies, which stay as they are where there is none. */
function createOrdering(profile: Profile) {
  const order = orderingOf(profile)
  const started = Date.now()
  let isGuessed = false
  // From here on all have three digits, so that those of one check also follow one another as texts.
  let bodies = 100
  const stamped = (body: object, place: number): object => {
    if (order === undefined) return body
    const time = new Date(started - HOUR_MS + place * 1000).toISOString().replace(/\.\d+Z/, 'Z')
    const offset = time.replace('Z', '+00:00')
    const value = { integer: place, string: String(place), time, offset }[order.forms[0] ?? 'integer']
    return withField(body, order.field.split('.'), value)
  }
  return {
    /** Returns the body as one that is newer than all before. */
    newest: (body: object) => stamped(body, ++bodies),
    ordered(body: object, place: number) {
      if (order === undefined)
        throw new NotChecked(
          'The specification defines no field that orders pushes. Name the field of this service with --order-by.',
        )
      return stamped(body, ORDERED_FROM + place)
    },
    orderOtherwise() {
      if (order === undefined || order.forms.length < 2) return false
      order.forms.shift()
      isGuessed = true
      return true
    },
    isOrderGuessed: () => isGuessed,
  }
}

/** Gives each check a table. Where tables are reused, closes the check that was there before, by a body that `newest` makes. */
function createTables(newest: (body: object) => object, ask: Ask) {
  // A service may allow one open check per table, and checks of earlier runs stay open.
  let tablesFrom = 10_000 + (Date.now() % 800_000)
  let sharedTable: string | undefined
  let reusesTables = false
  /** The tables of checks, by their paths, and the latest check at each table, which may be closed or not. */
  const tables = new Map<string, unknown>()
  const latestAt = new Map<unknown, { path: string; body: object }>()
  const tableOf = (number: number) =>
    sharedTable ?? String(reusesTables ? 1 + ((number - 1) % REUSED_TABLES) : tablesFrom + number)
  const close = async (send: Ask, { path, body }: { path: string; body: object }) => {
    const { status } = await send('PUT', path, { json: newest({ ...body, status: 'closed' }) })
    latestAt.delete(at(body, TABLE))
    if (!isSuccess({ status }) && at(body, 'status') === 'open')
      throw new NotChecked(
        `The service has few tables, each with one open check, and refuses to close one (${status}).`,
      )
  }
  return {
    tableOf,
    /** Notes the table of the check that is pushed to a path. */
    pushedTo: (path: string, table: unknown) => void tables.set(path, table),
    numberTablesFrom1() {
      const isNew = tablesFrom > 0
      tablesFrom = 0
      return isNew
    },
    shareTable({ number }: TrialCheck) {
      sharedTable = tableOf(number)
    },
    reuseTables(body?: object) {
      const isNew = !reusesTables && (body === undefined || latestAt.has(at(body, TABLE)))
      reusesTables ||= isNew
      return isNew
    },
    withTables:
      (send: Ask): Ask =>
      async (method, path, sent) => {
        const { json } = sent ?? {}
        const table = at(json, TABLE)
        if (method !== 'PUT' || !isObject(json) || table === undefined) return send(method, path, sent)
        const before = [...latestAt].find(([, one]) => one.path === path)
        const other = latestAt.get(table)
        // A case may also push a check to the table of another one, and judges that.
        if (reusesTables && before === undefined && other !== undefined && tables.get(path) === table)
          await close(send, other)
        const answer = await send(method, path, sent)
        if (!isSuccess(answer)) return answer
        if (before !== undefined) latestAt.delete(before[0])
        latestAt.set(table, { path, body: json })
        return answer
      },
    async freeTables() {
      if (!reusesTables) return
      for (const one of latestAt.values()) await close(ask, one).catch(() => undefined)
    },
  }
}

/** A check that cannot be read, where others can. */
class Missing extends NotChecked {
  constructor(path: string) {
    super(`GET ${path} returned 404, while it returns other checks.`)
  }
}

/** The fields of a push that the specification shows. */
const SHOWN =
  /^(table|number|status|items?|external_id|name|quantity|price_cents|note|totals?|subtotal_cents|tax_cents|total_cents)$/
/** Words around the name of a field in an error. */
const COMMON = /^(is|are|was|be|field|fields|value|property|key|parameter|attribute|a|an|the|of|and|or)$/i

/** Words of a service that knows its tables, such as those with a QR code. The specification does not say which there are. */
const UNKNOWN_TABLE =
  /(unknown|no such|invalid|unrecogni[sz]ed|nonexistent)[\W_]+(the[\W_]+)?table|table[\W_]+(\S+\s+){0,3}(not[\W_]+found|unknown|does[\W_]+not[\W_]+exist|doesn.t[\W_]+exist)/i

/** Words of a service that allows one open check per table, at a table with a check of an earlier run or another client. */
const OCCUPIED_TABLE =
  /table[\W_]+([^\W_]+[\W_]+){0,4}(occupied|taken|busy|in[\W_]+use|not[\W_]+(free|available)|already|open)|(already|open|another)[\W_]+([^\W_]+[\W_]+){0,4}table|occupied/i

/**
 * Makes the error for a refused push. The specification does not show which fields are required. A service may require one
 * that this run does not push; then nothing can be judged until a profile names the field.
 */
function refusalOf(answer: ServiceResponse): Broken | NotChecked {
  const { status, text } = answer
  const seen = `A push returned ${statusOf(answer)}: ${text}`
  const named = [
    ...text.matchAll(/(\w+)\W*(?:is|are|was)?\W*(?:required|missing|must be (?:set|given|present))/gi),
    ...text.matchAll(/(?:required|requires|missing)\W*(?:fields?|property|key|parameter)?\W*(\w+)/gi),
  ].flatMap(([, name = '']) => (COMMON.test(name) ? [] : [name]))
  const isUnknown = named.some((name) => !SHOWN.test(name) && !/^\d/.test(name))
  if ((status === 400 || status === 422) && isUnknown && !named.some((name) => SHOWN.test(name)))
    return new NotChecked(`Name the fields that this service requires with --profile (push, item). ${seen}`)
  if (status >= 400 && status < 500 && UNKNOWN_TABLE.test(text))
    return new NotChecked(`Name a table of this service with --profile (push.table). ${seen}`)
  if (status >= 400 && status < 500 && OCCUPIED_TABLE.test(text))
    return new NotChecked(
      `The tables of this service have open checks. Close these, or name a free table with --profile (push.table). ${seen}`,
    )
  return new Broken(seen)
}

function isKept(entry: unknown): boolean {
  return !isRemoved(entry)
}

function foundIn(entries: Entries | undefined, items: readonly Item[]): Item[] {
  return items.filter(({ external_id }) => entries?.get(external_id)?.some(isKept))
}

/** Returns a copy with a value at a path of property names. */
function withField(body: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  if (rest.length === 0) return { ...body, [name]: value }
  const inside: unknown = Reflect.get(body, name)
  return { ...body, [name]: withField(isObject(inside) ? inside : {}, rest, value) }
}

/** Returns the field that orders pushes, and the forms that its values may have, most likely first. */
function orderingOf({ order_by }: Profile): { field: string; forms: OrderForm[] } | undefined {
  if (order_by === undefined) return undefined
  const times: OrderForm[] = ['time', 'offset']
  if (typeof order_by !== 'string')
    return { field: order_by.field, forms: order_by.type === 'time' ? times : [order_by.type] }
  const isTime = /(_at|_on|time|date|timestamp)$/i.test(order_by)
  const numbers: OrderForm[] = ['integer', 'string']
  return { field: order_by, forms: isTime ? [...times, ...numbers] : [...numbers, ...times] }
}

function namesOf(items: readonly Item[]): string {
  const names = items.map(({ external_id }) => external_id.split('-')[0] ?? '').sort()
  return names.length === 0 ? 'none' : names.join(', ')
}
