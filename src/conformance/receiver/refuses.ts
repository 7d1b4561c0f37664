import {
  isGood,
  told,
  type Finding,
  type Forgery,
  type ReceiverCase,
  type RefuseRow,
  type Stage,
} from './case.ts'
import { bodyMovedIntoT, signatures, tampering, times } from './forgeries.ts'
import { malformed } from './malformed.ts'
import type { Delivery } from './send.ts'
import { unverified } from './unverified.ts'

/** Bodies that are not JSON come last: a receiver that parses before it verifies may end. */
const rows: readonly RefuseRow[] = [
  ...signatures,
  ...malformed,
  ...tampering,
  ...times,
  ...unverified,
  bodyMovedIntoT,
]

/** What a right receiver does not accept. Any answer but a 2xx is a rejection; which one is best is a case of its own. */
export const refuses: readonly ReceiverCase[] = rows.map(({ forge, ...row }) => ({
  group: 'refuses',
  ...row,
  async examine(stage) {
    const { before, forged, genuine = stage.forge.genuine() } = forge(stage.forge)
    return (
      (before && unbelieved(await stage.send(before), BEFORE)) ??
      (await acceptedOf(forged, row, stage)) ??
      (await controlled(genuine, stage))
    )
  },
}))

const BEFORE = 'the genuine delivery that this case begins with was not accepted'
const AFTER = 'a genuine delivery of this kind was not accepted either'

/** The first forged delivery that is accepted. The rejections are kept. */
async function acceptedOf(
  forged: Forgery['forged'],
  { id, basis }: Pick<RefuseRow, 'id' | 'basis'>,
  { send, rejections, isSlow }: Stage,
): Promise<Finding> {
  const wanted = basis === 'advice' ? 'a rejection (4xx) is safer' : 'expected a rejection (4xx)'
  const ahead = isSlow ? forged.map((one) => send(one)) : []
  for (const [index, one] of forged.entries()) {
    const answer = await (ahead[index] ?? send(one))
    const which = one.label === undefined || forged.length === 1 ? '' : ` Sent: ${one.label}.`
    if (isGood(answer)) return `${told(answer)}; ${wanted}.${which}`
    if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
    rejections.push({ id, answer })
  }
  return undefined
}

/** Nothing when the genuine delivery is accepted; else why the rejections mean nothing, or that the receiver has ended. */
async function controlled(genuine: Delivery, { send }: Stage): Promise<Finding> {
  const first = await send(genuine)
  // A receiver that is ending closes the connections that it had not accepted yet.
  const answer = 'code' in first && first.code === 'ECONNRESET' ? await send(genuine) : first
  if ('code' in answer && answer.code === 'ECONNREFUSED')
    return {
      detail: 'The receiver stopped: nothing listens there any more.',
      reason: 'One request of a stranger stops the receiver. The deliveries that follow are lost.',
    }
  return unbelieved(answer, AFTER)
}

function unbelieved(answer: Awaited<ReturnType<Stage['send']>>, what: string): Finding {
  if (isGood(answer)) return undefined
  return { notChecked: answer.unjudged ?? `Not checked: ${what}: ${told(answer)}.` }
}
