import { checkKey, parsePush, viewCheck, type Check, type Push } from '../model/check.ts'
import { diffItems } from '../model/item-diff.ts'
import type { PushNote } from '../model/logged-request.ts'
import { Refusal } from '../model/refusal.ts'
import { findingsOf } from '../findings/index.ts'
import { pushCheck } from '../operations/push-check.ts'
import type { Service } from '../service.ts'
import { externalId } from './query.ts'
import type { RequestLog } from './request-log.ts'
import { created, ok, type Call, type Reply } from './route.ts'

interface PushParts {
  service: Service
  log: RequestLog
  strict: boolean
}

/** `PUT /checks/external/{external_check_id}`: pushes, and notes in the log what the push was like. */
export async function acceptPush({ service, log, strict }: PushParts, call: Call): Promise<Reply> {
  const external_id = externalId(call.params.external_check_id ?? '')
  const { location_id } = call.key
  const body = await call.body()
  const push = parsePush(body, { strict })
  const { outcome, check, before } = await service
    .execute(pushCheck, { location_id, external_id, push })
    .catch(async (error: unknown) => {
      if (isConflict(error))
        call.note(describe({ external_id, outcome: 'conflict', before: await current() }, log, push))
      throw error
    })
  call.note(describe({ external_id, outcome, before }, log, push))
  if (outcome === 'created' || outcome === 'updated') log.applied(check)
  return outcome === 'created' ? created(viewCheck(check)) : ok(viewCheck(check))

  async function current(): Promise<Check | null> {
    const [found] = await service.find('checks', 'external', checkKey({ location_id, external_id }))
    return found ?? null
  }
}

interface Pushed {
  external_id: string
  outcome: PushNote['outcome']
  before: Check | null
}

/** What there is to say of a push, to be worked out of its body when somebody asks. */
function describe({ external_id, outcome, before }: Pushed, log: RequestLog, pushed: Push) {
  const repeatsEarlier = before !== null && log.repeatsEarlier(before, pushed)
  return (body: unknown): PushNote => {
    const push = parsePush(body)
    const findings = findingsOf({ body, push, before, outcome, repeatsEarlier })
    const applied = outcome === 'created' || outcome === 'updated'
    const diff = applied ? diffItems(before?.items ?? [], push.items) : null
    return { external_check_id: external_id, outcome, diff, findings }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'conflict_with_paid_items'
}
