import { setTimeout as sleep } from 'node:timers/promises'
import { isGood, describeAnswer } from '../case.ts'
import { bytes, OTHER_SECRET, type Forge } from '../forge.ts'
import type { Delivery, DeliveryAnswer, SendDelivery } from '../send.ts'
import { oldestAge } from '../accepts.ts'
import { createComparison, type Comparison, type Views, type Leaves } from './comparison.ts'
import type { TrialScenario, Trial, TrialEvent } from './scenario.ts'
import { NotJudged, type StateReader } from './state-view.ts'
import { noView, parseView, partOf, sortedJson, withoutPaths, type Json } from './view.ts'

/** Deliveries by their place in the scenario, from 0, in the order in which they are sent. */
export type Sequence = readonly number[]

/** Wait for a view, in milliseconds. */
interface Wait {
  /** The view has to stay the same for this long. */
  quietMs: number
  /** The longest wait. */
  limitMs: number
  /** Other views are waited out until the limit. */
  until?: (views: Views) => boolean
}

/** Deliveries that were sent, and the receiver's view of their checks before and after them. */
interface Played {
  before: Views
  /** The receiver's answer when it accepted none. */
  refusal: string | undefined
  /** True when the receiver accepted a forged delivery. */
  acceptsForged: boolean
  read(): Promise<Views>
  /** Sends the same events again, and returns the whole view from before that. `read` then returns the whole view. */
  repeat(): Promise<Pick<Played, 'before' | 'read'>>
}

/** How a sequence is played. */
interface PlayOptions {
  /** Deliveries in flight at a time; 1 by default. */
  inFlight?: number | undefined
  /** When the trial begins, in milliseconds since 1970. */
  begin?: number
  /** Places of events that are then delivered with another secret, and without a signature. */
  forged?: Sequence
}

/** One of the deliveries of an event in a sequence. */
interface Copy {
  body: Buffer
  /** Number of later deliveries of the same event. */
  copiesLeft: number
}

/** Plays sequences, each on fresh checks, and compares how they end. */
export interface Trials {
  steps: TrialScenario['steps']
  /** Places of the events whose types are in `--events`; the receiver gets no others. */
  sent: Sequence
  /** Compares final views; set by `calibrate`. */
  comparison(): Comparison
  /**
   * Plays the scenario twice in its own order. That shows how long the receiver takes to apply a delivery, and which parts
   * of the view differ between identical runs.
   * @throws NotJudged when the view shows nothing of the deliveries.
   */
  calibrate(): Promise<void>
  /** Returns true when two sequences lead to equal views. Waits for a view that is not equal yet. */
  endAlike(one: Sequence, other: Sequence): Promise<boolean>
  /**
   * Plays both again with longer waits. Returns their ends, or `undefined` when they are equal now: the views differed by
   * the time of day, or were read too early. Then the judge ignores these differences and waits longer.
   */
  confirm(one: Sequence, other: Sequence, inFlight?: number): Promise<[Views, Views] | undefined>
  /** Final views of a sequence. */
  endOf(sequence: Sequence): Promise<Views>
  /**
   * Plays a sequence again. Waits until the views stay the same; unless `short`, also until they show something. `long` is
   * for ends on which a mistake rests.
   */
  endsOf(sequence: Sequence, wait: EndWait): Promise<Ends>
  /** How long the view went on changing after the last response, in milliseconds. */
  lagMs(): number
  /** Paths to ignore that no view had. */
  missing(): readonly string[]
  /**
   * Ignores, from now on, fields that count deliveries and show no state. Returns false when these ends differ otherwise.
   */
  ignoreBookkeeping(ends: readonly [Views, Views]): Promise<boolean>
  /**
   * Plays the sequence with so many deliveries in flight. Returns true when it ends as the scenario does in its own order.
   */
  endsTogether(sequence: Sequence, inFlight: number): Promise<boolean>
  /**
   * Plays two sequences in trials that begin at this time. Returns their ends when they differ, also when both are played
   * again with longer waits.
   */
  endsAt(begin: number, one: Sequence, other: Sequence): Promise<[Views, Views] | undefined>
  /**
   * Plays a sequence, and then again with forged deliveries of other events after it. Returns both ends when they differ, also
   * with longer waits; `accepted` when the receiver accepts a forged delivery.
   */
  endsWithForged(sequence: Sequence, forged: Sequence): Promise<[Views, Views] | 'accepted' | undefined>
  /** Plays the scenario in its own order again. Returns false when that does not change the view. */
  isStillShown(): Promise<boolean>
  /**
   * Sends the events of the controls again. Returns the views before and after that when both of them changed: the receiver
   * has forgotten events in the meantime.
   */
  repeatControls(): Promise<LateRepeat | undefined>
}

