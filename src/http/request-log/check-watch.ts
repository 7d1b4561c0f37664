import { duplicateCheck, itemOnTwoChecks, paidNotClosed, type Finding } from '../../findings/index.ts'
import { checkKey, type CheckItem, type StoredCheck } from '../../model/check.ts'
import { isFullyPaid } from '../../model/guests/claimed-items.ts'
import type { Service } from '../../service.ts'
import type { RequestEntry } from '../request-context.ts'
import type { Seen } from './push-sequence.ts'

/** Finds mistakes that several checks or the clock show, not one push (contract section 11). */
export interface CheckWatch {
  /** Adds the next request. */
  follow(entry: RequestEntry): void
  /** Findings that hold now, each with the request of the push that shows it. */
  open(): { request: Seen; finding: Finding }[]
  clear(): void
}

/** Limits of watched checks, item ids, and pairs of checks with equal items. The oldest are dropped. */
const KEEP = { checks: 1_000, items: 20_000, pairs: 1_000 }

/** Fewest equal items that show that a sender moved the items of one check to another. */
const FEWEST_ITEMS = 2

/** Ids that senders number within each check: `1`, `12`, `line-3`. */
const POSITION = /^[a-z]*[-_ ]?\d{1,4}$/i

interface Watched {
  /** The check after its newest push. */
  check: StoredCheck
  request: Seen
}

interface Pair {
  key: string
  other: string
  ids: readonly string[]
  request: Seen
}

/** `service` has the current checks and payments; `now` is the service's clock. */
export function createCheckWatch(service: Pick<Service, 'onCommit'>, now: () => Date): CheckWatch {
  const checks = new Map<string, Watched>()
  /** By item id: the item's name, and the keys of the checks that had it. */
  const items = new Map<string, { name: string; on: Set<string> }>()
  /** By name and price: the id of such an item, or `several`. */
  const products = new Map<string, string>()
  const pairs = new Map<string, Pair>()
  /** When each check that is open and fully paid became so. */
  const unclosed = new Map<string, Date>()
  /** True once an id named different items on two checks: the sender numbers the items of each check. */
  let isNumbering = false

  /** Indexes an item that is new on a check, and returns the other checks that had it. */
  function index({ external_id, name, price_cents }: CheckItem, key: string): string[] {
    const known = items.get(external_id) ?? { name, on: new Set() }
    const others = [...known.on].filter((other) => other !== key)
    if (known.name !== name && others.length > 0) isNumbering = true
    known.on.add(key)
    renew(items, external_id, known, KEEP.items)
    const product = `${name}\n${price_cents}`
    const id = products.get(product)
    renew(products, product, id === undefined || id === external_id ? external_id : SEVERAL, KEEP.items)
    return others
  }

  function compare(key: string, { check, request }: Watched, before: StoredCheck | null): void {
    const had = new Set(before?.items.map(({ external_id }) => external_id))
    const shared = new Map<string, string[]>()
    for (const item of check.items) {
      if (had.has(item.external_id) || POSITION.test(item.external_id)) continue
      for (const other of index(item, key))
        shared.set(other, [...(shared.get(other) ?? []), item.external_id])
    }
    for (const [other, ids] of shared)
      if (ids.length >= FEWEST_ITEMS)
        renew(pairs, `${key}\n${other}`, { key, other, ids, request }, KEEP.pairs)
  }

  function findingOf({ key, other, ids }: Pair): Finding | undefined {
    const [one, two] = [checks.get(key)?.check, checks.get(other)?.check]
    if (isNumbering || one?.status !== 'open' || two?.status !== 'open') return undefined
    const theirs = new Map(two.items.map((item) => [item.external_id, item]))
    const same = one.items.filter((item) => {
      const twin = theirs.get(item.external_id)
      return (
        ids.includes(item.external_id) && twin?.name === item.name && twin.price_cents === item.price_cents
      )
    })
    // The ids of a menu are one to one with its products; ids of lines are not.
    const areLines = same.some((item) => products.get(`${item.name}\n${item.price_cents}`) === SEVERAL)
    if (same.length < FEWEST_ITEMS || !areLines) return undefined
    return duplicateCheck(one, two) ?? itemOnTwoChecks(one, two, same)
  }

  service.onCommit((writes) => {
    for (const write of writes) {
      if (write.collection !== 'checks' || !('put' in write)) continue
      const key = checkKey(write.put)
      if (!isUnclosed(write.put)) unclosed.delete(key)
      else if (!unclosed.has(key)) renew(unclosed, key, new Date(write.put.updated_at), KEEP.checks)
    }
  })

  function unclosedFindings() {
    return [...unclosed].flatMap(([key, paidAt]) => {
      const watched = checks.get(key)
      return watched === undefined
        ? []
        : shown(watched.request, paidNotClosed(watched.check.external_id, paidAt, now()))
    })
  }

  return {
    follow({ id, method, path, status, started_at, push }) {
      const check = push?.after
      if (push === null || check === null || check === undefined) return
      const key = checkKey(check)
      const isApplied = push.outcome === 'created' || push.outcome === 'updated'
      if (!isApplied) return
      const watched = { check, request: { id, method, path, status, started_at } }
      renew(checks, key, watched, KEEP.checks)
      compare(key, watched, push.before)
    },
    open: () => [
      ...[...pairs.values()].flatMap((pair) => shown(pair.request, findingOf(pair))),
      ...unclosedFindings(),
    ],
    clear() {
      for (const map of [checks, items, products, pairs, unclosed]) map.clear()
      isNumbering = false
    },
  }
}

function isUnclosed({ status, paid_cents, balance_cents }: StoredCheck): boolean {
  return status === 'open' && isFullyPaid({ paid_cents, balance_cents })
}

/** Marks a name and price that several ids have. Ids are never empty. */
const SEVERAL = ''

function shown(request: Seen, finding: Finding | undefined) {
  return finding === undefined ? [] : [{ request, finding }]
}

/** Sets an entry as the newest of a map, and drops the oldest one above the limit. */
function renew<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= limit) return
  const [oldest = ''] = map.keys()
  map.delete(oldest)
}
