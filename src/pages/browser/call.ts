/** A refusal by the service, with its error code; `unreachable` when no response came. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

interface CallOptions {
  headers?: Record<string, string>
  /** Sent as JSON. */
  body?: object
  /** Milliseconds until the call counts as unreachable; 20,000 by default. */
  timeoutMs?: number
}

/** Calls the service and returns its JSON response; `{}` when there is no body. @throws Refused */
export async function callService(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
  const { headers = {}, body, timeoutMs = 20_000 } = options
  const response = await fetch(path, {
    method,
    cache: 'no-store',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new Refused('unreachable', 'No response from the service. Check that it is running.')
  })
  const answer = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
  if (response.ok) return answer
  throw new Refused(answer.error?.code ?? 'unknown', answer.error?.message ?? '')
}
