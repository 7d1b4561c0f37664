import { setTimeout as sleep } from 'node:timers/promises'
import { setNewest } from '../../model/bounded-map.ts'
import { ApiError, Unreachable, type Client } from '../../client.ts'
import type { OfferedAttempt } from '../../model/offer.ts'
import type { OfferAnswer } from '../../model/simulator/bodies.ts'
import { defaultDeliveryTimes } from '../../simulator-options.ts'
import type { Forwarder } from './forward.ts'
import type { ForwardRoute } from './target.ts'

/** Forwards the attempts that the service offers over the live stream. */
export interface Listener {
  /** Its name in the hosts of its endpoints. */
  name: string
  /** Forwards an attempt and answers it. Never rejects. An attempt that is offered again is not forwarded again. */
  take(offered: OfferedAttempt, connect: () => Promise<Client>): Promise<void>
}

/** Answers that are kept for repeated offers, the newest ones. More than the attempts that a service has in flight. */
const MOST_KEPT = 1_000

/** First wait before an answer is sent again, in milliseconds; each further wait is twice as long. */
const FIRST_WAIT_MS = 100

export function createListener(
  name: string,
  routes: readonly ForwardRoute[],
  { forward }: Pick<Forwarder, 'forward'>,
): Listener {
  const answers = new Map<string, Promise<OfferAnswer>>()
  const answerTo = (offered: OfferedAttempt): Promise<OfferAnswer> | undefined => {
    const route = routes.find(({ url }) => url === offered.url)
    const known = answers.get(offered.offer)
    if (known !== undefined || route === undefined) return known
    const answer = forward(offered, route.target)
    setNewest(answers, offered.offer, answer, MOST_KEPT)
    return answer
  }
  return {
    name,
    async take(offered, connect) {
      const answer = await answerTo(offered)
      if (answer === undefined) return
      const path = `/_sim/deliveries/${offered.delivery_id}/attempts/${offered.attempt}/response`
      for (let wait = FIRST_WAIT_MS; wait < defaultDeliveryTimes.timeoutMs; wait *= 2)
        try {
          return void (await (await connect()).request('POST', path, answer))
        } catch (error) {
          // Any other refusal means that the attempt has ended; the stream tells how.
          if (!isTransient(error)) return
          await sleep(wait, undefined, { ref: false })
        }
    },
  }
}

/** Returns true for failures that end by themselves. While a service restarts, another one may refuse the key. */
function isTransient(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  return error instanceof ApiError && (error.status >= 500 || [401, 403, 429].includes(error.status))
}
