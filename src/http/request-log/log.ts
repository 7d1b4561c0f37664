import { hash } from 'node:crypto'
import {
  checkKey,
  contentOf,
  revisionOf,
  type Check,
  type OrderedPush,
  type StoredCheck,
  parsePush,
} from '../../model/check.ts'
import { setNewest } from '../../model/bounded-map.ts'
import { findingsWithHistory, type Finding } from '../../findings/index.ts'
import {
  isTrialPath,
  KEPT_REQUESTS,
  type LoggedRequest,
  type PushNote,
} from '../../model/simulator/request-entry.ts'
import { ORDER_BY } from '../../model/revision.ts'
import type { SavedLog, SavedRequest } from '../../model/simulator/bundle.ts'
import {
  byCount,
  type RefusedPushes,
  type Report,
  type UnsettledConflict,
} from '../../model/simulator/report.ts'
import type { Service } from '../../service.ts'
import type { FindingOfCheck } from '../../account/account.ts'
import { createCheckWatch } from './check-watch.ts'
import { createFindingArchive, type RequestFinding, reportOf } from './finding-archive.ts'
import type { RequestHead } from './query.ts'
import { externalIdIn } from '../list.ts'
import {
  createPushSequence,
  isIntegrationPush,
  refusalOf,
  reportedRequest,
  createUnsettledConflicts,
  senderOf,
} from './push-sequence.ts'
import { withoutSecrets } from '../redact.ts'
import type { RequestEntry, PushSummary } from '../request-context.ts'
import { checkChanges, diffItems } from '../../model/check-diff.ts'

export interface RequestLog {
  /**
   * Stores a request without its secrets. In a shared sandbox, resolves when all instances can find it, or when the
   * database is too slow; the answer waits for it, so that the requests of a client keep their order.
   */
  add(entry: RequestEntry): Promise<void> | undefined
  /**
   * Resolves when the log has all requests that any instance answered before the call.
   * @throws Refusal `storage_unavailable`.
   */
  bringUpToDate(): Promise<void>
  get(id: string): LoggedRequest | undefined
  /**
   * Lists requests in the order of their responses, newest first by default: those after the id `after` that match
   * `only`. An id that was dropped from the log counts as older than all entries.
   */
  list(query: LogQuery): { data: LoggedRequest[]; more: boolean }
  /** Stores the state of a check after a push that is not logged, to detect its repetition. */
  applied(check: Check): void
  /** Reports the findings since a time, or all, including those of dropped requests. `at` is the service's time. */
  report(since: string | undefined, at?: Date): Report
  /** Returns the findings with their checks, and the conflicts without an accepted push since, for an account. */
  accounted(at?: Date): { findings: FindingOfCheck[]; conflicts: readonly UnsettledConflict[] }
  /** Returns everything that the log knows, for a log that continues it. */
  save(): SavedLog
  /** Number of the newest request. Numbers rise, and are the same at all instances. */
  newest(): number
  /** Returns the requests after a number, oldest first; `undefined` when one of them was dropped. */
  after(number: number): readonly NumberedRequest[] | undefined
  /** Calls `listener` with each added request, in the order of their numbers. */
  onAdd(listener: AddListener): () => void
  /** Ends following the service and other instances. */
  close(): Promise<void>
}

/** The request log in memory. The shared log feeds it with numbered entries. */
export interface LocalLog extends RequestLog {
  /** Adds a request; `number` is above that of the newest one, and one more by default. */
  add(entry: RequestEntry, number?: number): undefined
  /** Returns true when a check without revisions had the pushed state before and changed since. */
  repeatsEarlier(current: StoredCheck, push: OrderedPush): boolean
  /** Takes current checks, oldest first, whose changes the log has not seen. */
  catchUp(checks: readonly StoredCheck[]): void
  /** Returns the numbers of the requests of `save`. */
  numbers(): readonly number[]
}

interface NumberedRequest {
  id: string
  number: number
  /** Returns the entry with its findings. */
  read: () => LoggedRequest
}

export type AddListener = (request: NumberedRequest) => void

