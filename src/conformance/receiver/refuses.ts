import {
  afterEnding,
  isGood,
  describeAnswer,
  stopOf,
  type CaseOutcome,
  type Forgery,
  type ReceiverCase,
  type RefuseRow,
  type CaseContext,
  type Row,
} from './case.ts'
import { bodyMovedIntoT, byChance, signatures, tampering, times, otherSecret } from './forgeries.ts'
import { MEBIBYTE } from './accepts.ts'
import type { Delivery } from './send.ts'
import { bytes, labelled, type Forge, withHeader } from './forge.ts'

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
const spoofedHeaders = [
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
    explainedBy: ['no_header', ...byChance],
    title: 'No valid signature, for an unknown event type',
    reason: SKIPS,
    forge: (forge) => bothWays(forge, () => bytes({ ...forge.envelope(), type: 'table.moved' })),
  },
  {
    id: 'ping_unsigned',
    explainedBy: ['no_header', ...byChance],
    title: 'No valid signature, for a ping',
    reason:
      'A ping tests the verification. A receiver that accepts every ping passes the test even with a wrong secret.',
    forge: (forge) => bothWays(forge, () => bytes(forge.envelope('ping'))),
  },
  ...Object.entries(contentTypes).map(([id, type]): RefuseRow => ({
    id: `content_type_${id}`,
    explainedBy: ['no_header', ...byChance],
    title: `No valid signature, with ${type === '' ? 'no Content-Type' : `Content-Type ${type}`}`,
    reason:
      'Anyone can send unsigned events with another Content-Type, because the receiver verifies only one type.',
    forge: (forge) => bothWays(forge, undefined, (one) => withHeader(one, 'Content-Type', type)),
  })),
  ...spoofedHeaders.map(({ id, title, reason, headers }): RefuseRow => ({
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
    id: 'long_body_unsigned',
    title: 'No signature, for a body of 1 MiB',
    reason:
      'Anyone can send long events without a signature, because the receiver keeps the raw body, and verifies, up to a limit only.',
    forge(forge) {
      // Blanks, since a receiver may reject further fields.
      const long = () => Buffer.concat([bytes(forge.envelope()), Buffer.alloc(MEBIBYTE, ' ')])
      return { forged: [forge.delivery(long())], genuine: forge.genuine(long()) }
    },
  },
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
    explainedBy: ['no_header', 'unsigned_junk', 'known_id_unsigned', ...byChance],
    title: 'Empty body without a valid signature',
    reason:
      'The receiver returns 2xx for empty requests. A delivery whose body is lost in transit then counts as delivered.',
    // An empty body is never signed, so a plain delivery is the genuine one.
    forge: (forge) => ({ forged: bothWays(forge, () => Buffer.alloc(0)).forged }),
  },
]

/** A receiver that accepts unsigned requests accepts these for the same reason. */
const unverified: readonly RefuseRow[] = kinds.map((row) => ({ explainedBy: ['no_header'], ...row }))

const junk = [
  ['an opening brace', '{'],
  ['a word', 'hello'],
  ['null', 'null'],
  ['a list', '[]'],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
  ['lists nested 20,000 deep', '['.repeat(20_000)],
] as const

/** Without a signature, and with one of another secret; the genuine delivery differs in the signature and the id alone. */
function bothWays(
  forge: Forge,
  create: () => Buffer = () => bytes(forge.envelope()),
  change: (delivery: Delivery) => Delivery = (delivery) => delivery,
) {
  return {
    forged: [
      labelled('no signature', change(forge.delivery(create()))),
      labelled('another secret', change(otherSecret(forge, create()))),
    ],
    genuine: change(forge.genuine(create())),
  }
}

interface Malformed extends Row {
  /** The header's values, each of one delivery; `v1` is the right signature for `t` and the body. */
  values: readonly ((given: { t: number; v1: string; signature: (t: number | string) => string }) => string)[]
}

const UNREADABLE = 'Anyone can send events: the receiver accepts a header without a valid signature.'

/** The signature is correct, so only the service can have made it: accepting the header is harmless today. */
const LENIENT =
  'The service never sends such a header. A receiver that accepts more than t=<unix_seconds>,v1=<hex> is harder to keep safe.'

const NO_TIME =
  'A time that is not a number never expires. The service never sends one. Accept only whole seconds.'

/** Outside of every tolerance, in seconds. */
const LONG_AGO = 1_000_000

