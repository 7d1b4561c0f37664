import type { Arbitrary } from 'fast-check'
import type { CaseOutcome, ConvergenceRule, ReceiverCase, Row } from '../case.ts'
import type { SendDelivery } from '../send.ts'
import { createScenario, type TrialEvent } from './scenario.ts'
import { createStateReader, NotJudged, type StateSource } from './state-view.ts'
import { createTrials, type Ends, type EndWait, type Sequence, type Signer, type Trials } from './trials.ts'
import { createComparison, type Leaves, type Views } from './comparison.ts'
import { sortedJson } from './view.ts'
import { count } from '../../../model/text/count.ts'

/** Options of `--state-url`. */
export interface StateCheck extends StateSource {
  /** Decides the scenario and the sequences. */
  seed: number
  /** Paths of fields that are no state, such as `log` or `items[].note`. */
  ignore?: readonly string[] | undefined
  waits?: Waits
}

/** Limits of the search; times are in milliseconds. */
interface Waits {
  /** Time that a view must stay unchanged to count as final, for a fast and a slow receiver. */
  quietMs: readonly [number, number]
  /** The longest wait for a view to change and to come to rest. */
  limitMs: number
  /** After this long no further sequence is tried, unless fewer than `sequences` were. */
  searchMs: number
  /** Number of sequences for which the search may take `2 * limitMs` longer. */
  sequences: number
}

const WAITS: Waits = { quietMs: [1_000, 3_000], limitMs: 10_000, searchMs: 10_000, sequences: 8 }

interface Convergence {
  judge(rule: ConvergenceRule, send: SendDelivery): Promise<CaseOutcome>
  close(): Promise<void>
}

interface ConvergenceOptions {
  state: StateCheck
  forge: Signer
  newId: (prefix: 'chk' | 'evt' | 'pay' | 'loc') => string
  signal: AbortSignal
}

/** Judges by the receiver's own view whether its state converges. The controls are played once, for the first rule. */
export function createConvergence({ state, forge, newId, signal }: ConvergenceOptions): Convergence {
  const { quietMs, limitMs, searchMs, sequences } = state.waits ?? WAITS
  const reader = createStateReader(state, signal)
  let sendNow: SendDelivery
  const trials = createTrials({
    forge,
    send: (delivery, options) => sendNow(delivery, options),
    reader,
    isPerCheck: state.isPerCheck,
    ignore: state.ignore ?? [],
    quietMs,
    limitMs,
    scenario: createScenario({ seed: state.seed, newId, now: Date.now() }),
    signal,
  })
  let calibration: Promise<void> | undefined
  return {
    async judge(rule, send) {
      sendNow = send
      if (placesOfCheck1(trials).length < 2)
        return {
          notChecked:
            'Not checked: this case needs two events of one check. Of the types in --events, its scenario has at most one event for each check.',
        }
      try {
        calibration ??= trials.calibrate()
        await calibration
        const [missing] = trials.missing()
        if (missing !== undefined)
          return { error: `The response of --state-url has no ${missing}, which --state-ignore names.` }
        if (rule === 'ignores_forged') return await forgedKept(trials)
        const found = await search(rule === 'orders' ? orders : repetitions, trials, {
          seed: state.seed,
          searchMs,
          extraMs: 2 * limitMs,
          sequences,
        })
        const { counterexample } = found
        if (counterexample === undefined)
          return (
            (await unseen(rule, found, trials)) ??
            (await forgotten(rule, trials)) ??
            (await acrossBoundaries(rule, trials)) ??
            (await simultaneous(rule, trials)) ?? { passed: passed(rule, found, trials, state.seed) }
          )
        const advice = rule === 'orders' ? await orderAdvice(counterexample, trials) : DEDUPLICATE
        const log = showsEvents(counterexample.ends, trials) ? ` ${LOG}` : ''
        return `${describeDifference(counterexample, trials)} ${advice}${log} Repeat with --seed ${state.seed}.`
      } catch (error) {
        // After Ctrl-C the run itself says why there is no verdict.
        if (!(error instanceof NotJudged) && !signal.aborted) throw error
        return { error: error instanceof Error ? error.message : String(error) }
      }
    },
    close: () => reader.close(),
  }
}

