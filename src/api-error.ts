/** The service answered with an error (contract section 3). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  /** The whole `error` object of the answer. */
  readonly body: Readonly<Record<string, unknown>>
  /** What was called, below the service's URL: `/v1/checks?limit=20`. */
  readonly path: string | undefined

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    requestId: string | null,
    path?: string,
  ) {
    super(typeof body.message === 'string' ? body.message : `The service answered ${status}.`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : 'unknown_error'
    this.requestId = requestId
    this.body = body
    this.path = path
  }
}

/** The service did not answer within the time that was given; what was asked for has ended. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
  readonly code = 'timeout'
}

/** Nothing answers at the service's address. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}