const malformedHeaders: readonly Malformed[] = [
  { id: 'no_t', title: 'no t', reason: UNREADABLE, values: [({ v1 }) => `v1=${v1}`] },
  {
    id: 'no_v1',
    explainedBy: byChance,
    title: 'no v1',
    reason: UNREADABLE,
    values: [({ t }) => `t=${t}`, ({ t }) => `t=${t},v1`],
  },
  {
    id: 'only_v0',
    basis: 'advice',
    title: 'the signature under v0',
    reason: LENIENT,
    values: [({ t, v1 }) => `t=${t},v0=${v1}`],
  },
  {
    id: 'empty_t',
    basis: 'advice',
    title: 'signed empty t',
    reason: NO_TIME,
    values: [({ signature }) => `t=,v1=${signature('')}`],
  },
  {
    id: 't_not_a_number',
    basis: 'advice',
    title: 'signed t that is not a number',
    reason: NO_TIME,
    values: ['NaN', 'soon'].map(
      (t) =>
        ({ signature }) =>
          `t=${t},v1=${signature(t)}`,
    ),
  },
  {
    id: 'two_t',
    explainedBy: ['expired', ...byChance],
    title: 'signed expired t and unsigned new t',
    reason:
      'Recorded deliveries can be replayed forever: the receiver verifies with one t and checks the age of the other.',
    values: [
      ({ t, signature }) => `t=${t - LONG_AGO},v1=${signature(t - LONG_AGO)},t=${t}`,
      ({ t, signature }) => `t=${t},t=${t - LONG_AGO},v1=${signature(t - LONG_AGO)}`,
    ],
  },
  {
    id: 'semicolons',
    basis: 'advice',
    title: 'semicolons instead of commas',
    reason: LENIENT,
    values: [({ t, v1 }) => `t=${t};v1=${v1}`],
  },
  {
    id: 'bare_hex',
    title: 'only the signature',
    reason: UNREADABLE,
    values: [({ v1 }) => v1, ({ v1 }) => `sha256=${v1}`],
  },
  {
    id: 'v1_not_hex',
    explainedBy: byChance,
    title: 'v1 of the right length, but not hex',
    reason: UNREADABLE,
    values: [({ t }) => `t=${t},v1=${'z'.repeat(64)}`],
  },
  {
    id: 'v1_not_ascii',
    explainedBy: byChance,
    title: 'v1 with non-ASCII bytes',
    reason: UNREADABLE,
    values: [({ t }) => `t=${t},v1=${'é'.repeat(64)}`],
  },
]

/** Cases of malformed headers. */
const malformed: readonly RefuseRow[] = malformedHeaders.map(({ id, title, values, ...row }) => ({
  ...row,
  id: `malformed_${id}`,
  title: `Malformed header: ${title}`,
  forge(forge: Forge) {
    const t = forge.now()
    return {
      forged: values.map((valueOf) => {
        const body = bytes(forge.envelope())
        const signature = (time: number | string) => forge.signature(body, time)
        const value = valueOf({ t, v1: signature(t), signature })
        return labelled(shortened(value), forge.delivery(body, value))
      }),
    }
  },
}))

/** Bodies that are not JSON come last: a receiver that parses before it verifies may end. */
const rows: readonly RefuseRow[] = [
  ...signatures,
  ...malformed,
  ...tampering,
  ...times,
  ...unverified,
  bodyMovedIntoT,
]

/**
 * Deliveries that a correct receiver does not accept. Any answer but a 2xx is a rejection; another case judges which
 * one is best.
 */
export const refuses: readonly ReceiverCase[] = rows.map(({ forge, ...row }) => ({
  group: 'refuses',
  ...row,
  async examine(context) {
    const { before, forged, genuine = context.forge.genuine() } = forge(context.forge)
    return (
      (before && unbelieved(await context.send(before), BEFORE)) ??
      (await acceptedOf(forged, row, context)) ??
      (await controlled(genuine, context))
    )
  },
}))

const BEFORE = 'the valid first delivery of this case was not accepted'

const AFTER = 'a valid delivery of this kind was also not accepted'

/** The first forged delivery that is accepted. The rejections are kept. */
async function acceptedOf(
  forged: Forgery['forged'],
  { id, basis }: Pick<RefuseRow, 'id' | 'basis'>,
  { send, rejections, isSlow }: CaseContext,
): Promise<CaseOutcome> {
  const wanted = basis === 'advice' ? 'a rejection (4xx) is safer' : 'expected a rejection (4xx)'
  const ahead = isSlow ? forged.map((one) => send(one)) : []
  for (const [index, one] of forged.entries()) {
    const answer = await (ahead[index] ?? send(one))
    const which = one.label === undefined || forged.length === 1 ? '' : ` Sent: ${one.label}.`
    if (isGood(answer)) return `${describeAnswer(answer)}; ${wanted}.${which}`
    if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
    rejections.push({ id, answer })
  }
  return undefined
}

/**
 * Returns nothing when the genuine delivery is accepted; else why the rejections mean nothing, or that the receiver
 * has ended.
 */
async function controlled(genuine: Delivery, { send }: CaseContext): Promise<CaseOutcome> {
  const answer = await afterEnding(() => send(genuine))
  return stopOf(answer) ?? unbelieved(answer, AFTER)
}

function unbelieved(answer: Awaited<ReturnType<CaseContext['send']>>, what: string): CaseOutcome {
  if (isGood(answer)) return undefined
  return { notChecked: answer.unjudged ?? `Not checked: ${what}: ${describeAnswer(answer)}.` }
}

/** A header without its long values. */
function shortened(header: string): string {
  return header.replace(/[0-9a-fzé]{60,}/g, (value) => `${value.slice(0, 4)}…`)
}