/** Events that were sent again later, and changed the state. */
interface LateRepeat {
  ends: readonly [before: Views, after: Views]
  /** Number of deliveries of other events in between. */
  others: number
  /** Time in between, in milliseconds. */
  afterMs: number
}

export type EndWait = 'short' | 'shown' | 'long'

/** Views before and after a sequence. `isFinal` is false when they still changed at the time limit. */
export interface Ends {
  before: Views
  views: Views
  isFinal: boolean
}

/** Signs the deliveries of the scenario. */
export type Signer = Pick<Forge, 'delivery' | 'header' | 'now' | 'tolerance' | 'events'>

interface TrialOptions {
  forge: Signer
  send: SendDelivery
  reader: StateReader
  isPerCheck: boolean
  /** Paths of fields that are no state: they are not compared. */
  ignore: readonly string[]
  scenario: TrialScenario
  /**
   * How long a view has to stay the same before it counts as final, in milliseconds, since a receiver may work after its
   * answer. The second value is for a receiver that was seen to change its view later than that.
   */
  quietMs: readonly [number, number]
  /** The longest wait for a view to change and to come to rest, in milliseconds. */
  limitMs: number
  signal: AbortSignal
}

/** Time between two requests for a view, in milliseconds. */
const INTERVAL_MS = 25
/** Time for a view to become equal to another one while many are tried, in milliseconds, beside a multiple of the lag. */
const TIMEOUT_MS = 100
/** Statuses by which a receiver asks for a later attempt, the pause before it, and the most of them without progress. */
const BUSY: ReadonlySet<number> = new Set([429, 503])
const BUSY_MS = 50
const BUSY_ROUNDS = 4
/** Rounds in which refused deliveries are sent again, as the service does (specification section 8). */
const RETRIES = 6