interface LogQuery {
  order?: 'asc' | 'desc' | undefined
  after?: string | undefined
  limit: number
  only?: (entry: RequestHead, findings: readonly Finding[]) => boolean
}

/**
 * Limits: requests and characters of their bodies, whichever is reached first; checks with known states; states per
 * check.
 */
const KEEP = { requests: KEPT_REQUESTS, characters: 16 * 1024 * 1024, checks: 1_000, states: 20 }

export interface LogParts {
  service: Pick<Service, 'onCommit'>
  /** The service's clock. */
  clock: { now(): Date }
  /** The field that orders pushes. */
  orderBy?: string
  /** A saved log to continue. */
  saved?: SavedLog | undefined
  /** Numbers of the saved requests. */
  numbers?: readonly number[] | undefined
}

/** Request log in memory, with limits. It is empty again after a replacement of all records. */
export function createRequestLog({ service, clock, orderBy = ORDER_BY, saved, numbers }: LogParts): LocalLog {
  /** In the order of their responses. */
  const requests: KeptEntry[] =
    saved?.requests.map((request, index) => restored(request, saved.checks, numbers?.[index] ?? 0)) ?? []
  const states = new Map(saved?.states.map(({ check, digests }) => [check, [...digests]]))
  const listeners = new Set<AddListener>()
  const archive = createFindingArchive({ saved: saved?.archive })
  const sequence = createPushSequence((lost) => archive.keep(lost), {
    orderBy,
    saved: saved?.sequence,
    previous: (entry) => {
      const sender = senderOf(entry)
      return requests.findLast((one) => one.push !== null && senderOf(one) === sender)?.push
    },
  })
  const watch = createCheckWatch(service, saved)
  const conflicts = createUnsettledConflicts(saved?.conflicts)
  let newest = requests.at(-1)?.number ?? 0
  /** Number of the newest request that was dropped. */
  let dropped = (requests[0]?.number ?? 1) - 1
  let characters = requests.reduce((sum, entry) => sum + sizeOf(entry), 0)
  let pushes = saved?.pushes ?? 0
  let refused = new Map(saved?.refused.map((one) => [one.code, one]))
  const open = (at: Date) => [...sequence.lost(), ...watch.open(at), ...conflicts.kept()]
  const openById = () => byRequest(open(clock.now()))
  const all = (at: Date) => [...archive.kept(), ...requests.flatMap(findingsIn), ...open(at)]
  const forgetOldest = () => {
    const oldest = requests.shift()
    if (oldest === undefined) return
    characters -= sizeOf(oldest)
    dropped = oldest.number
    for (const shown of findingsIn(oldest)) archive.keep(shown)
  }
  // A loop, because each stale push with a revision reads all requests.
  const earlierStates = ({ id }: StoredCheck) => {
    const states: StoredCheck[] = []
    for (const { push } of requests) {
      if (push?.before?.id === id) states.push(push.before)
      if (push?.after?.id === id) states.push(push.after)
    }
    return states
  }
  const applied = (check: Check) => {
    if (check.revision !== null) return
    const key = checkKey(check)
    const earlier = states.get(key) ?? []
    setNewest(states, key, [...earlier, digest(check)].slice(-KEEP.states), KEEP.checks)
  }
  const repeatsEarlier = (current: StoredCheck, push: OrderedPush) => {
    if (revisionOf(current, orderBy) !== null || push.revision !== undefined) return false
    return states.get(checkKey(current))?.slice(0, -1).includes(digest(push)) ?? false
  }
  /** Adds the findings that earlier requests show, and stores the new state. */
  const judged = (push: PushSummary): PushSummary => {
    const { unjudged, ...rest } = push
    const { before, outcome, after, findings } = rest
    const all =
      unjudged === undefined || before === null
        ? findings
        : findingsWithHistory(findings, {
            push: unjudged.push,
            before,
            outcome,
            orderBy,
            now: new Date(unjudged.now),
            repeatsEarlier: repeatsEarlier(before, unjudged.push),
            earlierStates: () => earlierStates(before),
          })
    if (after !== null && (outcome === 'created' || outcome === 'updated')) applied(after)
    return all === findings ? rest : { ...rest, findings: all }
  }
  const clear = () => {
    requests.length = 0
    states.clear()
    archive.clear()
    sequence.clear()
    watch.clear()
    conflicts.clear()
    dropped = newest
    characters = 0
    pushes = 0
    refused = new Map()
  }
  const unsubscribe = service.onCommit((_writes, kind) => {
    // The entries refer to checks that no longer exist.
    if (kind === 'replacement') clear()
  })
  const numbered = (entry: KeptEntry): NumberedRequest => ({
    id: entry.id,
    number: entry.number,
    read: () => viewOf(entry, orderBy),
  })
  return {
    add(arrived, number = newest + 1) {
      const added = withoutSecrets(arrived)
      newest = number
      const push = added.push && judged(added.push)
      const entry = Object.assign(added, { push, following: sequence.follow(added), number })
      if (isIntegrationPush(entry)) {
        watch.follow(entry)
        conflicts.follow(entry, entry.following)
        pushes += 1
        if (entry.status >= 400) countRefusal(refused, entry)
      }
      requests.push(entry)
      characters += sizeOf(entry)
      while (requests.length > KEEP.requests || characters > KEEP.characters) forgetOldest()
      for (const listener of listeners) listener(numbered(entry))
      return undefined
    },
    bringUpToDate: async () => undefined,
    newest: () => newest,
    after: (number) =>
      number < dropped ? undefined : requests.filter((entry) => entry.number > number).map(numbered),
    numbers: () => requests.map(({ number }) => number),
    repeatsEarlier,
    applied,
    catchUp: (checks) => watch.catchUp(checks),
    async close() {
      unsubscribe()
      watch.close()
    },
    get(id) {
      const entry = requests.find((one) => one.id === id)
      return entry === undefined ? undefined : viewOf(entry, orderBy, openById())
    },
    list({ order, after, limit, only = () => true }) {
      const opened = openById()
      // Ids follow the start of requests, but entries the end, so the cursor is a position.
      const place = requests.findLastIndex(({ id }) => id === after)
      const older = requests.slice(0, after === undefined ? undefined : Math.max(place, 0)).toReversed()
      const entries = order === 'asc' ? requests.slice(place + 1) : older
      const found = entries.filter((entry) => only(entry, shownBy(entry, opened)))
      return {
        data: found.slice(0, limit).map((entry) => viewOf(entry, orderBy, opened)),
        more: found.length > limit,
      }
    },
    report(since, at = clock.now()) {
      const shown = all(at)
      const recent = requests.filter((entry) => isIntegrationPush(entry) && entry.started_at >= (since ?? ''))
      return {
        since: since ?? null,
        pushes: since === undefined ? pushes : recent.length,
        refused: [...(since === undefined ? refused : countRefusals(recent)).values()].toSorted(byCount),
        findings: reportOf({ shown, counted: (code) => archive.counted(code) }, since),
      }
    },
    accounted: (at = clock.now()) => ({
      findings: all(at).flatMap(findingOfCheck),
      conflicts: conflicts.open(),
    }),
    save() {
      const checks = createVersions()
      return {
        requests: requests.map((entry) => savedRequest(entry, checks.indexOf)),
        watch: watch.save(checks.indexOf),
        checks: checks.all,
        pushes,
        refused: [...refused.values()],
        states: Array.from(states, ([check, digests]) => ({ check, digests })),
        archive: archive.save(),
        sequence: sequence.save(),
        conflicts: conflicts.open(),
      }
    },
    onAdd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function digest(check: OrderedPush | Check): string {
  return hash('sha256', contentOf(check), 'base64url')
}

/** An entry with the findings that depend on earlier requests. */
type KeptEntry = RequestEntry & { following: readonly Finding[]; number: number }

/** Numbers versions of checks. Requests share them: the state after a push is the state before the next one. */
function createVersions() {
  const all: StoredCheck[] = []
  const indexes = new Map<StoredCheck, number>()
  return {
    all,
    indexOf(check: StoredCheck): number {
      const index = indexes.get(check) ?? all.push(check) - 1
      indexes.set(check, index)
      return index
    },
  }
}

function savedRequest(
  { push, following, number: _number, ...entry }: KeptEntry,
  indexOf: (check: StoredCheck) => number,
): SavedRequest {
  const indexed = (check: StoredCheck | null) => (check === null ? null : indexOf(check))
  const note = push && { ...push, before: indexed(push.before), after: indexed(push.after) }
  return { ...entry, push: note, following }
}

function restored(
  { push, ...entry }: SavedRequest,
  checks: readonly StoredCheck[],
  number: number,
): KeptEntry {
  const at = (index: number | null) => (index === null ? null : (checks[index] ?? null))
  return { ...entry, number, push: push && { ...push, before: at(push.before), after: at(push.after) } }
}

/** Findings that hold now and may cease, by the id of their request. */
type OpenFindings = ReadonlyMap<string, readonly RequestFinding[]>

function byRequest(shown: readonly RequestFinding[]): OpenFindings {
  const found = new Map<string, RequestFinding[]>()
  for (const one of shown) found.set(one.request.id, [...(found.get(one.request.id) ?? []), one])
  return found
}

function viewOf(kept: KeptEntry, orderBy: string, open?: OpenFindings): LoggedRequest {
  const { push, request_body, response_body, ...rest } = kept
  const { following: _following, number: _number, ...entry } = rest
  const findings = shownBy(kept, open)
  return {
    ...entry,
    push: push && pushNote(push, findings, { body: request_body, orderBy }),
    ...(push === null && findings.length > 0 && { findings }),
    request_body,
    response_body,
  }
}

/** Returns all findings of a request. */
function shownBy({ id, push, following }: KeptEntry, open?: OpenFindings): Finding[] {
  const opened = open?.get(id)?.map(({ finding }) => finding) ?? []
  return [...(push?.findings ?? []), ...following, ...opened]
}

/** Returns the findings of an entry; none for pushes of the contract check itself. */
function findingsIn(entry: KeptEntry): RequestFinding[] {
  const findings = [...(entry.push?.findings ?? []), ...entry.following]
  if (findings.length === 0 || isTrialPath(entry.path)) return []
  const request = reportedRequest(entry)
  return findings.map((finding) => ({ request, finding }))
}

function findingOfCheck({ request, finding }: RequestFinding): FindingOfCheck[] {
  const { id, path, started_at, location_id } = request
  const external_check_id = externalIdIn(path)
  if (external_check_id === undefined) return []
  return [{ ...finding, location_id, external_check_id, request: id, started_at }]
}

function countRefusals(entries: readonly KeptEntry[]): Map<string, RefusedPushes> {
  const counted = new Map<string, RefusedPushes>()
  for (const entry of entries) countRefusal(counted, entry)
  return counted
}

function countRefusal(counted: Map<string, RefusedPushes>, entry: KeptEntry): void {
  const refusal = refusalOf(entry)
  if (refusal === undefined) return
  const { status, code } = refusal
  counted.set(code, { status, code, count: (counted.get(code)?.count ?? 0) + 1 })
}

/** Characters of a request's bodies. */
export function sizeOf({ request_body, response_body }: RequestEntry): number {
  return (request_body?.length ?? 0) + (response_body?.length ?? 0)
}

/** Summary of a push as the log shows it. What the push changed is computed from the kept body when it is read. */
export function pushNote(
  { external_check_id, outcome, before }: PushSummary,
  findings: readonly Finding[],
  { body, orderBy }: { body: string | null; orderBy: string },
): PushNote {
  const note = { external_check_id, outcome, diff: null, findings }
  const applied = outcome === 'created' || outcome === 'updated'
  if (!applied || body === null) return note
  const push = keptPush(body, orderBy)
  if (push === undefined) return note
  const changes = before === null ? [] : checkChanges(before, push)
  return {
    ...note,
    diff: diffItems(before?.items ?? [], push.items),
    ...(changes.length > 0 && { changes }),
  }
}

/** Returns the push of a kept body; `undefined` when a secret of its query was hidden in it, such as a field's name. */
function keptPush(body: string, orderBy: string): OrderedPush | undefined {
  try {
    return parsePush(JSON.parse(body), { orderBy })
  } catch {
    return undefined
  }
}
