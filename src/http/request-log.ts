import { createHash } from 'node:crypto'
import { checkKey, contentOf, type Check, type Push } from '../model/check.ts'
import type { Finding } from '../findings/index.ts'
import type { LoggedRequest } from '../model/logged-request.ts'
import type { Report } from '../model/report.ts'
import { isTrialPath } from '../model/trial-check.ts'
import { createFindingTally, type Shown } from './finding-tally.ts'
import type { RequestHead } from './logged-requests.ts'
import { pushNote } from './push-note.ts'
import { createPushSequence, isPush } from './push-sequence.ts'
import { reportOf } from './report.ts'
import type { RequestEntry } from './request-entry.ts'

export interface RequestLog {
  add(entry: RequestEntry): void
  get(id: string): LoggedRequest | undefined
  /** Newest first or in the order asked for, those after this id, and of these `only` what is asked for. */
  list(query: LogQuery): { data: LoggedRequest[]; more: boolean }
  /** Remembers that the check has come to this state; those with a revision are in order anyway. */
  applied(check: Check): void
  /** Whether a check without revisions was once as pushed, and has changed since. */
  repeatsEarlier(current: Check, push: Push): boolean
  /** What is wrong with what was asked since then, or ever: also of requests that the log has forgotten. */
  report(since: string | undefined): Report
  /** Forgets everything. */
  clear(): void
  /** Calls `listener` with the id of each request that is added; `read` works out what there is to say of it. */
  onAdd(listener: AddListener): () => void
}

export type AddListener = (id: string, read: () => LoggedRequest) => void

export interface LogQuery {
  order?: 'asc' | 'desc' | undefined
  after?: string | undefined
  limit: number
  only?: (entry: RequestHead, findings: readonly Finding[]) => boolean
}

/** The most that is kept, whichever is reached first: requests, characters of their bodies, states per check. */
const KEEP = { requests: 1_000, characters: 16 * 1024 * 1024, checks: 1_000, states: 20 }

/** A log in memory: what the running service was asked, for as long as it is recent. */
export function createRequestLog(): RequestLog {
  /** In the order of their answers. */
  const requests: KeptEntry[] = []
  const states = new Map<string, string[]>()
  const listeners = new Set<AddListener>()
  const tally = createFindingTally()
  const sequence = createPushSequence((lost) => tally.keep(lost))
  let characters = 0
  let pushes = 0
  const unrepeated = () => new Map(sequence.lost().map(({ request, finding }) => [request.id, finding]))
  const forgetOldest = () => {
    const oldest = requests.shift()
    if (oldest === undefined) return
    characters -= sizeOf(oldest)
    for (const shown of findingsIn(oldest)) tally.keep(shown)
  }
  return {
    add(added) {
      const entry = Object.assign(added, { following: sequence.follow(added) })
      if (isForeignPush(entry)) pushes += 1
      requests.push(entry)
      characters += sizeOf(entry)
      while (requests.length > KEEP.requests || characters > KEEP.characters) forgetOldest()
      for (const listener of listeners) listener(entry.id, () => viewOf(entry))
    },
    get(id) {
      const entry = requests.find((one) => one.id === id)
      return entry === undefined ? undefined : viewOf(entry, unrepeated())
    },
    list({ order, after, limit, only = () => true }) {
      const lost = unrepeated()
      const entries = order === 'asc' ? requests : requests.toReversed()
      const isNext = ({ id }: KeptEntry) => after === undefined || (order === 'asc' ? id > after : id < after)
      const found = entries.filter((entry) => isNext(entry) && only(entry, shownBy(entry, lost)))
      return {
        data: found.slice(0, limit).map((entry) => viewOf(entry, lost)),
        more: found.length > limit,
      }
    },
    repeatsEarlier(current, push) {
      if (current.revision !== null || push.revision !== undefined) return false
      return states.get(checkKey(current))?.slice(0, -1).includes(digest(push)) ?? false
    },
    applied(check) {
      if (check.revision !== null) return
      const key = checkKey(check)
      const earlier = states.get(key) ?? []
      states.delete(key)
      states.set(key, [...earlier, digest(check)].slice(-KEEP.states))
      const [stalest] = states.keys()
      if (states.size > KEEP.checks && stalest !== undefined) states.delete(stalest)
    },
    report(since) {
      const shown = [...tally.kept(), ...requests.flatMap(findingsIn), ...sequence.lost()]
      const recent = requests.filter((entry) => isForeignPush(entry) && entry.started_at >= (since ?? ''))
      return {
        since: since ?? null,
        pushes: since === undefined ? pushes : recent.length,
        findings: reportOf({ shown, counted: (code) => tally.counted(code) }, since),
      }
    },
    clear() {
      requests.length = 0
      states.clear()
      tally.clear()
      sequence.clear()
      characters = 0
      pushes = 0
    },
    onAdd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function digest(check: Push | Check): string {
  return createHash('sha256').update(contentOf(check)).digest('base64url')
}

/** An entry with what the requests before it make of it. */
type KeptEntry = RequestEntry & { following: readonly Finding[] }

/** Pushes that failed and have not come again so far, with what to say of each. */
type Unrepeated = ReadonlyMap<string, Finding>

function viewOf(kept: KeptEntry, lost?: Unrepeated): LoggedRequest {
  const { following: _following, push, request_body, response_body, ...entry } = kept
  const findings = shownBy(kept, lost)
  return {
    ...entry,
    push: push && pushNote(push, findings, request_body),
    ...(push === null && findings.length > 0 && { findings }),
    request_body,
    response_body,
  }
}

/** All that is odd about a request. */
function shownBy({ id, push, following }: KeptEntry, lost?: Unrepeated): Finding[] {
  const unrepeated = lost?.get(id)
  return [...(push?.findings ?? []), ...following, ...(unrepeated === undefined ? [] : [unrepeated])]
}

/** What an entry shows; our own trials show nothing about the integration under test. */
function findingsIn(entry: KeptEntry): Shown[] {
  const { id, method, path, status, started_at, push, following } = entry
  if (push === null || (push.findings.length === 0 && following.length === 0) || isTrialPath(path)) return []
  const request = { id, method, path, status, started_at }
  return [...push.findings, ...following].map((finding) => ({ request, finding }))
}

function isForeignPush(entry: RequestEntry): boolean {
  return isPush(entry) && !isTrialPath(entry.path)
}

function sizeOf({ request_body, response_body }: RequestEntry): number {
  return (request_body?.length ?? 0) + (response_body?.length ?? 0)
}
