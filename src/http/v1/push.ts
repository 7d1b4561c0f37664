import { findingsOf, needsHistory } from '../../findings/index.ts'
import { parsePush } from '../../model/check.ts'
import { pushCheck } from '../../operations/push-check.ts'
import { PushConflict } from '../../operations/push-conflicts.ts'
import type { Service } from '../../service.ts'
import type { PushSummary } from '../request-context.ts'
import type { RequestLog } from '../request-log/log.ts'
import type { Call, Reply } from '../route.ts'

interface PushParts {
  service: Service
  log: Pick<RequestLog, 'applied'>
  time: { now(): Date }
  strict: boolean
  /** The field that orders pushes. */
  orderBy: string
}

/**
 * `PUT /checks/external/{external_check_id}`: pushes a check and notes a summary for the log. Pushes under `/_sim` are
 * not logged; the log then gets the new state of the check only.
 */
export async function acceptPush(
  { service, log, time, strict, orderBy }: PushParts,
  call: Call,
  { isLogged = true }: { isLogged?: boolean } = {},
): Promise<Reply> {
  const { external_check_id = '' } = call.params
  const { location_id } = call.key
  const body = await call.body()
  const push = parsePush(body, { strict, orderBy })
  const note = ({ outcome, before, after }: Pick<PushSummary, 'outcome' | 'before' | 'after'>) => {
    const seen = { body, push, orderBy, now: time.now(), outcome, before }
    const findings = findingsOf(seen)
    const summary = { external_check_id, outcome, before, after, findings }
    call.note(needsHistory(seen) ? { ...summary, unjudged: { push, now: seen.now.toISOString() } } : summary)
  }
  const command = { location_id, external_id: external_check_id, push, order_by: orderBy }
  const { outcome, before, check, json } = await service
    .execute(pushCheck, command, call.trace)
    .catch((error: unknown) => {
      if (error instanceof PushConflict && isLogged)
        note({ outcome: 'conflict', before: error.before, after: null })
      throw error
    })
  if (isLogged) note({ outcome, before, after: check })
  else if (outcome === 'created' || outcome === 'updated') log.applied(check)
  return { status: outcome === 'created' ? 201 : 200, body: json }
}