function passed(rule: ConvergenceRule, { tried }: Found, trials: Trials, seed: number): string {
  const ignored = ignoredFields(trials)
  const differing =
    ignored.length === 0
      ? ''
      : ` Ignored fields, which differ between identical runs or count deliveries: ${ignored.join(', ')}.`
  return `${count(tried, 'sequence')} of ${trials.sent.length} deliveries ended in the same state (seed ${seed}).${differing}${untested(rule, trials)}`
}

/** Says what a late view leaves untested. */
function untested(rule: ConvergenceRule, trials: Trials): string {
  if (trials.lagMs() < LATE_MS) return ''
  const what =
    rule === 'orders' ? 'events at the same time' : 'duplicates at the same time and late repetitions'
  return ` Not tested, because the state follows ${(trials.lagMs() / 1000).toFixed(1)} s after the response: ${what}.`
}

function ignoredFields(trials: Trials): string[] {
  return trials
    .comparison()
    .ignored()
    .map((path) => path || 'the whole response')
}

/** Fewest sequences that make a comparison. */
const FEWEST = 2

/**
 * Returns why equal ends prove nothing, or the mistake that they hide; `undefined` when the ends show newer states. What
 * would be a mistake is played again with longer waits.
 */
async function unseen(rule: ConvergenceRule, { tried }: Found, trials: Trials): Promise<CaseOutcome> {
  const hasIgnored = trials.comparison().ignored().length > 0
  if (tried < FEWEST) return { error: tooSlow(tried, hasIgnored ? undefined : trials.lagMs()) }
  if (!(await trials.isStillShown())) return { error: NOT_SHOWN }
  const suspicion = await firstAndNewest(rule, trials, hasIgnored ? 'shown' : 'short')
  return suspicion && firstAndNewest(rule, trials, 'long')
}

/** How check 1 ends: after its first event, after all its events in order, and after its newest event alone. */
interface ThreeEnds {
  first: Ends
  whole: Ends
  newest: Ends
}

/** Plays sequences of the events of check 1, from 0, and returns how they end. */
type PlayPart = (part: (places: Sequence) => Sequence) => Promise<Ends>

/** Compares three ends of check 1. A view that shows no newer state proves nothing, or hides a mistake. */
async function firstAndNewest(rule: ConvergenceRule, trials: Trials, wait: EndWait): Promise<CaseOutcome> {
  const places = placesOfCheck1(trials)
  const play: PlayPart = (part) => trials.endsOf(part(places), wait)
  const first = await play(firstOf)
  const whole = await play((all) => all)
  // The newest state of a check, not its newest payment, where --events lists two.
  const states = places.filter((place) => trials.steps[place]?.type.startsWith('check.'))
  const newestState = (all: Sequence) => (states.length > 1 ? states : all).slice(-1)
  const newest = await play(newestState)
  if (![first, whole, newest].every(({ isFinal }) => isFinal)) return { error: RESTLESS }
  const ends = { first, whole, newest }
  const uncompared = await uncomparedState(ends, trials, play, newestState)
  if (uncompared !== undefined) return { error: `${uncompared} ${ANSWER_LATER}` }
  if (rule !== 'orders' || states.length < 2) return undefined
  return (await newestNotKept(ends, trials, play)) ?? removedItemKept(ends, trials)
}

/** Returns the mistake of a receiver that adds the items of newer states to those it has, and removes none. */
function removedItemKept(ends: ThreeEnds, trials: Trials): CaseOutcome {
  const { entries } = trials.comparison()
  const [first, whole, newest] = [
    entries(ends.first.views),
    entries(ends.whole.views),
    entries(ends.newest.views),
  ]
  for (const [path, all] of whole) {
    const linesOf = (entry: string) => entry.match(/\{line \d+\}/g) ?? []
    const lines = all.flatMap(linesOf)
    const left = newest.get(path)?.flatMap(linesOf) ?? []
    // A list that names an item twice is a history.
    if (left.length === 0 || new Set(lines).size < lines.length) continue
    const kept = all.find((entry) => {
      const [line, ...others] = linesOf(entry)
      const isUnchanged = first.get(path)?.includes(entry) === true
      return line !== undefined && others.length === 0 && isUnchanged && !left.includes(line)
    })
    if (kept !== undefined)
      return `After all events of a check in order, ${path} has an item that the newest state lacks: ${kept}. Replace all items of a check by those of its newest state. If this list is a history, name it with --state-ignore.`
  }
  return undefined
}

