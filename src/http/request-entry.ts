import type { LoggedRequest, PushNote } from '../model/logged-request.ts'

/** A request as it is kept: what there is to say of a push is worked out when somebody asks, out of the text that was kept. */
export type RequestEntry = Omit<LoggedRequest, 'push'> & { describe: ((body: unknown) => PushNote) | null }
