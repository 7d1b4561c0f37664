import { setNewest } from '../../model/bounded-map.ts'
import { plainName } from '../../findings/finding.ts'
import { duplicateCheck, itemOnTwoChecks, paidNotClosed, type Finding } from '../../findings/index.ts'
import { checkKey, type CheckItem, type StoredCheck } from '../../model/check.ts'
import { isFullyPaid, roundToThousandths } from '../../model/guests/claimed-items.ts'
import type { SavedWatch } from '../../model/simulator/bundle.ts'
import type { Service } from '../../service.ts'
import type { RequestEntry } from '../request-context.ts'
import { type ReportedRequest, reportedRequest } from './push-sequence.ts'

/** Finds mistakes that several checks or the clock show, not one push (contract section 11). */
interface CheckWatch {
  /** Adds the next request. */
  follow(entry: RequestEntry): void
  /** Findings that hold at a time of the service clock, each with the request of the push that shows it. */
  open(at: Date): { request: ReportedRequest; finding: Finding }[]
  /** `indexOf` returns the index of a check in the saved log. */
  save(indexOf: (check: StoredCheck) => number): SavedWatch
  /** Takes current checks, oldest first, whose changes the watch has not seen. */
  catchUp(checks: readonly StoredCheck[]): void
  clear(): void
  /** Ends following the service. */
  close(): void
}

/** A saved watch, and the checks that it refers to by index. */
interface WatchToContinue {
  watch: SavedWatch
  checks: readonly StoredCheck[]
}

/** Limits of watched checks, item ids, and pairs of checks with equal items. The oldest are dropped. */
const KEEP = { checks: 1_000, items: 20_000, pairs: 1_000 }

/** Most checks that are stored per item id. An id of more checks is an id of a menu, or numbered within each check. */
const MOST_CHECKS = 3

/** Fewest equal items that show that a sender moved the items of one check to another. */
const FEWEST_ITEMS = 2

/** Ids that senders number within each check: `1`, `12`, `line-3`. */
const POSITION = /^[a-z]*[-_ ]?\d{1,4}$/i

/** The number of a line within its check, at the end of an id: `plu-1001-2`, `burger#2`. */
const LINE_NUMBER = /[^a-z\d]\d{1,4}$/i

interface Watched {
  /** The check after its newest push. */
  check: StoredCheck
  request: ReportedRequest
}

interface Pair {
  key: string
  other: string
  ids: readonly string[]
  request: ReportedRequest
}

