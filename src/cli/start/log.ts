import { hostname } from 'node:os'
import type { AnsweredRequest } from '../../model/simulator/request-entry.ts'
import type { SimulatorOptions } from '../../simulator-options.ts'

export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

type Level = 'info' | 'warn' | 'error'

/** Paths that probes and scrapers ask for every few seconds. Only failures are logged. */
const PROBED = ['/_sim/health', '/_sim/ready', '/_sim/metrics']

/** The log of `--log json`: one JSON object per line. No line has a secret. */
export function createJsonLog(write: (line: object) => void) {
  const instance = `${hostname()}:${process.pid}`
  const tell = (level: Level, msg: string, fields: object = {}) =>
    write({ time: new Date().toISOString(), level, msg, ...fields, instance })
  const onRequest = ({ requestId, method, path, status, durationMs }: AnsweredRequest) => {
    if (PROBED.includes(path) && status < 400) return
    const level = status >= 500 ? 'error' : 'info'
    tell(level, 'request', { request_id: requestId, method, path, status, duration_ms: durationMs })
  }
  const callbacks: Pick<SimulatorOptions, 'onRequest' | 'onNotice' | 'onError'> = {
    onRequest,
    onNotice: (notice) => tell('info', notice),
    onError: (error, requestId) =>
      tell('error', error instanceof Error ? error.message : String(error), {
        ...(requestId !== undefined && { request_id: requestId }),
        stack: error instanceof Error ? error.stack : undefined,
      }),
  }
  return { tell, callbacks }
}
