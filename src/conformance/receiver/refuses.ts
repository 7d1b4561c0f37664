import { told, type ReceiverCase, type RefuseRow, type Wrong } from './case.ts'
import { bytes, type Forge } from './forge.ts'
import { malformed } from './malformed.ts'
import type { Answer, Delivery } from './send.ts'

const rows: readonly RefuseRow[] = [
  {
    id: 'tampered_body',
    title: 'An amount changed after signing',
    reason: 'Anybody on the way can turn 1 into 9: the body is not covered by what is verified.',
    deliveries: (forge) => {
      const body = bytes({ ...forge.envelope(), data: { amount_cents: 1000 } })
      const changed = Buffer.from(body.toString().replace('1000', '9000'))
      return [forge.delivery(changed, forge.header(body))]
    },
  },
  {
    id: 'tampered_t',
    title: 'A newer t than was signed',
    reason:
      'An old delivery can be played again by whoever recorded it, with a new time: t must be part of what is verified.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      const t = forge.now()
      return [forge.delivery(body, `t=${t},v1=${forge.signature(body, t - 60)}`)]
    },
  },
  {
    id: 'other_secret',
    title: 'Signed with another secret',
    reason: 'Anybody can send events: the signature is not compared, or not with this secret.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      return [forge.delivery(body, forge.header(body, forge.now(), 'whsec_another'))]
    },
  },
  {
    id: 'no_header',
    title: 'No signature header',
    reason: 'Anybody who knows the address can send events, without even a signature.',
    deliveries: (forge) => [forge.delivery(bytes(forge.envelope()))],
  },
  {
    id: 'empty_header',
    title: 'An empty signature header',
    reason: 'Anybody can send events by leaving the header empty, or makes the receiver fail.',
    deliveries: (forge) => [forge.delivery(bytes(forge.envelope()), '')],
  },
  ...malformed,
  {
    id: 'v1_truncated',
    title: 'The first half of the signature, one digit of it, none',
    reason: 'A comparison that ends where the shorter one ends lets a signature be guessed digit by digit.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      const t = forge.now()
      const v1 = forge.signature(body, t)
      return [32, 1, 0].map((length) => forge.delivery(body, `t=${t},v1=${v1.slice(0, length)}`))
    },
  },
  {
    id: 'expired',
    title: 'Signed one second more than the tolerance ago',
    reason: 'A recorded delivery can be played again for longer than agreed, or for ever.',
    deliveries: (forge) => [signedAt(forge, -forge.tolerance - 1)],
  },
  {
    id: 'from_the_future',
    title: 'Signed one second more than the tolerance ahead',
    reason:
      'The tolerance holds both ways (specification section 5). A delivery from ahead can be kept and played again until its time has come and gone.',
    deliveries: (forge) => [signedAt(forge, forge.tolerance + 1)],
    exact: true,
  },
  {
    id: 'signature_of_another_body',
    title: 'The signature of another delivery',
    reason:
      'Whoever has seen one delivery can send any: the signature is not compared with that of this body.',
    deliveries: (forge) => {
      const other = bytes(forge.envelope())
      return [forge.delivery(bytes(forge.envelope('payment.succeeded')), forge.header(other))]
    },
  },
  {
    id: 'header_twice',
    title: 'Two signature headers, the right one first and last',
    reason:
      'Proxies and frameworks differ in which of two headers counts, so that another may be verified than the one that was sent.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      const right = forge.header(body)
      const wrong = forge.header(body, forge.now(), 'whsec_another')
      return [forge.delivery(body, right, wrong), forge.delivery(body, wrong, right)]
    },
  },
]

/** What a right receiver answers 4xx to. */
export const refuses: readonly ReceiverCase[] = rows.map(({ deliveries, exact, ...row }) => ({
  group: 'refuses',
  ...row,
  async examine({ forge, send }) {
    if (exact) await forge.earlyInSecond()
    for (const one of deliveries(forge)) {
      const wrong = judge(await send(one))
      if (wrong !== undefined) return wrong
    }
    return undefined
  },
}))

/** Nothing forged was believed, so that what the case warns of does not apply. */
const NO_REFUSAL =
  'What is not refused with a 4xx is sent again for 35 hours, and shows strangers where the receiver breaks.'

function judge(answer: Answer): Wrong | undefined {
  if (!('status' in answer))
    return { detail: `It was neither taken nor refused: ${told(answer)}.`, reason: NO_REFUSAL }
  const { status } = answer
  if (status >= 400 && status < 500) return undefined
  if (status >= 500)
    return { detail: `It was refused, but by crashing: ${told(answer)}.`, reason: NO_REFUSAL }
  return `It was not refused: ${told(answer)}.`
}

function signedAt(forge: Forge, offset: number): Delivery {
  const body = bytes(forge.envelope())
  return forge.delivery(body, forge.header(body, forge.now() + offset))
}
