import {
  findingsWithoutHistory,
  needsHistory,
  type PushHistory,
  type PushSeen,
} from '../../findings/index.ts'
import { parsePush, viewCheck } from '../../model/check.ts'
import { pushCheck } from '../../operations/push-check.ts'
import { PushConflict } from '../../operations/push-conflicts.ts'
import type { Service } from '../../service.ts'
import type { PushSummary } from '../request-context.ts'
import type { RequestLog } from '../request-log/log.ts'
import { created, ok, type Call, type Reply } from '../route.ts'

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

function replyOf({ outcome, check }: Awaited<ReturnType<typeof pushed>>): Reply {
  return outcome === 'created' ? created(viewCheck(check)) : ok(viewCheck(check))
}

async function pushed({ service, log, strict, orderBy }: PushParts, call: Call) {
  const { external_check_id: external_id = '' } = call.params
  const { location_id } = call.key
  const body = await call.body()
  const push = parsePush(body, { strict, orderBy })
  const note = (decided: Pick<PushSummary, 'outcome' | 'before' | 'after'>) =>
    call.note(noted(external_id, { body, push, orderBy, now: log.now(), ...decided }))
  const result = await service
    .execute(pushCheck, { location_id, external_id, push, order_by: orderBy }, call.trace)
    .catch((error: unknown) => {
      if (error instanceof PushConflict) note({ outcome: 'conflict', before: error.before, after: null })
      throw error
    })
  note({ outcome: result.outcome, before: result.before, after: result.check })
  return result
}

type Pushed = Omit<PushSeen, keyof PushHistory> & Pick<PushSummary, 'after'>

function noted(external_check_id: string, seen: Pushed): PushSummary {
  const { push, outcome, before, after, now } = seen
  const summary = { external_check_id, outcome, before, after, findings: findingsWithoutHistory(seen) }
  return needsHistory(seen) ? { ...summary, unjudged: { push, now: now.toISOString() } } : summary
}
