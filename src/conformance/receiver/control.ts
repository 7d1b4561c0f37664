import { isGood, told, type Finding, type ReceiverCase } from './case.ts'
import { causeOf } from './cause.ts'
import { bytes } from './forge.ts'
import { otherSecret } from './forgeries.ts'

/** Time enough for a receiver that answers before it has read the body, in milliseconds. */
const HOLD_BACK_MS = 400

/**
 * What every other verdict rests on. These cases run first, whichever cases were asked for. A rejection means something
 * only where genuine deliveries are accepted, and an acceptance only where forged ones are rejected: when one of these
 * cases fails, all others are not checked.
 */
export const control: readonly ReceiverCase[] = [
  {
    group: 'control',
    id: 'answers_in_time',
    title: 'An answer within 10 s',
    reason:
      'After 10 s the attempt has failed, and is made again (specification section 6). Verify, answer, and work on the event after that.',
    async examine({ first }) {
      return 'code' in first && first.code === 'TIMEOUT' ? `${told(first)}; expected 2xx.` : undefined
    },
  },
  {
    group: 'control',
    id: 'genuine_accepted',
    title: 'A genuine delivery is accepted',
    reason: 'Every delivery is rejected, so each is sent again for 35 hours, and is then lost.',
    async examine({ first, forge, send }): Promise<Finding> {
      if (isGood(first)) return undefined
      // A receiver may reject one type by mistake; that is found by the case about the type.
      for (const type of forge.events.slice(1)) {
        if (!isGood(await send(forge.genuine(bytes(forge.envelope(type)))))) continue
        forge.prefer(type)
        return undefined
      }
      return `${told(first)}; expected 2xx. ${await causeOf(first, { forge, send })}`
    },
  },
  {
    group: 'control',
    id: 'verifies_first',
    title: 'No 2xx before the whole body has arrived to be verified',
    reason:
      'A receiver that answers before it verifies accepts forged deliveries. It also loses genuine ones: a 2xx ends a delivery, and what fails after it is not sent again.',
    async examine({ forge, send }) {
      const answer = await send(forge.genuine(), { holdBackMs: HOLD_BACK_MS })
      if (!('status' in answer) || !answer.early || !isGood(answer)) return undefined
      return `${told(answer)} before the last byte of the body was sent; expected an answer after it.`
    },
  },
  {
    group: 'control',
    id: 'forged_rejected',
    title: 'A delivery that was signed with another secret is rejected',
    reason: 'Anyone who knows the address can send events: the receiver accepts every delivery unverified.',
    async examine({ forge, send, rejections }) {
      const answer = await send(otherSecret(forge))
      if (!isGood(answer)) {
        rejections.push({ id: 'forged_rejected', answer })
        return undefined
      }
      const unsigned = await send(forge.delivery(bytes(forge.envelope())))
      const also = isGood(unsigned)
        ? 'one without a signature is accepted, too'
        : 'the signature is not compared'
      return `${told(answer)}; expected a rejection (4xx). Every delivery is accepted unverified: ${also}.`
    },
  },
]