/** Returns the mistake of a receiver that rejects a forged delivery by its response only, and goes on with the event. */
async function forgedKept(trials: Trials): Promise<CaseOutcome> {
  const [first, ...others] = trials.sent
  const ends = await trials.endsWithForged(first === undefined ? [] : [first], others)
  if (ends === 'accepted') return { notChecked: 'Not checked: see control/forged_rejected.' }
  if (ends === undefined || (await trials.ignoreBookkeeping(ends))) return undefined
  const fields = fieldsOf(ends, trials, ['without them', 'after them'])
  const log = showsEvents(ends, trials) ? ` ${LOG}` : ''
  return `Forged deliveries change the state, although the receiver rejects them. ${fields} Stop after the rejection, for example with return.${log}`
}

/** Returns the mistake of a receiver that forgets which events it has processed. A late view would take too long. */
async function forgotten(rule: ConvergenceRule, trials: Trials): Promise<CaseOutcome> {
  if (rule === 'orders' || trials.lagMs() >= LATE_MS) return undefined
  const late = await trials.repeatControls()
  if (late === undefined || (await trials.ignoreBookkeeping(late.ends))) return undefined
  const after = `${late.others} other deliveries and ${(late.afterMs / 1000).toFixed(0)} s`
  return `Events that were repeated after ${after} change the state. ${fieldsOf(late.ends, trials, ['before', 'after'])} Store the envelope id of each event for at least 35 hours, because a retry may come that late.`
}

/** Time between the beginning of a trial and its middle, in milliseconds: states of check 1 lie before and after it. */
const MIDDLE_MS = 3_000

/**
 * Returns the mistake of a receiver that compares times as texts in a format of its own, such as 31.12.2026: a later time may
 * be a smaller text, so that the newer state is ignored. A late view would take too long.
 */
async function acrossBoundaries(rule: ConvergenceRule, trials: Trials): Promise<CaseOutcome> {
  if (rule !== 'orders' || trials.lagMs() >= LATE_MS) return undefined
  const states = placesOfCheck1(trials).filter((place) => trials.steps[place]?.type.startsWith('check.'))
  const isLate = (place: number) => (trials.steps[place]?.atMs ?? 0) > MIDDLE_MS
  const [before, after] = [states.findLast((place) => !isLate(place)), states.find(isLate)]
  if (before === undefined || after === undefined) return undefined
  const [newest, both] = [[after], [before, after]]
  // A view of a history shows both states.
  if (!trials.comparison().areEqual(await trials.endOf(newest), await trials.endOf(both))) return undefined
  for (const { name, at } of boundaries(Date.now())) {
    const ends = await trials.endsAt(at - MIDDLE_MS, newest, both)
    if (ends === undefined) continue
    const fields = fieldsOf(ends, trials, ['after the newer one alone', 'after both in order'])
    return `A newer state is ignored when ${name} lies between it and the older one. ${fields} Compare updated_at as a time, or as the text in the envelope, not in another format.`
  }
  return undefined
}

/** Returns times of the last year at which texts of later times may be smaller, in UTC and in the zone of this machine. */
function boundaries(now: number): { name: string; at: number }[] {
  const day = new Date(now - 24 * 3_600_000)
  const localTime = (year: number, month: number, date: number, hour = 0) =>
    new Date(year, month, date, hour).getTime()
  const all = [
    ...boundariesIn(Date.UTC, day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()),
    ...boundariesIn(localTime, day.getFullYear(), day.getMonth(), day.getDate()),
  ]
  return all.filter(({ at }, index) => all.findIndex((one) => one.at === at) === index)
}

function boundariesIn(
  timeOf: (year: number, month: number, day: number, hour?: number) => number,
  year: number,
  month: number,
  day: number,
) {
  return [
    { name: 'the end of a year', at: timeOf(year, 0, 1) },
    { name: 'the end of a month', at: timeOf(year, month, 1) },
    { name: '13:00', at: timeOf(year, month, day, 13) },
  ]
}

