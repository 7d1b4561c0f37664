import type { RefuseRow } from './case.ts'
import { bytes, labelled, withHeader, type Forge } from './forge.ts'
import { otherSecret } from './forgeries.ts'
import type { Delivery } from './send.ts'

const SKIPS =
  'Anyone can send such events without a signature, because the receiver skips verification for them.'

/** Content types that some receivers handle before, or instead of, verifying; an empty one stands for none. */
const contentTypes = {
  charset: 'application/json; charset=utf-8',
  text: 'text/plain',
  form: 'application/x-www-form-urlencoded',
  missing: '',
}

/** Headers that anyone can write, and by which some receivers recognise whom they trust. */
const claims = [
  {
    id: 'claims_to_be_local',
    title: 'No signature, with headers that name 127.0.0.1 as sender',
    reason: 'Anyone can send these headers. Verify local requests too, or check the address of the socket.',
    headers: [
      ['X-Forwarded-For', '127.0.0.1'],
      ['X-Real-IP', '127.0.0.1'],
      ['Forwarded', 'for=127.0.0.1'],
    ],
  },
  {
    id: 'claims_to_be_a_probe',
    title: 'No signature, with the User-Agent of a health check',
    reason: 'Anyone can send this header. Serve health checks at another path, or by GET.',
    headers: ['kube-probe/1.30', 'ELB-HealthChecker/2.0', 'curl/8.5.0'].map(
      (agent) => ['User-Agent', agent] as const,
    ),
  },
] as const

/** Deliveries that some receivers accept without verifying them, by what distinguishes them. */
const kinds: readonly RefuseRow[] = [
  {
    id: 'each_type_unsigned',
    title: 'No signature, for each event type',
    reason: SKIPS,
    forge: (forge) => ({
      forged: forge.events.map((type) => labelled(type, forge.delivery(bytes(forge.envelope(type))))),
    }),
  },
  {
    id: 'unknown_type_unsigned',
    title: 'No valid signature, for an unknown event type',
    reason: SKIPS,
    forge: (forge) => bothWays(forge, bytes({ ...forge.envelope(), type: 'table.moved' })),
  },
  {
    id: 'ping_unsigned',
    title: 'No valid signature, for a ping',
    reason:
      'A ping tests the verification. A receiver that accepts every ping passes the test even with a wrong secret.',
    forge: (forge) => bothWays(forge, bytes(forge.envelope('ping'))),
  },
  ...Object.entries(contentTypes).map(([id, type]): RefuseRow => ({
    id: `content_type_${id}`,
    title: `No valid signature, with ${type === '' ? 'no Content-Type' : `Content-Type ${type}`}`,
    reason:
      'Anyone can send unsigned events with another Content-Type, because the receiver verifies only one type.',
    forge: (forge) => bothWays(forge, undefined, (one) => withHeader(one, 'Content-Type', type)),
  })),
  ...claims.map(({ id, title, reason, headers }): RefuseRow => ({
    id,
    title,
    reason,
    forge(forge) {
      const [[name, value]] = headers
      return {
        forged: headers.map(([header, text]) =>
          labelled(`${header}: ${text}`, withHeader(forge.delivery(bytes(forge.envelope())), header, text)),
        ),
        genuine: withHeader(forge.genuine(), name, value),
      }
    },
  })),
  {
    id: 'unsigned_junk',
    isAlone: true,
    title: 'Unsigned bodies that are not JSON',
    reason:
      'The receiver parses the body before verification, so anyone can make it accept or fail on invalid events. Verify first.',
    forge: (forge) => ({
      forged: junk.map(([label, text]) => labelled(label, forge.delivery(Buffer.from(text)))),
    }),
  },
  {
    id: 'empty_body',
    isAlone: true,
    explainedBy: ['no_header', 'unsigned_junk'],
    title: 'Empty body without a valid signature',
    reason:
      'The receiver returns 2xx for empty requests. A delivery whose body is lost in transit then counts as delivered.',
    // An empty body is never signed, so a plain delivery is the genuine one.
    forge: (forge) => ({ forged: bothWays(forge, Buffer.alloc(0)).forged }),
  },
]

/** A receiver that accepts unsigned requests accepts these for the same reason. */
export const unverified: readonly RefuseRow[] = kinds.map((row) => ({ explainedBy: ['no_header'], ...row }))

const junk = [
  ['an opening brace', '{'],
  ['a word', 'hello'],
  ['null', 'null'],
  ['a list', '[]'],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
  ['lists nested 20,000 deep', '['.repeat(20_000)],
] as const

/** Without a signature, and with one of another secret; the genuine delivery differs in the signature alone. */
function bothWays(
  forge: Forge,
  body = bytes(forge.envelope()),
  change: (delivery: Delivery) => Delivery = (delivery) => delivery,
) {
  return {
    forged: [
      labelled('no signature', change(forge.delivery(body))),
      labelled('another secret', change(otherSecret(forge, body))),
    ],
    genuine: change(forge.genuine(body)),
  }
}
