import { hash } from 'node:crypto'
import {
  CONFLICT,
  conflictIgnored,
  conflictKept,
  invalidPushRepeated,
  noIdempotentRetry,
  pushRefused,
  unreadNotRepeated,
  refusesTheBody,
  keysOf,
  type Finding,
  type PushRefusal,
} from '../../findings/index.ts'
import { setNewest } from '../../model/bounded-map.ts'
import { isLater, ORDER_BY, type Revision } from '../../model/revision.ts'
import type { SavedConflict, SavedSequence } from '../../model/simulator/bundle.ts'
import { TRIAL_PREFIX } from '../../model/simulator/request-entry.ts'
import { checkKey, revisionOf } from '../../model/check.ts'
import type { PushSummary, RequestEntry } from '../request-context.ts'

/** The fields of a request that a report contains, and its location. */
export type ReportedRequest = Pick<
  RequestEntry,
  'id' | 'method' | 'path' | 'status' | 'started_at' | 'location_id'
>

export function reportedRequest({
  id,
  method,
  path,
  status,
  started_at,
  location_id,
}: ReportedRequest): ReportedRequest {
  return { id, method, path, status, started_at, location_id }
}

/** Finds mistakes that only the sequence of a check's pushes shows (contract section 11). */
interface PushSequence {
  /** Adds the next request and returns its findings. */
  follow(entry: RequestEntry): Finding[]
  /** Failed pushes without a retry so far, by check; oldest first within a check. */
  lost(): readonly { request: ReportedRequest; finding: Finding }[]
  save(): SavedSequence
  clear(): void
}

/** Limits of stored checks with refused pushes, and of refused bodies per check. */
const KEEP = { checks: 1_000, refused: 5 }

interface SequenceOptions {
  /** The field that orders pushes. */
  orderBy?: string
  /** Most failed pushes without a retry. */
  keepLost?: number
  /** A saved sequence to continue. */
  saved?: SavedSequence | undefined
  /** Returns the newest earlier push of the same sender to the same check whose state is known. */
  previous?: (entry: RequestEntry) => PushSummary | null | undefined
}

/** Refused bodies of one check, by code and digest, oldest first. */
type Refused = SavedSequence['refused'][number]

interface Lost {
  request: ReportedRequest
  finding: Finding
  /** `undefined` when the body did not arrive. */
  digest: string | undefined
  /** Digest without the revision, and the revision. Absent without a revision. */
  content?: string | undefined
  revision?: Revision | undefined
}

/** Digests and revision of a pushed body. */
type Sent = Pick<Lost, 'digest' | 'content' | 'revision'>

/**
 * Reads only failed and refused bodies and their successors, so other sequences cost nothing. `onForget` gets a failed
 * push when the limit drops it before a retry.
 */
