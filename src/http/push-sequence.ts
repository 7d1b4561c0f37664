import { createHash } from 'node:crypto'
import { conflictIgnored, noIdempotentRetry, stateOf, type Finding } from '../findings/index.ts'
import { ORDER_BY } from '../model/revision.ts'
import { isTrialPath } from '../model/trial-check.ts'
import type { RequestEntry } from './request-entry.ts'

/** A request without what it took, which is all that a report tells of it. */
export type Seen = Pick<RequestEntry, 'id' | 'method' | 'path' | 'status' | 'started_at'>

/** The pushes of each check one after the other: what only their sequence shows (contract section 11). */
export interface PushSequence {
  /** Takes the next request, and tells what those before it make of it. */
  follow(entry: RequestEntry): Finding[]
  /** The pushes that failed and have not come again so far, oldest first. */
  lost(): readonly { request: Seen; finding: Finding }[]
  clear(): void
}

/** The most that is remembered: checks with a conflict, refused bodies of each. */
const KEEP = { checks: 1_000, refused: 5 }

interface Lost {
  request: Seen
  finding: Finding
  /** `undefined` when the body never came. */
  digest: string | undefined
}

/**
 * Only failed and refused bodies are looked at, and those that follow them: a sequence without either costs nothing.
 * `onForget` gets a failed push that is too long ago to wait for its repetition.
 */
export function createPushSequence(
  onForget: (lost: Lost) => void,
  { orderBy = ORDER_BY, keepLost = 1_000 } = {},
): PushSequence {
  const refused = new Map<string, string[]>()
  const lost = new Map<string, Lost[]>()
  let waiting = 0

  function settle(path: string, digest: () => string | undefined): void {
    const open = lost.get(path)
    if (open === undefined) return
    const left = open.filter((one) => one.digest !== undefined && one.digest !== digest())
    waiting -= open.length - left.length
    if (left.length > 0) lost.set(path, left)
    else lost.delete(path)
  }

  function lose(entry: RequestEntry, message: string, digest: string | undefined): void {
    const { id, method, path, status, started_at } = entry
    const request = { id, method, path, status, started_at }
    const finding = { code: 'no_idempotent_retry' as const, message }
    lost.set(path, [...(lost.get(path) ?? []), { request, finding, digest }])
    waiting += 1
    const [[stalest, [oldest, ...rest]] = ['', []]] = lost
    if (waiting <= keepLost || oldest === undefined) return
    onForget(oldest)
    waiting -= 1
    if (rest.length > 0) lost.set(stalest, rest)
    else lost.delete(stalest)
  }

  function refuse(path: string, digest: string): void {
    const known = refused.get(path) ?? []
    refused.delete(path)
    refused.set(path, [...known.filter((one) => one !== digest), digest].slice(-KEEP.refused))
    const [stalest] = refused.keys()
    if (refused.size > KEEP.checks && stalest !== undefined) refused.delete(stalest)
  }

  return {
    follow(entry) {
      if (!isPush(entry) || isTrialPath(entry.path)) return []
      const { path, status } = entry
      const digest = digestOnce(entry.request_body, orderBy)
      settle(path, digest)
      const brokeOff = (entry.faults ?? []).some((kind) => kind === 'reset' || kind === 'lost_answer')
      const failure = noIdempotentRetry({ status, brokeOff, repeated: false })
      if (failure !== undefined) {
        lose(entry, failure, digest())
        return []
      }
      const refusedBefore = refused.get(path)?.includes(digest() ?? '') ?? false
      const message = conflictIgnored({ answer: status, refusedBefore })
      if (status === 409) refuse(path, digest() ?? '')
      else if (refusedBefore) refused.delete(path)
      return message === undefined ? [] : [{ code: 'conflict_ignored', message }]
    },
    lost: () => [...lost.values()].flat(),
    clear() {
      refused.clear()
      lost.clear()
      waiting = 0
    },
  }
}

/** Whether a request pushes a check, answered or not. */
export function isPush({ method, path }: Pick<Seen, 'method' | 'path'>): boolean {
  return method === 'PUT' && path.startsWith('/v1/checks/external/')
}

function digestOnce(body: string | null, orderBy: string): () => string | undefined {
  let digest: string | undefined
  return () => {
    if (body === null) return undefined
    return (digest ??= createHash('sha256').update(stateOf(body, orderBy)).digest('base64url'))
  }
}
