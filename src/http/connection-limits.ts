/** What a client that is slow, or many, may take. */
export interface ConnectionLimits {
  /** Milliseconds until a new connection's first request must have arrived with its headers. */
  firstRequestMs: number
  /** Milliseconds that the headers of a further request may take. */
  headersMs: number
  /** Milliseconds that a whole request may take. */
  requestMs: number
  /** Connections at a time; a further one takes the place of an idle one, and is closed when there is none. */
  connections: number
}