/** Follows the commits of `service`, and continues a saved watch. */
export function createCheckWatch(service: Pick<Service, 'onCommit'>, saved?: WatchToContinue): CheckWatch {
  const checks = new Map<string, Watched>()
  /** The newest state of checks. In a shared sandbox, another request may be committed before this one arrives here. */
  const newest = new Map<string, StoredCheck>()
  /** By location and item id. */
  const items = new Map<string, WatchedItem>()
  /** By location, name and price: products of items. */
  const products = new Map<string, Product>()
  const pairs = new Map<string, Pair>()
  /** When each check that is open and fully paid became so. */
  const unclosed = new Map<string, Date>()
  /** Shapes of ids, by location, that a sender uses again: an id named two items, or stayed on a closed check. */
  const reused = new Set<string>()
  if (saved !== undefined) restore(saved)

  function restore({ watch, checks: known }: WatchToContinue): void {
    for (const { key, check: index, request } of watch.checks) {
      const check = known[index]
      if (check !== undefined) checks.set(key, { check, request })
    }
    for (const { key, name, checks: on, lowered = [] } of watch.items) {
      const quantities = lowered.map(({ check, quantity }) => [check, quantity] as const)
      items.set(key, { name, on: new Set(on), lowered: new Map(quantities) })
    }
    for (const { key, ids, are_lines: areLines } of watch.products)
      products.set(key, { ids: new Set(ids), areLines })
    for (const pair of watch.pairs) pairs.set(`${pair.key}\n${pair.other}`, pair)
    for (const { key, since } of watch.unclosed) unclosed.set(key, new Date(since))
    for (const shape of watch.reused) reused.add(shape)
  }

  /**
   * Indexes an item that is new on a check, and returns the other checks that had it. A check whose quantity was lowered
   * by that of the item before gave it away: the line was split.
   */
  function index({ external_id, name, quantity }: CheckItem, key: string, location: string): string[] {
    const id = `${location}\n${external_id}`
    const known = items.get(id) ?? { name, on: new Set(), lowered: new Map() }
    const others = [...known.on].filter((other) => other !== key)
    const isOnClosed = others.some((other) => {
      const check = checks.get(other)?.check
      return check?.status === 'closed' && check.items.some((item) => item.external_id === external_id)
    })
    const isRenamed = known.name !== name && plainName(known.name) !== plainName(name)
    if (isOnClosed || (others.length > 0 && isRenamed)) reused.add(shapeOf(external_id, location))
    if (known.on.size < MOST_CHECKS) known.on.add(key)
    setNewest(items, id, known, KEEP.items)
    if (known.on.size >= MOST_CHECKS) return []
    return others.filter((other) => (known.lowered.get(other) ?? 0) < quantity)
  }

  /** Stores by how much a push lowers the quantities of items, which may go to another check. */
  function indexLowered(key: string, check: StoredCheck, before: ReadonlyMap<string, number>): void {
    for (const { external_id, quantity } of check.items) {
      const earlier = before.get(external_id) ?? quantity
      const known = earlier === quantity ? undefined : items.get(`${check.location_id}\n${external_id}`)
      if (known === undefined || !known.on.has(key)) continue
      const lowered = roundToThousandths((known.lowered.get(key) ?? 0) + earlier - quantity)
      if (lowered > 0) known.lowered.set(key, lowered)
      else known.lowered.delete(key)
    }
  }

  /**
   * Indexes the products that are new on a check. When all ids of a product differ from those of other checks, its ids
   * name lines. The ids of a menu would recur, also with a number of the line.
   */
  function indexProducts(added: readonly CheckItem[], before: StoredCheck | null, location: string): void {
    const idsByProduct = new Map<string, string[]>()
    for (const { name, price_cents, external_id } of added) {
      if (before?.items.some((item) => item.name === name && item.price_cents === price_cents) === true)
        continue
      const product = productOf({ name, price_cents }, location)
      idsByProduct.set(product, [...(idsByProduct.get(product) ?? []), external_id.replace(LINE_NUMBER, '')])
    }
    for (const [product, ids] of idsByProduct) {
      const known = products.get(product)
      if (known?.areLines === true) continue
      const areLines = known !== undefined && !ids.some((id) => known.ids.has(id))
      const all = [...ids, ...(known?.ids ?? [])].slice(0, MOST_IDS)
      setNewest(products, product, { ids: new Set(all), areLines }, KEEP.items)
    }
  }

  function compare(key: string, { check, request }: Watched, before: StoredCheck | null): void {
    const had = new Map(before?.items.map(({ external_id, quantity }) => [external_id, quantity]))
    indexLowered(key, check, had)
    const added = check.items.filter((item) => !had.has(item.external_id) && !POSITION.test(item.external_id))
    // Most pushes change no item, or one.
    if (added.length === 0) return
    const shared = new Map<string, string[]>()
    indexProducts(added, before, check.location_id)
    for (const item of added)
      for (const other of index(item, key, check.location_id))
        shared.set(other, [...(shared.get(other) ?? []), item.external_id])
    for (const [other, ids] of shared)
      if (ids.length >= FEWEST_ITEMS)
        setNewest(pairs, `${key}\n${other}`, { key, other, ids, request }, KEEP.pairs)
  }

  function findingOf({ key, other, ids }: Pair): Finding | undefined {
    const [one, two] = [checks.get(key)?.check, checks.get(other)?.check]
    if (one?.status !== 'open' || two?.status !== 'open') return undefined
    const theirs = new Map(two.items.map((item) => [item.external_id, item]))
    const same = one.items.filter((item) => {
      const twin = theirs.get(item.external_id)
      const isSame = twin?.name === item.name && twin.price_cents === item.price_cents
      return isSame && ids.includes(item.external_id) && isOnce(item, one.location_id)
    })
    const areLines = same.some((item) => products.get(productOf(item, one.location_id))?.areLines)
    if (same.length < FEWEST_ITEMS || !areLines) return undefined
    return duplicateCheck(one, two) ?? itemOnTwoChecks(one, two, same)
  }

  function isOnce({ external_id }: CheckItem, location: string): boolean {
    if (reused.has(shapeOf(external_id, location))) return false
    return (items.get(`${location}\n${external_id}`)?.on.size ?? 0) < MOST_CHECKS
  }

  function committed(check: StoredCheck): void {
    const key = checkKey(check)
    setNewest(newest, key, check, KEEP.checks)
    // The inspector pushes checks too.
    const watched = checks.get(key)
    if (watched !== undefined) watched.check = check
    const isUnclosed = check.status === 'open' && isFullyPaid(check)
    if (!isUnclosed) unclosed.delete(key)
    else if (!unclosed.has(key)) setNewest(unclosed, key, new Date(check.updated_at), KEEP.checks)
  }

  const close = service.onCommit((writes) => {
    for (const write of writes) if (write.collection === 'checks' && 'put' in write) committed(write.put)
  })

  function unclosedFindings(at: Date) {
    return [...unclosed].flatMap(([key, paidAt]) => {
      const watched = checks.get(key)
      return watched === undefined
        ? []
        : withRequest(watched.request, paidNotClosed(watched.check.external_id, paidAt, at))
    })
  }

  return {
    follow(entry) {
      const { push } = entry
      const check = push?.after
      if (push === null || check === null || check === undefined) return
      const key = checkKey(check)
      const isApplied = push.outcome === 'created' || push.outcome === 'updated'
      if (!isApplied) return
      const request = reportedRequest(entry)
      const watched = { check, request }
      setNewest(checks, key, watched, KEEP.checks)
      compare(key, watched, push.before)
      watched.check = newest.get(key) ?? check
    },
    open: (at) => [
      ...[...pairs.values()].flatMap((pair) => withRequest(pair.request, findingOf(pair))),
      ...unclosedFindings(at),
    ],
    save: (indexOf) => ({
      checks: Array.from(checks, ([key, { check, request }]) => ({ key, check: indexOf(check), request })),
      items: Array.from(items, ([key, { name, on, lowered }]) => ({
        key,
        name,
        checks: [...on],
        ...(lowered.size > 0 && {
          lowered: Array.from(lowered, ([check, quantity]) => ({ check, quantity })),
        }),
      })),
      products: Array.from(products, ([key, { ids, areLines }]) => ({
        key,
        ids: [...ids],
        are_lines: areLines,
      })),
      pairs: [...pairs.values()],
      unclosed: Array.from(unclosed, ([key, since]) => ({ key, since: since.toISOString() })),
      reused: [...reused],
    }),
    catchUp(all) {
      for (const check of all) committed(check)
    },
    clear() {
      for (const each of [checks, newest, items, products, pairs, unclosed, reused]) each.clear()
    },
    close,
  }
}

/** Most ids that are stored per product. */
const MOST_IDS = 100

interface WatchedItem {
  name: string
  /** Keys of the checks that had it. */
  on: Set<string>
  /** By the key of a check: by how much its pushes lowered the quantity. */
  lowered: Map<string, number>
}

/** Items of one name and price. */
interface Product {
  /** Ids of such items without the numbers of lines, newest first. */
  ids: ReadonlySet<string>
  /** True once all ids of the product on a check were new: they name lines. */
  areLines: boolean
}

/** Returns an id with `#` for its numbers: ids of one sender have few shapes. */
function shapeOf(external_id: string, location: string): string {
  return `${location}\n${external_id.replace(/[a-f]*\d[\da-f]*/gi, '#')}`
}

function productOf({ name, price_cents }: Pick<CheckItem, 'name' | 'price_cents'>, location: string): string {
  return `${location}\n${name}\n${price_cents}`
}

function withRequest(request: ReportedRequest, finding: Finding | undefined) {
  return finding === undefined ? [] : [{ request, finding }]
}
