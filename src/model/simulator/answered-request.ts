/** An answered request, for access logs. */
export interface AnsweredRequest {
  /** The `X-Request-Id`. */
  requestId: string
  method: string
  /** Path without query. */
  path: string
  status: number
  durationMs: number
}
