/** Times of attempts, and of the leases that divide them among instances, in milliseconds. */
export interface DeliveryTimes {
  /** From connecting until the response headers (specification section 8). */
  timeoutMs: number
  /** For the kept part of a response's body. */
  bodyTimeoutMs: number
  /** How long a lease lasts. Other instances take over from an instance that ended without notice after this time. */
  leaseMs: number
  /** Between renewals of the leases. */
  renewMs: number
  /** Between looks for free slots. */
  pollMs: number
}

export const deliveryTimes: DeliveryTimes = {
  timeoutMs: 10_000,
  bodyTimeoutMs: 1_000,
  leaseMs: 30_000,
  renewMs: 5_000,
  pollMs: 500,
}

/** Requests of one attempt: a fault may send it twice. */
const MOST_REQUESTS = 2
/** Part of a lease that is kept for late timers and for clocks that differ in speed. */
const MARGIN = 1 / 30

/** Returns the milliseconds that must be left of a lease when an attempt begins. */
export function longestAttempt({ timeoutMs, bodyTimeoutMs, leaseMs }: DeliveryTimes): number {
  return MOST_REQUESTS * (timeoutMs + bodyTimeoutMs) + MARGIN * leaseMs
}

/** True when a lease that is renewed in time always has enough left for an attempt. */
export function fitLease(times: DeliveryTimes): boolean {
  return times.leaseMs - times.renewMs - 2 * times.pollMs > longestAttempt(times)
}
