import type { Finding } from '../findings/index.ts'
import { checkChanges } from '../model/check-changes.ts'
import { parsePush } from '../model/check.ts'
import { diffItems } from '../model/item-diff.ts'
import type { PushNote } from '../model/logged-request.ts'
import type { NotedPush } from './request-entry.ts'

/** What the log tells of a push: what it changed is worked out of the kept body when somebody asks. */
export function pushNote(
  { external_check_id, outcome, before }: NotedPush,
  findings: readonly Finding[],
  { body, orderBy }: { body: string | null; orderBy: string },
): PushNote {
  const note = { external_check_id, outcome, diff: null, findings }
  const applied = outcome === 'created' || outcome === 'updated'
  if (!applied || body === null) return note
  const push = parsePush(JSON.parse(body), { orderBy })
  const changes = before === null ? [] : checkChanges(before, push)
  return {
    ...note,
    diff: diffItems(before?.items ?? [], push.items),
    ...(changes.length > 0 && { changes }),
  }
}
