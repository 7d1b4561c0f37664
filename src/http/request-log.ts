import { createHash } from 'node:crypto'
import { checkKey, contentOf, type Check, type Push } from '../model/check.ts'
import type { LoggedRequest, PushNote } from '../model/logged-request.ts'

/** A request as it is kept: what there is to say of a push is worked out when somebody asks, out of the text that was kept. */
export type RequestEntry = Omit<LoggedRequest, 'push'> & { describe: ((body: unknown) => PushNote) | null }

export interface RequestLog {
  add(entry: RequestEntry): void
  get(id: string): LoggedRequest | undefined
  /** Newest first, those older than the id `before`. */
  list(query: { before?: string | undefined; limit: number }): { data: LoggedRequest[]; more: boolean }
  /** Remembers that the check has come to this state; those with a revision are in order anyway. */
  applied(check: Check): void
  /** Whether a check without revisions was once as pushed, and has changed since. */
  repeatsEarlier(current: Check, push: Push): boolean
  /** Forgets everything. */
  clear(): void
  onAdd(listener: (read: () => LoggedRequest) => void): () => void
}

/** The most that is kept, whichever is reached first: requests, characters of their bodies, states per check. */
const KEEP = { requests: 1_000, characters: 16 * 1024 * 1024, checks: 1_000, states: 20 }

/** A log in memory: what the running service was asked, for as long as it is recent. */
export function createRequestLog(): RequestLog {
  const requests = new Map<string, RequestEntry>()
  const states = new Map<string, string[]>()
  const listeners = new Set<(read: () => LoggedRequest) => void>()
  let characters = 0
  const forgetOldest = () => {
    const [oldest] = requests.values()
    if (oldest === undefined) return
    requests.delete(oldest.id)
    characters -= sizeOf(oldest)
  }
  return {
    add(entry) {
      requests.set(entry.id, entry)
      characters += sizeOf(entry)
      while (requests.size > KEEP.requests || characters > KEEP.characters) forgetOldest()
      for (const listener of listeners) listener(() => viewOf(entry))
    },
    get(id) {
      const entry = requests.get(id)
      return entry === undefined ? undefined : viewOf(entry)
    },
    list({ before, limit }) {
      const newestFirst = [...requests.values()]
        .reverse()
        .filter(({ id }) => before === undefined || id < before)
      return { data: newestFirst.slice(0, limit).map(viewOf), more: newestFirst.length > limit }
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
    clear() {
      requests.clear()
      states.clear()
      characters = 0
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

function viewOf({ describe, request_body, response_body, ...entry }: RequestEntry): LoggedRequest {
  const push = describe === null || request_body === null ? null : describe(JSON.parse(request_body))
  return { ...entry, push, request_body, response_body }
}

function sizeOf({ request_body, response_body }: RequestEntry): number {
  return (request_body?.length ?? 0) + (response_body?.length ?? 0)
}
