import { findingsWithoutHistory, needsHistory } from '../../findings/index.ts'
import { parsePush, viewCheck } from '../../model/check.ts'
import { pushCheck, type PushReply } from '../../operations/push-check.ts'
import { PushConflict } from '../../operations/push-conflicts.ts'
import type { Service } from '../../service.ts'
import type { PushSummary } from '../request-context.ts'
import type { RequestLog } from '../request-log/log.ts'
import type { Call, Reply } from '../route.ts'

interface PushParts {
  service: Service
  log: RequestLog
  strict: boolean
  /** The field that orders pushes. */
  orderBy: string
}

/** `PUT /checks/external/{external_check_id}`: pushes a check and notes a summary for the log. */
export async function acceptPush(parts: PushParts, call: Call): Promise<Reply> {
  return replyOf(await pushed(parts, call))
}

/** Pushes a check by a request that the log leaves out, and tells the log the new state. */
export async function acceptUnloggedPush(parts: PushParts, call: Call): Promise<Reply> {
  const result = await pushed(parts, call)
  if (result.outcome === 'created' || result.outcome === 'updated') parts.log.applied(result.check)
  return replyOf(result)
}

function replyOf({ outcome, check }: PushReply): Reply {
  return { status: outcome === 'created' ? 201 : 200, json: viewCheck(check) }
}

async function pushed({ service, log, strict, orderBy }: PushParts, call: Call): Promise<PushReply> {
  const { external_check_id = '' } = call.params
  const { location_id } = call.key
  const body = await call.body()
  const push = parsePush(body, { strict, orderBy })
  const note = ({ outcome, before, after }: Pick<PushSummary, 'outcome' | 'before' | 'after'>) => {
    const seen = { body, push, orderBy, now: log.now(), outcome, before }
    const findings = findingsWithoutHistory(seen)
    const summary = { external_check_id, outcome, before, after, findings }
    call.note(needsHistory(seen) ? { ...summary, unjudged: { push, now: seen.now.toISOString() } } : summary)
  }
  const command = { location_id, external_id: external_check_id, push, order_by: orderBy }
  const result = await service.execute(pushCheck, command, call.trace).catch((error: unknown) => {
    if (error instanceof PushConflict) note({ outcome: 'conflict', before: error.before, after: null })
    throw error
  })
  note({ outcome: result.outcome, before: result.before, after: result.check })
  return result
}
