import type { RateLimiterMemory } from 'rate-limiter-flexible'
import { Refusal } from '../../model/refusal.ts'
import type { RateLimit } from '../../model/simulator/settings.ts'
import type { Authenticate } from './api-key.ts'

/**
 * Counts the requests of each known key; an unknown key gets 401 and not 429. The window begins with a
 * key's first request; those that are refused in it count, and make it no longer. Without a limit, nothing is counted.
 * @throws Refusal `rate_limited` beyond the limit (contract section 4).
 */
export function limited(authenticate: Authenticate, limit: RateLimit | undefined): Authenticate {
  if (limit === undefined) return authenticate
  let limiter: Promise<RateLimiterMemory> | undefined
  return async (authorization) => {
    const key = await authenticate(authorization)
    limiter ??= open(limit)
    await (await limiter).consume(key.id).catch((exceeded: unknown) => {
      if (exceeded instanceof Error) throw exceeded
      throw refusal(limit, (exceeded as { msBeforeNext: number }).msBeforeNext)
    })
    return key
  }
}

/** Only a service that limits anything loads what counts. */
async function open({ requests: points, seconds: duration }: RateLimit): Promise<RateLimiterMemory> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible')
  return new RateLimiterMemory({ points, duration })
}

/** Whole seconds, as the header has them, and never 0, which would mean at once. */
function refusal({ requests, seconds }: RateLimit, msBeforeNext: number): Refusal {
  const retry_after_seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  const limit = `${requests} request${requests === 1 ? '' : 's'} in ${seconds === 1 ? 'a second' : `${seconds} seconds`}`
  return new Refusal(
    'rate_limited',
    `This API key may make ${limit}. Wait ${retry_after_seconds} s, then send it again.`,
    { retry_after_seconds },
  )
}
