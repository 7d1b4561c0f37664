import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../model/check.ts'
import type { PaymentView } from '../../model/guests/records.ts'
import { createStateReader, NotJudged, type StateSource } from './convergence/state-view.ts'
import {
  isList,
  isObject,
  type Json,
  noView,
  parseView,
  partOf,
  sortedJson,
  type View,
} from './convergence/view.ts'

/** A value that the receiver shows, and the one that the service has. */
export interface Disagreement {
  /** Path in the receiver's view, such as `lines[].qty`. */
  path: string
  /** Name of the fact, such as `items[].quantity`. */
  fact: string
  expected: unknown
  actual: unknown
}

/** Compares the receiver's view of a check with the service. */
export interface Agreement {
  /**
   * Learns which values of the view show which facts, from checks that the receiver got in order, once and completely.
   * @throws NotJudged when the view shows no fact of a check.
   */
  learn(examples: readonly KnownCheck[]): Promise<void>
  /** Paths of the view that are compared. */
  paths(): string[]
  /** Returns the values that differ; a receiver may work after its answer, so a difference is read again for a while. */
  differences(known: KnownCheck, timeoutMs?: number): Promise<Disagreement[]>
  close(): Promise<void>
}

/** How long an example must stay the same to be final, and the longest wait for it, in milliseconds. */
const QUIET_MS = 200
const LIMIT_MS = 5_000
/** Time between two requests for a view, in milliseconds. */
const INTERVAL_MS = 20
/** Time for a view to agree, in milliseconds, beside a multiple of the time that examples took. */
const TIMEOUT_MS = 60

export function createAgreement(source: StateSource, signal: AbortSignal): Agreement {
  const reader = createStateReader(source, signal)
  /** Names of the facts that a path shows. */
  let shown = new Map<string, string[]>()
  let lagMs = 0

  async function viewOf({ check, payments }: KnownCheck): Promise<View> {
    const { id: check_id, external_id: external_check_id } = check
    const body = await reader.read({ check_id, external_check_id })
    if (body === undefined) return noView
    const names = new Map([
      [check_id, '{check 1}'],
      [external_check_id, '{external check 1}'],
      ...payments.map(({ id }, at): [string, string] => [id, `{payment ${at + 1}}`]),
    ])
    const view = parseView(body, names)
    return source.isPerCheck ? view : partOf(view, noView)
  }

  /** Reads until there is a view that stays the same. Returns it with the time of its last change. */
  async function finalView(known: KnownCheck) {
    const started = performance.now()
    let view = await viewOf(known)
    let changedMs = 0
    for (;;) {
      const elapsedMs = performance.now() - started
      if (view.kind !== 'none' && elapsedMs - changedMs >= QUIET_MS) return { view, changedMs }
      if (elapsedMs >= LIMIT_MS) return { view, changedMs: 0 }
      await sleep(INTERVAL_MS, undefined, { signal })
      const next = await viewOf(known)
      if (JSON.stringify(next) !== JSON.stringify(view)) changedMs = performance.now() - started
      view = next
    }
  }

  return {
    async learn(examples) {
      const seen: { values: Values; facts: Values }[] = []
      for (const known of examples) {
        const { view, changedMs } = await finalView(known)
        if (view.kind === 'none') throw new NotJudged(NOTHING)
        if (view.kind === 'text') throw new NotJudged(NO_JSON)
        lagMs = Math.max(lagMs, changedMs)
        seen.push({ values: valuesOf(view, known), facts: factsOf(known) })
      }
      const paths = new Set(seen.flatMap(({ values }) => [...values.keys()]))
      const facts = [...(seen[0]?.facts.keys() ?? [])]
      const shows = (path: string, fact: string) =>
        seen.every((one) => sameValues(one.values.get(path), one.facts.get(fact)))
      shown = new Map(
        [...paths].flatMap((path) => {
          const known = facts.filter((fact) => shows(path, fact))
          const isSomethingElse =
            namesakes.has(lastName(path)) && !known.some((fact) => lastName(fact) === lastName(path))
          return known.length === 0 || isSomethingElse ? [] : [[path, known] as const]
        }),
      )
      if (shown.size === 0) throw new NotJudged(NO_FACT)
    },
    paths: () => [...shown.keys()],
    async differences(known, timeoutMs = TIMEOUT_MS + 4 * lagMs) {
      const started = performance.now()
      const facts = factsOf(known)
      for (;;) {
        const values = valuesOf(await viewOf(known), known)
        const found = [...shown].flatMap(([path, names]): Disagreement[] => {
          const actual = values.get(path)
          if (names.some((name) => sameValues(actual, facts.get(name)))) return []
          const [fact = ''] = names
          return [{ path, fact, expected: plain(facts.get(fact)), actual: plain(actual) }]
        })
        if (found.length === 0 || performance.now() - started >= timeoutMs) return found
        await sleep(INTERVAL_MS, undefined, { signal })
      }
    },
    close: () => reader.close(),
  }
}

