import { parsePush, viewCheck } from '../../model/check.ts'
import { findingsOf, type PushSeen } from '../../findings/index.ts'
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

/** `PUT /checks/external/{external_check_id}`: pushes a check and logs a summary. */
export async function acceptPush({ service, log, strict, orderBy }: PushParts, call: Call): Promise<Reply> {
  const { external_check_id: external_id = '' } = call.params
  const { location_id } = call.key
  const body = await call.body()
  const push = parsePush(body, { strict, orderBy })
  const pushed = { body, push, orderBy }
  const { outcome, check, before } = await service
    .execute(pushCheck, { location_id, external_id, push, order_by: orderBy })
    .catch((error: unknown) => {
      if (error instanceof PushConflict)
        call.note(
          noted(external_id, { ...pushed, outcome: 'conflict', before: error.before, after: null }, log),
        )
      throw error
    })
  call.note(noted(external_id, { ...pushed, outcome, before, after: check }, log))
  if (outcome === 'created' || outcome === 'updated') log.applied(check)
  return outcome === 'created' ? created(viewCheck(check)) : ok(viewCheck(check))
}

function noted(
  external_check_id: string,
  pushed: Omit<PushSeen, 'repeatsEarlier' | 'earlierStates' | 'now'> & Pick<PushSummary, 'after'>,
  log: RequestLog,
): PushSummary {
  const { push, outcome, before, after } = pushed
  const repeatsEarlier = before !== null && log.repeatsEarlier(before, push)
  const earlierStates = () => (before === null ? [] : log.earlierStates(before))
  const findings = findingsOf({ ...pushed, repeatsEarlier, earlierStates, now: log.now() })
  return { external_check_id, outcome, before, after, findings }
}