/** Deliveries in flight to one endpoint at most (contract section 9). */
const IN_FLIGHT = 8

/**
 * Returns the mistake of a receiver that reads and writes its state in steps: two deliveries of one event at a time count
 * twice, or of two events at a time one is lost. What fails once is played again. A late view would take too long.
 */
async function simultaneous(rule: ConvergenceRule, trials: Trials): Promise<CaseOutcome> {
  if (trials.lagMs() >= LATE_MS) return undefined
  const [sequence, inFlight, what, advice] =
    rule === 'deduplicates'
      ? ([trials.sent.flatMap((place) => [place, place]), 2, 'Two deliveries of one event', ATOMIC] as const)
      : ([trials.sent, IN_FLIGHT, 'Events', ONE_TRANSACTION] as const)
  for (let attempt = 0; attempt < 2; attempt += 1) {
    if (await trials.endsTogether(sequence, inFlight)) return undefined
    const ends = await trials.confirm(trials.sent, sequence, inFlight)
    if (ends === undefined) continue
    if (await trials.ignoreBookkeeping(ends)) return undefined
    return `${what} at the same time change the state. ${fieldsOf(ends, trials, APART)} ${advice}`
  }
  return undefined
}

const APART = ['one after the other', 'at the same time'] as const
const ATOMIC =
  'Store the envelope id together with its effects in one transaction, and let a unique constraint refuse the second delivery.'
const ONE_TRANSACTION =
  'The service sends up to 8 deliveries at a time. Read and write the state of a check in one transaction.'

function placesOfCheck1({ steps, sent }: Trials): Sequence {
  return sent.filter((place) => steps[place]?.check === 1)
}

const firstOf = (places: Sequence) => places.slice(0, 1)

/** Returns which fields show the state and are ignored, as a sentence; `undefined` when the state was compared. */
async function uncomparedState(
  { first, whole, newest }: ThreeEnds,
  trials: Trials,
  play: PlayPart,
  newestState: (places: Sequence) => Sequence,
): Promise<string | undefined> {
  const ignored = ignoredFields(trials)
  const isEqual = trials.comparison().areEqual(first.views, whole.views)
  if (isEqual && !createComparison().areEqual(first.views, whole.views))
    return `${differsAt(ignored)} No other field shows the newer states of a check.`
  if (ignored.length === 0) return undefined
  const again = [await play(firstOf), await play(newestState)]
  const fields = ignoredState([first, newest], again, trials)
  return fields.length === 0 ? undefined : `${differsAt(fields)} So the check did not compare these fields.`
}

/** Returns the mistake of a receiver that keeps or shows the first state of a check, where the ends show it. */
async function newestNotKept(ends: ThreeEnds, trials: Trials, play: PlayPart): Promise<CaseOutcome> {
  const { leaves } = trials.comparison()
  const [first, whole, newest] = [ends.first, ends.whole, ends.newest].map(
    ({ views }) => leaves(views)[0] ?? NO_LEAVES,
  ) as [Leaves, Leaves, Leaves]
  const fields = [...first.keys()].filter((path) => showsState(path, first, newest))
  const [field] = fields
  if (field === undefined) {
    const { areEqual } = trials.comparison()
    const isSame =
      areEqual(ends.first.views, ends.newest.views) && areEqual(ends.first.views, ends.whole.views)
    if (isSame) return { notChecked: NO_STATE }
    return (await hidesNewest(ends, trials, play)) ? { notChecked: NO_NEWER } : undefined
  }
  return fields.every((path) => isSame(path, first, whole))
    ? `After all events of a check in order, ${field} is as after its first event: ${valuesAt(field, whole)}. The newest event alone gives ${valuesAt(field, newest)}. ${NEWEST}`
    : undefined
}

/** Returns true when the view shows the check, but of its events only the first one and its payments. */
async function hidesNewest(
  { first, whole, newest }: ThreeEnds,
  trials: Trials,
  play: PlayPart,
): Promise<boolean> {
  const { areEqual } = trials.comparison()
  const isText = first.views.some(({ kind }) => kind === 'text')
  const isNewestShown = !areEqual(newest.before, newest.views)
  if (areEqual(first.before, first.views) || (isNewestShown && !isText)) return false
  // Payments may show beside the check.
  const isPayment = (place: number) => trials.steps[place]?.type === 'payment.succeeded'
  const early = await play((places) => places.filter((place, at) => at === 0 || isPayment(place)))
  return areEqual(early.views, whole.views) && !areEqual(newest.views, whole.views)
}