/**
 * Names that a receiver takes from the check. Such a field is never taken for another fact: a balance that is stored as
 * `check.*` events show it, which do not follow a partial payment, equals the total of every example.
 */
const namesakes: ReadonlySet<string> = new Set([
  'balance_cents',
  'paid_cents',
  'total_cents',
  'subtotal_cents',
  'tax_cents',
])

/** Returns the last name of a path or a fact: `balance_cents` of `check.balance_cents`. */
function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

/** One value stands for itself. */
function plain(values: readonly unknown[] = []): unknown {
  return values.length > 1 ? values : values[0]
}

const NOTHING =
  'The response of --state-url shows nothing of a check that the receiver got: it is 404, 204 or empty. Check the path and its {external_check_id} or {check_id}.'
const NO_JSON =
  'The response of --state-url is not JSON. Pass a URL that returns the stored check as JSON, not a web page.'
const NO_FACT =
  'The response of --state-url shows no value of a check: no status, total, item or payment. It must return the stored state of the check.'

/** A check at the service, with its payments. */
export interface KnownCheck {
  check: Check
  payments: readonly PaymentView[]
}

/** Values by name or path; those of all elements of a list under one path. Absent values and `null` have none. */
type Values = ReadonlyMap<string, readonly Json[]>

/**
 * Returns the facts about a check that a receiver can know from deliveries. Claims, and amounts of the check that change
 * without a `check.*` event, are facts only as sums of payments.
 */
function factsOf({ check, payments }: KnownCheck): Values {
  const { status, table, revision, totals, items } = check
  const facts = new Map<string, Json[]>()
  const add = (name: string, values: readonly (Json | undefined)[]) =>
    facts.set(
      name,
      values.filter((value) => value !== undefined && value !== null),
    )
  /** Receivers also keep amounts in whole units of the currency, as numbers and as texts. */
  const addCents = (name: string, values: readonly number[]) => {
    add(name, values)
    add(`${name} / 100`, values.map(units))
    add(
      `${name} / 100 as text`,
      values.map((cents) => units(cents).toFixed(2)),
    )
  }
  add('status', [status])
  add('status is open', [status === 'open'])
  add('status is closed', [status === 'closed'])
  add('table.number', [table.number])
  add('revision', [revision])
  addCents('totals.subtotal_cents', [totals.subtotal_cents])
  addCents('totals.tax_cents', [totals.tax_cents])
  addCents('totals.total_cents', [totals.total_cents])
  addCents('balance_cents', [check.balance_cents])
  add('number of items', [items.length])
  add(
    'items[].external_id',
    items.map(({ external_id }) => external_id),
  )
  add(
    'items[].name',
    items.map(({ name }) => name),
  )
  add(
    'items[].quantity',
    items.map(({ quantity }) => quantity),
  )
  add(
    'items[].note',
    items.map(({ note }) => note),
  )
  addCents(
    'items[].price_cents',
    items.map(({ price_cents }) => price_cents),
  )
  add('number of payments', [payments.length])
  for (const field of ['amount_cents', 'tip_cents', 'refunded_cents'] as const) {
    const amounts = payments.map((payment) => payment[field])
    addCents(`payments[].${field}`, amounts)
    addCents(`sum of payments[].${field}`, [sum(amounts)])
  }
  addCents('paid_cents', [check.paid_cents])
  return facts
}

/** The values of a view by path. Keys of maps by item or by check count as values. */
function valuesOf(view: View, { check }: KnownCheck): Values {
  const values = new Map<string, Json[]>()
  const ids = new Set(check.items.map(({ external_id }) => external_id))
  const add = (path: string, value: Json) => values.set(path, [...(values.get(path) ?? []), value])
  const walk = (node: Json, path: string): void => {
    if (isList(node)) for (const element of node) walk(element, `${path}[]`)
    else if (isObject(node))
      for (const [key, value] of Object.entries(node)) {
        const isOwn = ids.has(key) || key.startsWith('{')
        if (isOwn) add(`keys of ${path === '' ? 'the response' : path}`, key)
        walk(value, isOwn ? `${path}{}` : path === '' ? key : `${path}.${key}`)
      }
    else if (node !== null) add(path, node)
  }
  if (view.kind === 'json') walk(view.value, '')
  return values
}

/** Returns true when both hold the same values, in any order. */
function sameValues(one: readonly Json[] = [], other: readonly Json[] = []): boolean {
  return one.length === other.length && sortedJson(one).join() === sortedJson(other).join()
}

function units(cents: number): number {
  return cents / 100
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0)
}
