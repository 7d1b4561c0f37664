import type { StoredCheck } from '../model/check.ts'
import type { LoggedRequest, PushNote } from '../model/logged-request.ts'

/** What is known of a push when it has been answered; its item diff is worked out of the kept text when somebody asks. */
export interface NotedPush extends Omit<PushNote, 'diff'> {
  /** The check that the push met; `null` for a new one. */
  before: StoredCheck | null
}

/** A request as it is kept. */
export type RequestEntry = Omit<LoggedRequest, 'push'> & { push: NotedPush | null }