/**
 * Ignored fields that show state: each of two events alone gives the same value each time, and the two values differ.
 */
function ignoredState(ends: readonly Ends[], again: readonly Ends[], trials: Trials): string[] {
  const { leaves } = createComparison()
  const [first, newest, secondFirst, secondNewest] = [...ends, ...again].map(
    ({ views }) => leaves(views)[0] ?? NO_LEAVES,
  ) as [Leaves, Leaves, Leaves, Leaves]
  const ignored = trials.comparison().ignored()
  const isIgnored = (path: string) =>
    ignored.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
  return [...first.keys()].filter(
    (path) =>
      isIgnored(path) &&
      showsState(path, first, newest) &&
      isSame(path, first, secondFirst) &&
      isSame(path, newest, secondNewest),
  )
}

const NO_LEAVES: Leaves = new Map()

/** Returns true for a field with other values in the newest state than in the first, apart from names such as `{event 3}`. */
function showsState(path: string, first: Leaves, newest: Leaves): boolean {
  const values = [...(first.get(path) ?? []), ...(newest.get(path) ?? [])]
  const isNamed = values.some((value) => typeof value === 'string' && /\{[a-z ]+ \d+\}/.test(value))
  return newest.has(path) && !isNamed && !isSame(path, first, newest)
}

function isSame(path: string, one: Leaves, other: Leaves): boolean {
  return sortedAt(path, one).join() === sortedAt(path, other).join()
}

function valuesAt(path: string, leaves: Leaves): string {
  return sortedAt(path, leaves).slice(0, MOST_FIELDS).join(', ')
}

function sortedAt(path: string, leaves: Leaves): string[] {
  return sortedJson(leaves.get(path) ?? [])
}

const ANSWER_LATER =
  'Let the receiver answer after it has processed a delivery, and do not cache the response of --state-url.'

/** From this lag on, in milliseconds, the receiver works after its response. */
const LATE_MS = 1_000

/** The lag is unknown where the views never came to rest. */
function tooSlow(tried: number, lagMs: number | undefined): string {
  const compared = `Only ${count(tried, 'sequence was', 'sequences were')} compared in the time limit.`
  if (lagMs === undefined) return `${compared} The state changed long after the response. ${ANSWER_LATER}`
  return lagMs < LATE_MS
    ? `${compared} The receiver takes too long to answer. Let it answer faster.`
    : `${compared} The state changed up to ${(lagMs / 1000).toFixed(1)} s after the response. ${ANSWER_LATER}`
}

function differsAt(fields: readonly string[]): string {
  const more = fields.length > MOST_FIELDS ? ` and ${fields.length - MOST_FIELDS} more` : ''
  return `The state after identical deliveries differs at ${fields.slice(0, MOST_FIELDS).join(', ')}${more}.`
}

const RESTLESS = `The response of --state-url still changes long after the last delivery. ${ANSWER_LATER}`

const NOT_SHOWN =
  'The response of --state-url shows the first checks of this case, but not the last ones. It may be one page of a list. Pass a URL with {external_check_id} or {check_id}.'

const NO_STATE =
  'Not checked: the response of --state-url is the same after each event of a check. Return fields of its state, such as status and totals.'

const NO_NEWER =
  'Not checked: newer states of a check do not appear in the response of --state-url. After all events of a check, it is as after its first event. Apply the newest state of each check, and return fields such as status and totals.'

/** Most differing fields in a message. */
const MOST_FIELDS = 3

/** Both sequences, and how their ends differ. */
function describeDifference({ one, other, ends }: Counterexample, trials: Trials): string {
  const [first, second] = [one, other].map((sequence) => named(sequence, trials.steps))
  return `Two sequences of the same events end in different states: ${first} and ${second}. ${fieldsOf(ends, trials)}`
}

