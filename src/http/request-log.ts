import { createHash } from 'node:crypto'
import { checkKey, contentOf, type Check, type Push } from '../model/check.ts'
import type { ItemDiff } from '../model/item-diff.ts'

/** What is found out about a push beside its answer (contract sections 10 and 11). */
export interface PushNote {
  external_check_id: string
  outcome: 'created' | 'updated' | 'unchanged' | 'stale' | 'conflict'
  diff: ItemDiff | null
  findings: readonly { code: string; message: string }[]
}

/** A request as `/_sim/requests` shows it. Headers are left out, so that no key is ever in it. */
export interface LoggedRequest {
  id: string
  method: string
  path: string
  status: number
  started_at: string
  duration_ms: number
  push: PushNote | null
  request_body: string | null
  response_body: string | null
}

export interface RequestLog {
  add(request: LoggedRequest): void
  get(id: string): LoggedRequest | undefined
  /** Newest first, those older than the id `before`. */
  list(query: { before?: string | undefined; limit: number }): { data: LoggedRequest[]; more: boolean }
  /** Remembers that the check has come to this state. */
  applied(check: Check): void
  /** Whether the check was once as pushed, and has changed since. */
  repeatsEarlier(current: Check, push: Push): boolean
  onAdd(listener: (request: LoggedRequest) => void): () => void
}

/** The most that is kept, whichever is reached first: requests, characters of their bodies, states per check. */
const KEEP = { requests: 1_000, characters: 16 * 1024 * 1024, checks: 1_000, states: 20 }

/** A log in memory: what the running service was asked, for as long as it is recent. */
export function createRequestLog(): RequestLog {
  const requests = new Map<string, LoggedRequest>()
  const states = new Map<string, string[]>()
  const listeners = new Set<(request: LoggedRequest) => void>()
  let characters = 0
  const forgetOldest = () => {
    const [oldest] = requests.values()
    if (oldest === undefined) return
    requests.delete(oldest.id)
    characters -= sizeOf(oldest)
  }
  return {
    add(request) {
      requests.set(request.id, request)
      characters += sizeOf(request)
      while (requests.size > KEEP.requests || characters > KEEP.characters) forgetOldest()
      for (const listener of listeners) listener(request)
    },
    get: (id) => requests.get(id),
    list({ before, limit }) {
      const newestFirst = [...requests.values()]
        .reverse()
        .filter(({ id }) => before === undefined || id < before)
      return { data: newestFirst.slice(0, limit), more: newestFirst.length > limit }
    },
    repeatsEarlier: (current, push) =>
      states.get(checkKey(current))?.slice(0, -1).includes(digest(push)) ?? false,
    applied(check) {
      const key = checkKey(check)
      const earlier = states.get(key) ?? []
      states.delete(key)
      states.set(key, [...earlier, digest(check)].slice(-KEEP.states))
      const [stalest] = states.keys()
      if (states.size > KEEP.checks && stalest !== undefined) states.delete(stalest)
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

function sizeOf({ request_body, response_body }: LoggedRequest): number {
  return (request_body?.length ?? 0) + (response_body?.length ?? 0)
}
