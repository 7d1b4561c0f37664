/**
 * Endpoints to which this instance may begin attempts. The instances of a shared sandbox divide the endpoints by slots, so
 * that each endpoint has one instance at a time.
 */
export interface Slots {
  /** True when this instance may begin attempts to an endpoint now. */
  owns(endpointId: string): boolean
  /** Begins an attempt to an endpoint; `undefined` when this instance may not. Callers must `end` the permit. */
  begin(endpointId: string): Permit | undefined
  /** Calls `listener` when this instance may begin attempts to further endpoints. The result removes it. */
  onChange(listener: () => void): () => void
  /** Begins no further attempts, waits for the permits to end, and leaves the endpoints to other instances. */
  close(): Promise<void>
}

/** An attempt that this instance may make. No other instance attempts the delivery before `end`, or before a lease ends. */
interface Permit {
  /** False when the attempt might outlast the lease, such as after the process was suspended. Must precede each request. */
  isValid(): boolean
  /** Must be called when the outcome is recorded, or the attempt aborted. */
  end(): void
}

/** Another instance attempts the deliveries to this endpoint. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner'
  /** Number of attempts of the delivery as it was read; 0 when the sender does not know it. */
  readonly attempts: number

  constructor(attempts = 0) {
    super('Another instance attempts the deliveries to this endpoint.')
    this.attempts = attempts
  }
}