/** Returns true when a field that differs holds the id of an event. */
function showsEvents(ends: readonly [Views, Views], trials: Trials): boolean {
  const differences = trials.comparison().differences(...ends)
  return differences.some(({ one, other }) => /\{event \d+\}/.test(one + other))
}

const LOG =
  'A field that lists or names deliveries is no state: leave it out of the response, or name it with --state-ignore.'

/** The fields that differ, as a sentence, with a phrase for each end. */
function fieldsOf(
  ends: readonly [Views, Views],
  trials: Trials,
  [one, other]: readonly [string, string] = ['after the first', 'after the second'],
): string {
  const differences = trials.comparison().differences(...ends)
  const fields = differences
    .slice(0, MOST_FIELDS)
    .map((field) => `${field.path}: ${field.one} ${one}, ${field.other} ${other}`)
  const more = differences.length > MOST_FIELDS ? `; ${differences.length - MOST_FIELDS} more` : ''
  return `${fields.join('; ')}${more}.`
}

/** Deliveries with their number in the scenario, and with their check where the sequence is about both. */
function named(sequence: Sequence, steps: readonly TrialEvent[]): string {
  const checks = new Set(sequence.map((place) => steps[place]?.check))
  const one = (place: number) => {
    const { type, check } = steps[place] ?? { type: '', check: 0 }
    return `${place + 1} ${type}${checks.size > 1 ? ` of check ${check}` : ''}`
  }
  return `[${sequence.map(one).join(', ')}]`
}

const DEDUPLICATE =
  'Deduplication is missing. Store the envelope id of each event with its effects, and ignore events with a stored id.'

const ORDER = 'Ordering is missing: '
const NEWEST = `${ORDER}keep the state with the newest updated_at in its data, regardless of arrival order.`

/** Returns advice, from the state that each of two deliveries leaves alone. */
async function orderAdvice({ one, other, ends }: Counterexample, trials: Trials): Promise<string> {
  const steps = one.flatMap((place) => trials.steps[place] ?? [])
  const payments = steps.filter(isOfPayment)
  // A view may show payments only beside their check.
  if (payments.length > 1 && steps.length - payments.length <= 1)
    return payments.some(({ type }) => type === 'payment.refunded')
      ? `${ORDER}keep the newest state of each payment, by the created_at of the envelope. A payment.refunded may come before its payment.succeeded.`
      : `${ORDER}keep each payment under its own id, and compare created_at if only one is shown.`
  const [first, second] = steps
  if (first === undefined || second === undefined || other.length !== 2) return NEWEST
  const { areEqual } = trials.comparison()
  const [firstAlone, secondAlone] = await endsAlone(one, trials)
  const [inOrder, reversed] = ends
  const isFirstKept = areEqual(firstAlone.views, inOrder) && areEqual(secondAlone.views, reversed)
  if (isFirstKept && first.atMs === second.atMs)
    return 'The second delivery was ignored. Deduplicate only on the envelope id, because several events share one created_at.'
  if (first.check !== second.check)
    return `${ORDER}keep the newest updated_at per check, because each check has its own times.`
  const isMixed = isOfPayment(first) !== isOfPayment(second)
  if (isFirstKept && isMixed) return `The second delivery was ignored. ${SEPARATELY}`
  if (!isFirstKept) {
    if (isMixed && areEqual(secondAlone.views, reversed))
      return `The receiver ignores ${first.type} after a newer ${second.type}. ${SEPARATELY}`
    const isUnseen = areEqual(secondAlone.before, secondAlone.views)
    if (!isUnseen || !areEqual(firstAlone.views, reversed)) return NEWEST
    if (isMixed && (await differsForKnownCheck(one, other, trials)))
      return `The receiver loses ${second.type} when an older ${first.type} arrives after it. Keep payments apart from the state of the check.`
    return `The receiver ignores ${second.type} of a check that it does not know yet. ${isOfPayment(second) ? 'Store the payment' : 'Create the check from its data'}, because order is not guaranteed.`
  }
  return first.type === second.type
    ? 'The second delivery was ignored. Deduplicate only on the envelope id, not on type or check. Keep the newer updated_at, compared with its milliseconds.'
    : `${ORDER}the second delivery was ignored. Keep the newer updated_at.`
}

const SEPARATELY =
  'Compare the times of checks and of payments separately, and deduplicate on the whole envelope id.'

