import { isGood, told, type ReceiverCase } from './case.ts'
import { bytes, type Forge } from './forge.ts'

/** Time enough for a receiver that answers before it has read the body, in milliseconds. */
const HOLD_BACK_MS = 400

/** How a right receiver behaves beside its verdicts. Comes last: the last case asks what the abuse before it has done. */
export const behaves: readonly ReceiverCase[] = [
  {
    group: 'behaves',
    id: 'answers_in_time',
    title: 'An answer within 10 s',
    reason:
      'After 10 s the attempt has failed, whatever was done with it (specification section 6): answer first, work later.',
    async examine({ forge, send }) {
      const answer = await send(usual(forge))
      return 'code' in answer ? `There was no answer: ${told(answer)}.` : undefined
    },
  },
  {
    group: 'behaves',
    id: 'verifies_first',
    title: 'No 2xx before the whole body is there to be verified',
    reason:
      'A 2xx ends the delivery for good. What is found wrong after it, or lost in a crash, does not come again.',
    async examine({ forge, send }) {
      const answer = await send(usual(forge), { holdBackMs: HOLD_BACK_MS })
      if (!('status' in answer) || !answer.early || !isGood(answer)) return undefined
      return `It answered ${answer.status} while the last byte of the body was still to come.`
    },
  },
  {
    group: 'behaves',
    id: 'does_not_redirect',
    title: 'No redirect',
    reason: 'Redirects are not followed: the delivery has failed. Register the address that it leads to.',
    async examine({ forge, send }) {
      const answer = await send(usual(forge))
      const redirects = 'status' in answer && answer.status >= 300 && answer.status < 400
      return redirects ? `${capital(told(answer))}.` : undefined
    },
  },
  {
    group: 'behaves',
    id: 'keeps_working',
    title: 'A genuine delivery is taken after all that',
    reason: 'What strangers send must not shut out the service: a ban or a crash loses what follows.',
    async examine({ forge, send }) {
      const answer = await send(usual(forge))
      return isGood(answer)
        ? undefined
        : `After the refused ones, a genuine delivery was not taken: ${told(answer)}.`
    },
  },
]

function usual(forge: Forge) {
  return forge.genuine(bytes(forge.envelope()))
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