export function createPushSequence(
  onForget: (lost: Lost) => void,
  { orderBy = ORDER_BY, keepLost = 1_000, saved, previous }: SequenceOptions = {},
): PushSequence {
  const refused = new Map<string, Refused>()
  const lost = new Map<string, Lost[]>()
  let waiting = 0
  for (const one of saved?.refused ?? []) refused.set(senderOf(one), one)
  for (const { digest, ...one } of saved?.lost ?? []) keepLostPush({ ...one, digest: digest ?? undefined })

  function keepLostPush(push: Lost): void {
    const sender = senderOf(push.request)
    lost.set(sender, [...(lost.get(sender) ?? []), push])
    waiting += 1
  }

  /** Removes the failed pushes that `sent` repeats, and those older than the check at the revision `known`. */
  function settle(sender: string, sent: () => Sent, known: Revision | undefined): void {
    const open = lost.get(sender)
    if (open === undefined) return
    const left = open.filter((one) => !repeats(sent, one) && !isOlder(one.revision, known))
    waiting -= open.length - left.length
    if (left.length > 0) lost.set(sender, left)
    else lost.delete(sender)
  }

  function lose(entry: RequestEntry, finding: Finding, sent: Sent): void {
    const isSettled = [entry.push, previous?.(entry)].some((push) =>
      isOlder(sent.revision, knownRevision(push, orderBy)),
    )
    if (isSettled) return
    keepLostPush({ request: reportedRequest(entry), finding, ...sent })
    // Forgets the oldest push of the sender that is longest in the map.
    const [first] = lost
    if (waiting <= keepLost || first === undefined) return
    const [stalest, [oldest, ...rest]] = first
    if (oldest === undefined) return
    onForget(oldest)
    waiting -= 1
    if (rest.length > 0) lost.set(stalest, rest)
    else lost.delete(stalest)
  }

  /** Stores a refused body by code and digest. Returns true when it was refused with this code before. */
  function wasRefused({ path, location_id }: RequestEntry, mark: string): boolean {
    const sender = senderOf({ path, location_id })
    const known = refused.get(sender)?.marks ?? []
    const marks = [...known.filter((one) => one !== mark), mark].slice(-KEEP.refused)
    setNewest(refused, sender, { path, location_id, marks }, KEEP.checks)
    return known.includes(mark)
  }

  /** Forgets an accepted body. Once a state is accepted, earlier conflicts were not ignored. */
  function accept(entry: RequestEntry): void {
    const sender = senderOf(entry)
    const known = refused.get(sender)
    if (known === undefined) return
    const accepted = digestOfText(entry.request_body)
    const isStale = entry.push?.outcome === 'stale'
    const marks = known.marks.filter((mark) => {
      const [code, refusedDigest] = mark.split(' ')
      return code === CONFLICT ? isStale : refusedDigest !== accepted
    })
    if (marks.length > 0) refused.set(sender, { ...known, marks })
    else refused.delete(sender)
  }

  function findingsOf(refusal: PushRefusal, entry: RequestEntry, sent: () => Sent): Finding[] {
    const { status, code } = refusal
    if (code === CONFLICT) {
      const { digest, content = digest } = sent()
      const conflict = conflictIgnored(wasRefused(entry, `${code} ${content}`))
      return conflict === undefined ? [] : [{ code: 'conflict_ignored', message: conflict }]
    }
    const text = refusesTheBody(code) ? digestOfText(entry.request_body) : undefined
    const refusedBefore = text !== undefined && wasRefused(entry, `${code} ${text}`)
    const again = invalidPushRepeated({ status, code, refusedBefore })
    if (again !== undefined) return [{ code: 'invalid_push_repeated', message: again }]
    const message = pushRefused(refusal)
    return message === undefined ? [] : [{ code: 'push_refused', message }]
  }

  return {
    follow(entry) {
      const { path, status, faults } = entry
      const mayHaveFailed = status >= 400 || faults !== undefined
      // Most pushes end here.
      if (!mayHaveFailed && lost.size === 0 && refused.size === 0) return []
      if (!isIntegrationPush(entry)) return []
      const sent = sentOnce(entry.request_body, orderBy)
      const known = knownRevision(entry.push, orderBy)
      // An error before the key was accepted is of an unknown sender. Any sender's push settles it.
      for (const one of [senderOf(entry), senderOf({ path })]) settle(one, sent, known)
      const failure = mayHaveFailed ? failureOf(entry, sent) : undefined
      if (failure !== undefined) {
        lose(entry, failure, sent())
        return []
      }
      const refusal = mayHaveFailed ? refusalOf(entry) : undefined
      if (refusal !== undefined) return findingsOf(refusal, entry, sent)
      accept(entry)
      return []
    },
    lost: () => [...lost.values()].flat(),
    save: () => ({
      refused: [...refused.values()],
      lost: [...lost.values()].flat().map(({ digest = null, ...shown }) => ({ ...shown, digest })),
    }),
    clear() {
      refused.clear()
      lost.clear()
      waiting = 0
    },
  }
}

/** Returns the key of a check and the location that pushes it. A query of the path does not change the check. */
export function senderOf({ path, location_id = '' }: Pick<ReportedRequest, 'path' | 'location_id'>): string {
  const [withoutQuery = path] = path.split('?', 1)
  return `${location_id} ${withoutQuery}`
}

/** Path of a push, without the external id. */
const PUSH_PATH = '/v1/checks/external/'

/** Returns true for a push, with or without a response, other than those of the contract check. */
export function isIntegrationPush({ method, path }: Pick<ReportedRequest, 'method' | 'path'>): boolean {
  return method === 'PUT' && path.startsWith(PUSH_PATH) && !path.startsWith(TRIAL_PREFIX, PUSH_PATH.length)
}

/** Returns the refusal of a push; `undefined` when it was accepted or the response did not arrive. */
export function refusalOf(entry: RequestEntry): PushRefusal | undefined {
  const { status, response_body } = entry
  if (status < 400 || status >= 500 || brokeOff(entry)) return undefined
  const { code = '', message = '' } = errorIn(response_body)
  return { status, code, message }
}

interface KeptError {
  code?: string
  message?: string
  conflicts?: readonly { external_id: string; reason: string }[]
}

/** Returns the error of a kept response; nothing when the response is not kept as JSON. */
function errorIn(body: string | null): KeptError {
  try {
    return (JSON.parse(body ?? '') as { error?: KeptError }).error ?? {}
  } catch {
    return {}
  }
}

function brokeOff({ faults = [] }: RequestEntry): boolean {
  return faults.some((kind) => kind === 'reset' || kind === 'lost_answer')
}

