import { checkKey, parsePush, viewCheck, type Check, type Push } from '../model/check.ts'
import { diffItems } from '../model/item-diff.ts'
import { Refusal } from '../model/refusal.ts'
import { findingsOf } from '../findings/index.ts'
import { pushCheck, type PushReply } from '../operations/push-check.ts'
import type { Service } from '../service.ts'
import { externalId } from './query.ts'
import type { PushNote, RequestLog } from './request-log.ts'
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
  const note = (outcome: PushNote['outcome'], before: Check | null, after: Check | null) =>
    call.note(noteOf({ external_id, body, push, outcome, before, after }, log))
  try {
    const { outcome, check, before } = await service.execute(pushCheck, { location_id, external_id, push })
    note(outcome, before, check)
    return outcome === 'created' ? created(viewCheck(check)) : ok(viewCheck(check))
  } catch (error) {
    if (error instanceof Refusal && error.code === 'conflict_with_paid_items') {
      const [before] = await service.find('checks', 'external', checkKey({ location_id, external_id }))
      note('conflict', before ?? null, null)
    }
    throw error
  }
}

interface Pushed {
  external_id: string
  body: unknown
  push: Push
  outcome: PushReply['outcome'] | 'conflict'
  before: Check | null
  after: Check | null
}

function noteOf({ external_id, body, push, outcome, before, after }: Pushed, log: RequestLog): PushNote {
  const repeatsEarlier = before !== null && log.repeatsEarlier(before, push)
  const findings = findingsOf({ body, push, before, outcome, repeatsEarlier })
  const applied = outcome === 'created' || outcome === 'updated'
  if (applied && after !== null) log.applied(after)
  const diff = applied ? diffItems(before?.items ?? [], push.items) : null
  return { external_check_id: external_id, outcome, diff, findings }
}
