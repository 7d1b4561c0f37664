import { channel } from 'node:diagnostics_channel'

/** An answer as it left, with what it answers; one that was refused before it was routed has neither method nor path. */
export interface ToldAnswer {
  request: { method: string; path: string; body: string | null } | null
  status: number
  headers: Readonly<Record<string, string>>
  body: string | ReadableStream<Uint8Array> | null
}

const answers = channel('tabwire:answer')

/**
 * Tells of an answer on Node's diagnostics channel `tabwire:answer`, for whoever traces or judges services of the same
 * process. While nobody listens, it is not even put together.
 */
export function tell(answer: () => ToldAnswer): void {
  if (answers.hasSubscribers) answers.publish(answer())
}