export function createTrials(parts: TrialOptions): Trials {
  const { isPerCheck, scenario, limitMs, signal } = parts
  const inOrder = [...scenario.steps.keys()]
  const sent = scenario.steps.flatMap(({ type }, place) => (parts.forge.events.includes(type) ? [place] : []))
  const { play, delivered, missing } = createTrialPlayer({ ...parts, sent })
  /** The trials of `calibrate`, which came first. */
  let controls: readonly Control[] = []
  const ends = new Map<string, Views>()
  let comparison = createComparison()
  /** Ends of the whole scenario in its own order: before and after it. */
  let usual: readonly [before: Views, after: Views] = [[], []]
  let [quietMs] = parts.quietMs
  /** How long the view went on changing after the last answer, and the longest time between changes, in milliseconds. */
  let lagMs = 0
  let gapMs = 0
  let timeoutMs = TIMEOUT_MS

  /**
   * Reads views until they stay the same. `lastMs` is when they last changed, and `longestMs` the longest time without a
   * change before that. `restless` are two of the views when they did not come to rest.
   */
  async function settle({ read }: Pick<Played, 'read'>, wait: Wait) {
    const started = performance.now()
    const { until = () => true } = wait
    let views = await read()
    let lastMs = 0
    let longestMs = 0
    let changed: readonly [Views, Views] | undefined
    for (;;) {
      const elapsedMs = performance.now() - started
      const isQuiet = elapsedMs - lastMs >= wait.quietMs
      if ((isQuiet && until(views)) || elapsedMs >= wait.limitMs)
        return { views, lastMs, longestMs, isQuiet, restless: isQuiet ? undefined : changed }
      await sleep(INTERVAL_MS, undefined, { signal })
      const next = await read()
      if (!comparison.areEqual(views, next)) {
        const changedMs = performance.now() - started
        longestMs = Math.max(longestMs, changedMs - lastMs)
        lastMs = changedMs
        changed = [views, next]
      }
      views = next
    }
  }

  /** Plays the whole scenario in its own order, until the view has changed and come to rest. */
  async function control() {
    const { before, refusal, read, repeat } = await play(inOrder)
    if (refusal !== undefined) throw new NotJudged(`No delivery was accepted: ${refusal}.`)
    const until = (views: Views) => !comparison.areEqual(before, views)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const end = await settle({ read }, { quietMs, limitMs, until })
      if (!until(end.views)) throw new NotJudged(unchangedText(isPerCheck))
      if (end.restless === undefined)
        return { before, read, repeat, ...end, deliveries: delivered(), sentAt: performance.now() }
      comparison.ignore(...end.restless)
    }
    throw new NotJudged(`The response of --state-url still changes after ${limitMs / 1000} s.`)
  }

  /** Two controls that differ by nothing but the run, or `undefined` when one of them changed after it seemed final. */
  async function twoControls() {
    comparison = createComparison()
    const first = await control()
    const second = await control()
    if (comparison.areEqual(first.views, second.views)) return [first, second] as const
    // The first may have been read too early, which can no longer be seen.
    if (!(await staysFinal(second))) return undefined
    const third = await control()
    return (await staysFinal(third)) ? ([second, third] as const) : undefined
  }

  async function staysFinal({ read, views }: { read: Played['read']; views: Views }): Promise<boolean> {
    await sleep(quietMs, undefined, { signal })
    return comparison.areEqual(views, await read())
  }

  /** Returns true when a view is as it was, although others were played since. A view of everything cannot tell. */
  async function isUnchanged({ read }: Played, views: Views): Promise<boolean> {
    return !isPerCheck || comparison.areEqual(views, await read())
  }

  /** A wait of at least twice the lag, for receivers that change their view long after their response. */
  function longWait(): Wait {
    const unchangedMs = Math.max(quietMs, 2 * lagMs)
    return { quietMs: unchangedMs, limitMs: limitMs + unchangedMs }
  }

  /** The longest wait for a view to become equal to another one, in milliseconds. */
  function equalMs(): number {
    return Math.min(longWait().limitMs, Math.max(2 * quietMs, 20 * lagMs))
  }

  /** Waits until the view of what was played equals another one, for at most `limitMs`. Returns the last view. */
  async function endLike(wanted: Views, played: Played, limitMs = equalMs()): Promise<Views> {
    const until = (views: Views) => comparison.areEqual(wanted, views)
    return (await settle(played, { quietMs: 2 * gapMs, limitMs, until })).views
  }

  /** Sends the events of a control again. Returns the views before and after that when they differ. */
  async function repeatControl({ repeat, deliveries, sentAt }: Control): Promise<LateRepeat | undefined> {
    const [others, afterMs] = [delivered() - deliveries, performance.now() - sentAt]
    const { before, read } = await repeat()
    const { views } = await settle({ read }, longWait())
    if (comparison.areEqual(before, views)) return undefined
    return { ends: [before, views], others, afterMs }
  }

  async function endOf(sequence: Sequence): Promise<Views> {
    const known = ends.get(sequence.join())
    if (known !== undefined) return known
    const { views } = await settle(await play(sequence), { quietMs: 4 * gapMs, limitMs })
    ends.set(sequence.join(), views)
    return views
  }

  return {
    steps: scenario.steps,
    sent,
    comparison: () => comparison,
    endOf,
    async endsOf(sequence, wait) {
      const played = await play(sequence)
      const { before } = played
      const shortMs = Math.max(4 * gapMs, 2 * lagMs)
      const unchangedMs = wait === 'long' ? Math.max(quietMs, 2 * lagMs, limitMs / 2) : shortMs
      const isShown = (views: Views) => !createComparison().areEqual(before, views)
      const { views, isQuiet } = await settle(played, {
        quietMs: unchangedMs,
        limitMs: wait === 'long' ? limitMs + unchangedMs : limitMs,
        ...(wait !== 'short' && { until: isShown }),
      })
      return { before, views, isFinal: isQuiet }
    },
    lagMs: () => lagMs,
    missing,
    async calibrate() {
      for (quietMs of parts.quietMs) {
        const two = await twoControls()
        if (two === undefined) continue
        controls = two
        const [first, second] = two
        comparison.ignore(first.views, second.views)
        if (comparison.areEqual(second.before, second.views)) throw new NotJudged(ALL_DIFFERS)
        lagMs = Math.max(first.lastMs, second.lastMs)
        gapMs = Math.max(first.longestMs, second.longestMs)
        timeoutMs = TIMEOUT_MS + 4 * lagMs
        usual = [second.before, second.views]
        ends.set(inOrder.join(), second.views)
        return
      }
      throw new NotJudged(
        `The response of --state-url still changes more than ${quietMs / 1000} s after the last delivery.`,
      )
    },
    async isStillShown() {
      const played = await play(inOrder)
      const until = (views: Views) => !comparison.areEqual(played.before, views)
      const { views } = await settle(played, { quietMs: 0, limitMs: longWait().limitMs, until })
      return until(views)
    },
    async endsTogether(sequence, inFlight) {
      const wanted = await endOf(sent)
      return comparison.areEqual(wanted, await endLike(wanted, await play(sequence, { inFlight })))
    },
    async endsAt(begin, one, other) {
      let ends: [Views, Views] | undefined
      for (const wait of [{ quietMs: 4 * gapMs, limitMs }, longWait()]) {
        const played = await play(one, { begin })
        const { views } = await settle(played, wait)
        const end = await endLike(views, await play(other, { begin }))
        if (comparison.areEqual(views, end)) return undefined
        ends = (await isUnchanged(played, views)) ? [views, end] : undefined
      }
      return ends
    },
    async endsWithForged(sequence, forged) {
      let ends: [Views, Views] | undefined
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const alone = await play(sequence)
        const { views } = await settle(alone, longWait())
        const played = await play(sequence, { forged })
        if (played.acceptsForged) return 'accepted'
        const { views: others } = await settle(played, longWait())
        if (comparison.areEqual(views, others)) return undefined
        ends = (await isUnchanged(alone, views)) ? [views, others] : undefined
      }
      return ends
    },
    async repeatControls() {
      let late: LateRepeat | undefined
      for (const control of controls) {
        late = await repeatControl(control)
        if (late === undefined) return undefined
      }
      return late
    },
    async ignoreBookkeeping(differing) {
      const leavesOf = async (sequence: Sequence) => comparison.leaves(await endOf(sequence))
      const { steps } = scenario
      const paths = await bookkeeping(differing.map(comparison.leaves), { steps, sent, leavesOf })
      comparison.ignorePaths(paths)
      // A view of nothing but numbers of deliveries is the state that there is.
      if (!comparison.areEqual(...usual)) return paths.length > 0
      comparison.regardPaths(paths)
      return false
    },
    async endAlike(one, other) {
      const wanted = await endOf(one)
      const known = ends.get(other.join())
      const views = known ?? (await endLike(wanted, await play(other), 2 * gapMs + timeoutMs))
      ends.set(other.join(), views)
      return comparison.areEqual(wanted, views)
    },
    async confirm(one, other, inFlight) {
      const earlier = await endOf(one)
      let played = await play(one)
      let { views } = await settle(played, longWait())
      if (!comparison.areEqual(earlier, views)) {
        // The earlier end may have been read before the receiver applied all, which says nothing of a field.
        played = await play(one)
        const again = await settle(played, longWait())
        comparison.ignore(views, again.views)
        views = again.views
      }
      const end = await endLike(views, await play(other, { inFlight }))
      if (!comparison.areEqual(views, end) && (await isUnchanged(played, views))) return [views, end]
      timeoutMs *= 4
      // Both controls may have been final at the first look.
      gapMs = 4 * Math.max(gapMs, INTERVAL_MS)
      ends.clear()
      return undefined
    },
  }
}