/** Returns the finding of a push that failed, unless it is repeated. */
function failureOf(entry: RequestEntry, sent: () => Sent): Finding | undefined {
  const { digest, revision } = sent()
  const newerSettles = digest === undefined || revision !== undefined
  const failed = noIdempotentRetry({ status: entry.status, brokeOff: brokeOff(entry), newerSettles })
  if (failed !== undefined) return { code: 'no_idempotent_retry', message: failed }
  const refusal = refusalOf(entry)
  const limited = refusal && unreadNotRepeated({ ...refusal, newerSettles })
  return limited === undefined ? undefined : { code: 'push_refused', message: limited }
}

/** True when a push repeats a failed one, whose body may be unknown. A higher revision of the same content counts. */
function repeats(sent: () => Sent, failed: Lost): boolean {
  if (failed.digest === undefined) return true
  const { digest, content, revision } = sent()
  if (digest === failed.digest) return true
  return content !== undefined && content === failed.content && isOlder(failed.revision, revision)
}

/** True when both revisions are known and `one` comes before `other`. */
function isOlder(one: Revision | undefined, other: Revision | undefined): boolean {
  return one !== undefined && other !== undefined && isLater(other, one)
}

/** Returns the revision of a check after a push. */
function knownRevision(push: PushSummary | null | undefined, orderBy: string): Revision | undefined {
  const check = push?.after ?? push?.before
  return check === null || check === undefined ? undefined : (revisionOf(check, orderBy) ?? undefined)
}

/** Reads a push's digests, independent of its JSON layout; computed at first use. */
function sentOnce(body: string | null, orderBy: string): () => Sent {
  let sent: Sent | undefined
  return () => (sent ??= sentIn(body, orderBy))
}

function sentIn(body: string | null, orderBy: string): Sent {
  if (body === null) return { digest: undefined }
  const { state, content, revision } = keysOf(body, orderBy)
  const digest = digestOf(state)
  return revision === undefined ? { digest } : { digest, content: digestOf(content), revision }
}

/** Digest of the body's text. */
function digestOfText(body: string | null): string | undefined {
  return body === null ? undefined : digestOf(body)
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Pushes that were refused because of claims, until an accepted push of the same check follows. */
interface UnsettledConflicts {
  /** Adds the next request, with the findings that `PushSequence` has returned for it. */
  follow(entry: RequestEntry, found: readonly Finding[]): void
  /** The first refused push of each check without an accepted push since, oldest first. */
  open(): readonly SavedConflict[]
  /** The newest push of each check whose pushes were refused because of the same items too often. */
  kept(): readonly { request: ReportedRequest; finding: Finding }[]
  clear(): void
}

/** Limits of checks with a conflict, and of conflicts per check. The oldest checks are dropped. */
const MOST_CONFLICTS = { checks: 1_000, items: 20 }

export function createUnsettledConflicts(saved: readonly SavedConflict[] = []): UnsettledConflicts {
  const conflicts = new Map(
    saved.map((conflict) => [
      checkKey({ location_id: conflict.location_id, external_id: conflict.external_check_id }),
      conflict,
    ]),
  )
  return {
    follow(entry, found) {
      const { id, started_at, push } = entry
      const check = push?.after ?? push?.before
      if (push === null || check === null || check === undefined || push.outcome === 'stale') return
      const key = checkKey(check)
      if (push.outcome !== 'conflict') return void conflicts.delete(key)
      const known = conflicts.get(key)
      // Repeated content is a finding already.
      if (known !== undefined && found.some(({ code }) => code === 'conflict_ignored')) return
      const again = conflictsAgain(known?.again, entry)
      if (known !== undefined) return void conflicts.set(key, { ...known, again })
      const { location_id, external_id: external_check_id } = check
      const conflict = { location_id, external_check_id, request: id, started_at, again }
      setNewest(conflicts, key, conflict, MOST_CONFLICTS.checks)
    },
    open: () => [...conflicts.values()],
    kept: () =>
      [...conflicts.values()].flatMap(({ again }) => {
        if (again === undefined) return []
        const message = conflictKept(again.pushes, again.conflicts)
        if (message === undefined) return []
        return [{ request: again.newest, finding: { code: 'conflict_ignored', message } }]
      }),
    clear: () => conflicts.clear(),
  }
}

/** Continues the refused pushes in a row by one; begins again when it conflicts because of other items. */
function conflictsAgain(before: SavedConflict['again'], entry: RequestEntry): SavedConflict['again'] {
  const { conflicts = [] } = errorIn(entry.response_body)
  const all = conflicts.map(({ external_id, reason }) => `${external_id} (${reason})`)
  if (all.length === 0) return undefined
  const newest = reportedRequest(entry)
  const shared = before?.conflicts.filter((one) => all.includes(one)) ?? []
  return before === undefined || shared.length === 0
    ? { pushes: 1, conflicts: all.slice(0, MOST_CONFLICTS.items), newest }
    : { pushes: before.pushes + 1, conflicts: shared, newest }
}