function isOfPayment({ type }: TrialEvent): boolean {
  return type.startsWith('payment.')
}

/** Returns true when two sequences also end differently after the first event of check 1. */
async function differsForKnownCheck(one: Sequence, other: Sequence, trials: Trials): Promise<boolean> {
  const [created] = placesOfCheck1(trials)
  if (created === undefined || one.includes(created)) return false
  const [end, otherEnd] = [await trials.endOf([created, ...one]), await trials.endOf([created, ...other])]
  return !trials.comparison().areEqual(end, otherEnd)
}

/** Plays each of two deliveries alone. */
async function endsAlone(sequence: Sequence, trials: Trials): Promise<[Ends, Ends]> {
  const [first = 0, second = 0] = sequence
  return [await trials.endsOf([first], 'short'), await trials.endsOf([second], 'short')]
}

interface ConvergeRow extends Row {
  id: ConvergenceRule
}

const rows: readonly ConvergeRow[] = [
  {
    id: 'deduplicates',
    title: 'Repeated deliveries change nothing',
    reason:
      'Delivery is at least once (specification section 6). Without deduplication on the envelope id, a payment counts twice after a timeout or a restart.',
  },
  {
    id: 'orders',
    title: 'Deliveries in any order end in the same state',
    reason:
      'Order is not guaranteed (specification section 6). A late retry would restore an old state, such as a removed item or an open check.',
  },
  {
    id: 'ignores_forged',
    title: 'Rejected deliveries change nothing',
    reason:
      'Anyone who knows the URL can change checks and payments (specification section 5). The response says that the delivery is rejected, but the event is processed.',
  },
]

/** The receiver's own view ends the same in any order and with duplicates. Needs `--state-url`. */
export const converges: readonly ReceiverCase[] = rows.map((row) => ({
  group: 'converges',
  ...row,
  examine: async ({ convergence, send }) => convergence?.judge(row.id, send) ?? NO_STATE_URL,
}))

const NO_STATE_URL = {
  notChecked:
    'Not checked: the state of the receiver is unknown. Pass --state-url with a URL that returns a check, such as http://localhost:3000/checks/{external_check_id}.',
}

type FastCheck = typeof import('fast-check')

/** A rule: a sequence must end in the same state as its reference, a plain sequence of the same events. */
interface Property {
  arbitrary(fc: FastCheck, all: Sequence): Arbitrary<number[]>
  /** Tried first. */
  examples(fc: FastCheck, steps: readonly TrialEvent[], seed: number): Sequence[]
  /** The shortest that may fail, tried before a counterexample is shrunk. */
  shortest(steps: readonly TrialEvent[]): Sequence[]
  /** The sequence that has to end alike. */
  reference(sequence: Sequence): Sequence
  holds(sequence: Sequence, trials: Trials): Promise<boolean>
}

/** Two sequences of the same events that end differently. */
interface Counterexample {
  one: Sequence
  other: Sequence
  ends: readonly [Views, Views]
}

interface Limits {
  /** The same seed tries the same sequences. */
  seed: number
  /** After this long, in milliseconds, no further sequence is tried. */
  searchMs: number
  /** Further time for so many sequences, in milliseconds. */
  extraMs: number
  sequences: number
}

interface Found {
  /** Number of tried sequences. */
  tried: number
  counterexample: Counterexample | undefined
}

/** Sequences that are drawn for each search, beside the examples. */
const DRAWN = 12
/** After this long, in milliseconds, a counterexample is not shrunk further. */
const SHRINK_MS = 20_000
/** Most false counterexamples, caused by views that differ by time or by counts of deliveries. */
const DISMISSALS = 5

/** Where a minimal length is given instead, fast-check does not shrink to all of the shortest. */
const isLong = ({ length }: Sequence) => length > 1

