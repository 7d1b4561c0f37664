/** What the service has refused, in its own code; `unreachable` when it did not answer. */
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
  /** Milliseconds within which the answer must have come. */
  timeoutMs?: number
}

/** Calls the service, which answers JSON or nothing. @throws Refused */
export async function callService(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
  const { headers = {}, body, timeoutMs = 20_000 } = options
  const response = await fetch(path, {
    method,
    cache: 'no-store',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new Refused('unreachable', 'The service did not answer.')
  })
  const answer = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
  if (response.ok) return answer
  throw new Refused(answer.error?.code ?? 'unknown', answer.error?.message ?? '')
}