interface Control extends Pick<Played, 'repeat'> {
  /** Number of deliveries when it ended. */
  deliveries: number
  /** When it ended, as `performance.now()`. */
  sentAt: number
}

/** Returns a function that sends the deliveries of a sequence for fresh checks. */
function createTrialPlayer({
  forge,
  send,
  reader,
  isPerCheck,
  ignore,
  scenario,
  sent,
  signal,
}: Omit<TrialOptions, 'quietMs' | 'limitMs'> & Pick<Trials, 'sent'>) {
  let trials = 0
  let deliveries = 0
  /** Those of `ignore` that a view had. */
  const found = new Set<string>()

  async function viewsOf({ checks, names }: Trial): Promise<Views> {
    const views = []
    for (const ids of isPerCheck ? checks : checks.slice(0, 1)) {
      const body = await reader.read(ids)
      views.push(body === undefined ? noView : withoutPaths(parseView(body, names), ignore, found))
    }
    return views
  }

  /** Signs a copy: each has another `t`, as in attempts of the service, and the last copy has the time of now. */
  function signed({ body, copiesLeft }: Copy): Delivery {
    const age = Math.min(copiesLeft, oldestAge(forge))
    return forge.delivery(body, forge.header(body, forge.now() - age))
  }

  /**
   * Sends the bodies, with so many in flight. Refused ones are sent again, as the service does, while that gets them accepted.
   * A receiver that asks for a later attempt gets some time. Returns the last answer when none was accepted.
   */
  async function deliver(copies: readonly Copy[], inFlight: number): Promise<string | undefined> {
    let left = copies
    let refusal = ''
    /** Rounds without progress, one after the other. */
    let stuck = 0
    for (let round = 0; round <= RETRIES && left.length > 0;) {
      const refused: Copy[] = []
      let isBusy = false
      for (const [copy, answer] of await answersTo(left, inFlight)) {
        if ('code' in answer) throw new NotJudged(`A delivery got no response: ${describeAnswer(answer)}.`)
        if (isGood(answer)) continue
        refused.push(copy)
        refusal = describeAnswer(answer)
        isBusy ||= BUSY.has(answer.status)
      }
      stuck = refused.length === left.length ? stuck + 1 : 0
      if (stuck > (isBusy ? BUSY_ROUNDS : 0)) break
      if (isBusy) await sleep(BUSY_MS, undefined, { signal })
      else round += 1
      left = refused
    }
    return left.length === copies.length && copies.length > 0 ? refusal : undefined
  }

  async function answersTo(copies: readonly Copy[], inFlight: number) {
    const answers: [Copy, DeliveryAnswer][] = []
    for (let at = 0; at < copies.length; at += inFlight) {
      const batch = copies.slice(at, at + inFlight)
      const answer = async (copy: Copy): Promise<[Copy, DeliveryAnswer]> => [copy, await send(signed(copy))]
      answers.push(...(await Promise.all(batch.map(answer))))
    }
    return answers
  }

  /** Sends forged deliveries. Returns true when the receiver accepts one. */
  async function deliverForged(bodies: readonly Buffer[]): Promise<boolean> {
    let isAccepted = false
    for (const body of bodies) {
      const forged = forge.delivery(body, forge.header(body, forge.now(), OTHER_SECRET))
      for (const delivery of [forged, forge.delivery(body)])
        isAccepted = isGood(await send(delivery)) || isAccepted
    }
    return isAccepted
  }

  async function play(
    sequence: Sequence,
    { inFlight = 1, begin, forged = [] }: PlayOptions = {},
  ): Promise<Played> {
    const trial = scenario.trial(trials++, begin)
    const whole = await viewsOf(trial)
    const own = (views: Views) =>
      isPerCheck ? views : views.map((view, index) => partOf(view, whole[index] ?? noView))
    const places = sequence.filter((place) => sent.includes(place))
    const bodyOf = (place: number) => bytes(trial.envelopes[place] ?? {})
    const copies = places.map((place, at) => ({
      body: bodyOf(place),
      copiesLeft: places.slice(at + 1).filter((other) => other === place).length,
    }))
    const refusal = await deliver(copies, inFlight)
    const acceptsForged = await deliverForged(forged.map(bodyOf))
    deliveries += copies.length
    return {
      before: own(whole),
      refusal,
      acceptsForged,
      read: async () => own(await viewsOf(trial)),
      async repeat() {
        const before = await viewsOf(trial)
        await deliver(copies, inFlight)
        return { before, read: () => viewsOf(trial) }
      },
    }
  }
  return { play, delivered: () => deliveries, missing: () => ignore.filter((path) => !found.has(path)) }
}