/** Unique deliveries in any order end as they do in the order in which the events happened. */
const orders: Property = {
  arbitrary: (fc, all) => fc.shuffledSubarray([...all]).filter(isLong),
  examples: (fc, steps, seed) => {
    const all = [...steps.keys()]
    // Later states of the check would hide that one of two events with the same time was ignored.
    const until = (last: string) => all.slice(0, steps.findIndex(({ type }) => type === last) + 1)
    return [
      all.toReversed(),
      until('check.fully_paid').toReversed(),
      // A payment is the newest event of its check here.
      until('payment.refunded').toReversed(),
      ...fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), { seed, numRuns: 8 }),
    ]
  },
  shortest: (steps) =>
    steps.flatMap(({ check }, place) => {
      const next = steps.findIndex((later, at) => at > place && later.check === check)
      return next < 0 ? [] : [[next, place]]
    }),
  reference: (sequence) => sequence.toSorted((one, other) => one - other),
  holds: (sequence, trials) => trials.endAlike(orders.reference(sequence), sequence),
}

/**
 * Repeated deliveries end as they do when each is sent once. A repetition also brings a delivery to a later place, so events
 * whose order matters tell nothing: that is a mistake of its own.
 */
const repetitions: Property = {
  arbitrary: (fc, all) =>
    fc.array(fc.nat({ max: all.length - 1 }), { maxLength: 3 * all.length, size: 'max' }).filter(isLong),
  examples: (_fc, steps) => {
    const all = [...steps.keys()]
    return [all.flatMap((place) => [place, place, place]), [...all, ...all], [...all, ...all.toReversed()]]
  },
  // A payment may show only where the check is known.
  shortest: (steps) => [
    ...steps.map((_step, place) => [place, place]),
    ...steps.map(({ check }, place) => [steps.findIndex((first) => first.check === check), place, place]),
  ],
  reference: (sequence) => [...new Set(sequence)],
  async holds(sequence, trials) {
    const once = repetitions.reference(sequence)
    if (once.length === sequence.length || (await trials.endAlike(once, sequence))) return true
    const byLastPlace = [...new Set(sequence.toReversed())].toReversed()
    const isSafe = await trials.endAlike(once, byLastPlace)
    return !isSafe || !(await trials.endAlike(orders.reference(once), once))
  },
}

/**
 * Looks for a sequence that does not hold, shrunk to the fewest deliveries.
 * @throws NotJudged when the view cannot be read, or differs from time to time.
 */
async function search(property: Property, trials: Trials, limits: Limits): Promise<Found> {
  for (let attempt = 0; attempt < DISMISSALS; attempt += 1) {
    const { tried, sequence } = await firstFailure(property, trials, limits)
    if (sequence === undefined) return { tried, counterexample: undefined }
    const one = property.reference(sequence)
    const ends = await trials.confirm(one, sequence)
    if (ends !== undefined && !(await trials.ignoreBookkeeping(ends)))
      return { tried, counterexample: { one, other: sequence, ends } }
  }
  throw new NotJudged(
    'The same deliveries in the same order sometimes give different responses at --state-url.',
  )
}

/** The first sequence that fails, shrunk, and how many were tried until then. */
async function firstFailure(property: Property, trials: Trials, limits: Limits) {
  const { seed, searchMs, extraMs, sequences } = limits
  const fc = await import('fast-check')
  const all = [...trials.steps.keys()]
  let tried = 0
  let trouble: unknown
  const run = async (examples: readonly Sequence[], drawn: number, limitMs: number) => {
    const deadline = performance.now() + limitMs
    const attempt = async (sequence: Sequence) => {
      const lastMs = deadline + (tried < sequences ? extraMs : 0)
      if (trouble !== undefined || performance.now() > lastMs) return true
      tried += 1
      try {
        return await property.holds(sequence, trials)
      } catch (error) {
        // fast-check would take it for a counterexample.
        trouble = error
        return true
      }
    }
    const { counterexample } = await fc.check(fc.asyncProperty(property.arbitrary(fc, all), attempt), {
      seed,
      endOnFailure: drawn > 0,
      numRuns: examples.length + drawn,
      examples: examples.map((sequence): [number[]] => [[...sequence]]),
    })
    if (trouble instanceof Error) throw trouble
    return counterexample?.[0]
  }
  const sequence = await run(property.examples(fc, trials.steps, seed), DRAWN, searchMs)
  const triedFirst = tried
  if (sequence === undefined) return { tried, sequence }
  const shrunk = await run([...property.shortest(trials.steps), sequence], 0, SHRINK_MS)
  return { tried: triedFirst, sequence: shrunk ?? sequence }
}
