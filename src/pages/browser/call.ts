/** A refusal by the service, with its error code; `unreachable` when no response came. */
export class Refused extends Error {
  readonly code: string
  /** Status of the response; `undefined` without one. */
  readonly status: number | undefined
  constructor(code: string, message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

interface CallOptions {
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: object
  /** Milliseconds until the call counts as unreachable. */
  timeoutMs: number
  /** Aborts the call. */
  signal?: AbortSignal
}

/** Calls the service and returns its JSON response; `{}` when there is no body. @throws Refused */
export async function callService(method: string, path: string, options: CallOptions): Promise<unknown> {
  const { headers = {}, body, timeoutMs, signal } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const response = await fetch(path, {
    method,
    cache: 'no-store',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch(unreachable)
  const text = await response.text().catch(unreachable)
  const answer = parse(text)
  if (response.ok && answer !== undefined) return answer
  if (response.ok && !/^\s*</.test(text)) unreachable()
  const ofPage = response.ok && 'Another server answers here, with a page. Check the address and the proxy.'
  const { code = 'unknown', message = ofPage || `The service returned status ${response.status}.` } =
    answer?.error ?? {}
  throw new Refused(code, message, response.status)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function unreachable(): never {
  throw new Refused('unreachable', 'No response from the service. Check that it is running.')
}

/** Returns `undefined` for a text that is not JSON: a proxy answered, or the response broke off. */
function parse(text: string): { error?: { code?: string; message?: string } } | undefined {
  try {
    return JSON.parse(text === '' ? '{}' : text) as object
  } catch {
    return undefined
  }
}