function unchangedText(isPerCheck: boolean): string {
  return `The deliveries did not change the response of --state-url. ${
    isPerCheck
      ? 'It must return the stored state of the check.'
      : 'It must return the checks with their ids, or the URL must contain {external_check_id} or {check_id}.'
  } The events are up to 20 hours old, which must not matter. A receiver that reads checks from the service cannot be tested with deliveries only.`
}

const ALL_DIFFERS =
  'The same deliveries in the same order, for another check, gave another response of --state-url. So it cannot be compared.'

interface BookkeepingOptions extends Pick<Trials, 'steps' | 'sent'> {
  /** The values that the view shows after a sequence. */
  leavesOf(sequence: Sequence): Promise<readonly Leaves[]>
}

/** Parts of the scenario in its own order, each with another state of check 1. */
const PARTS: readonly Sequence[] = [[0], [1], [0, 3], [1, 4], [1, 4, 5], [8], [0, 8, 9]]

/**
 * The paths at which two ends differ without a difference in state: a right receiver may show how many deliveries it has
 * received, applied or skipped. These paths hold
 * - values that stay the same whatever is delivered, as long as each delivery comes once and in order;
 * - numbers that grow by one with each repeated delivery, whatever its type;
 * - numbers that no repeated delivery changes, and that are smaller where outdated states were left out, by at most one
 *   for each.
 */
