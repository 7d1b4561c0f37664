import type { DetailsOf } from '../model/error-details.ts'
import type { ErrorCode } from '../model/refusal.ts'

/**
 * The service answered with an error (contract section 3). `is` narrows it to one code and the fields of that code.
 * @example
 * if (error instanceof ApiError && error.is('validation_failed')) report(error.body.issues)
 */
export interface ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly name: 'ApiError'
  readonly status: number
  /** A documented code; `unknown_error` for an answer that is not in the form of this service's errors. */
  readonly code: Code
  readonly requestId: string | null
  /** The whole `error` object of the answer. */
  readonly body: Readonly<Record<string, unknown>> & DetailsOf<Code>
  /** The called path below the service's URL: `/v1/checks?limit=20`. */
  readonly path: string | undefined
  /** Returns whether the error has this code, and tells TypeScript which fields its `body` has. */
  is<One extends ErrorCode>(code: One): this is ApiError<One>
}

interface ApiErrorConstructor {
  new (
    status: number,
    body: Readonly<Record<string, unknown>>,
    requestId: string | null,
    path?: string,
  ): ApiError
  /** Not generic: `instanceof` a generic class would make `code` an `any`. */
  readonly prototype: ApiError
}

class ServiceError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly body: Readonly<Record<string, unknown>>
  readonly path: string | undefined

  constructor(...[status, body, requestId, path]: ConstructorParameters<ApiErrorConstructor>) {
    super(typeof body.message === 'string' ? body.message : `The service answered ${status}.`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : 'unknown_error'
    this.requestId = requestId
    this.body = body
    this.path = path
  }

  is(code: string): boolean {
    return this.code === code
  }
}
Object.defineProperty(ServiceError, 'name', { value: 'ApiError' })

// The answer has the actual code and fields; the document lists the possible ones.
export const ApiError = ServiceError as unknown as ApiErrorConstructor

/**
 * The service did not answer within the given time. A request may take effect unless the message says that it was
 * stopped.
 */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
  readonly code = 'timeout'
}

/** How far a call had come when its connection failed. */
interface ConnectionFailure extends ErrorOptions {
  /**
   * `connecting`: no request was sent. `waiting`: the request may have been handled. `reading`: a part of the response had
   * arrived.
   */
  failedWhile?: 'connecting' | 'waiting' | 'reading'
  /** Code of the connection's error, such as `ECONNREFUSED`. */
  connectionCode?: string | undefined
}

/** No service answers at the address, or the connection broke before the whole response. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  readonly failedWhile: 'connecting' | 'waiting' | 'reading'
  readonly connectionCode: string | undefined

  constructor(
    message: string,
    { failedWhile = 'reading', connectionCode, ...options }: ConnectionFailure = {},
  ) {
    super(message, options)
    this.failedWhile = failedWhile
    this.connectionCode = connectionCode
  }
}

/** Handles a rejection: returns `undefined` for status 404, and rethrows any other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error
}
