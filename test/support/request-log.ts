import { createRequestLog, type LocalLog } from '../../src/http/request-log/log.ts'

/** A request log without a service: no check is ever paid. */
export function openRequestLog(): LocalLog {
  return createRequestLog({ service: { onCommit: () => () => {} }, clock: { now: () => new Date() } })
}