async function bookkeeping(
  [one = [], other = []]: readonly (readonly Leaves[])[],
  { steps, sent: all, leavesOf }: BookkeepingOptions,
): Promise<string[]> {
  const ofCheck1 = all.filter((place) => steps[place]?.check === 1)
  // The first view alone: of check 1, or of everything.
  const firstOf = async (sequence: Sequence) => (await leavesOf(sequence))[0] ?? new Map<string, Json[]>()
  const full = await firstOf(all)
  const parts: Leaves[] = []
  for (const part of [...PARTS, ofCheck1.slice(0, 1), ofCheck1.slice(-1)]) {
    const sentPart = part.filter((place) => all.includes(place))
    if (sentPart.length > 0) parts.push(await firstOf(sentPart))
  }
  const repeated: Leaves[] = []
  // Of two types where two are sent.
  const placeOf = (type: string | undefined) => ofCheck1.find((place) => steps[place]?.type === type)
  const [created = ofCheck1[0], paid = ofCheck1.at(-1)] = ['check.created', 'payment.succeeded'].map(placeOf)
  for (const place of [created, paid]) {
    repeated.push(await firstOf(all.flatMap((at) => (at === place ? [at, at] : [at]))))
  }
  const outdated = all.filter((place) => isOutdated(steps, place, all))
  const newest = await firstOf(all.filter((place) => !outdated.includes(place)))

  const isConstant = (path: string) =>
    full.has(path) && parts.every((leaves) => leaves.size === 0 || kinds(leaves, path) === kinds(full, path))
  const countsRepeated = (path: string) =>
    repeated.every((leaves) => total(leaves, path) === total(full, path) + 1)
  const countsApplied = (path: string) => {
    const fewer = total(full, path) - total(newest, path)
    const isSteady = repeated.every((leaves) => total(leaves, path) === total(full, path))
    return isSteady && Number.isInteger(fewer) && fewer > 0 && fewer <= outdated.length
  }
  return one.flatMap((leaves, index) =>
    [...leaves.keys()].filter((path) => {
      const [values, others] = [leaves.get(path) ?? [], other[index]?.get(path) ?? []]
      if (sortedJson(values).join() === sortedJson(others).join()) return false
      // Where there are more of a value, something was added.
      const isSameLength = values.length === others.length
      return (isSameLength && isConstant(path)) || countsRepeated(path) || countsApplied(path)
    }),
  )
}

/** Returns true when a later event shows a newer state of the same check, or of its payment. */
function isOutdated(steps: readonly TrialEvent[], place: number, sent: Sequence): boolean {
  const step = steps[place]
  if (step === undefined) return false
  const newer = step.type.startsWith('check.') ? /^check\./ : /^payment\.refunded$/
  return sent.some((at) => {
    const later = steps[at]
    return at > place && later?.check === step.check && newer.test(later.type)
  })
}

/** The sum of the numbers at a path, or NaN where there are other values or none. */
function total(leaves: Leaves, path: string): number {
  const values = leaves.get(path) ?? []
  if (values.length === 0) return Number.NaN
  return values.reduce<number>((sum, value) => (typeof value === 'number' ? sum + value : Number.NaN), 0)
}

/** The different values at a path. */
function kinds(leaves: Leaves, path: string): string {
  return sortedJson([...new Set(leaves.get(path))]).join()
}
