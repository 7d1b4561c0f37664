import { createRequestLog, type RequestLog } from '../../src/http/request-log/log.ts'

/** A request log without a service: no check is ever paid. */
export function openRequestLog(): RequestLog {
  return createRequestLog({ service: { onCommit: () => () => {} }, now: () => new Date() })
}
