import { setTimeout as sleep } from 'node:timers/promises'
import { isGood, describeAnswer, type CaseOutcome, type ReceiverCase, type CaseContext } from './case.ts'
import { bytes, withHeader, type Forge } from './forge.ts'
import { otherSecret } from './forgeries.ts'
import { mistakes, type SignatureMistake } from '../../signature/diagnose/mistakes.ts'
import type { DeliveryAnswer, Delivery } from './send.ts'

/** Time enough for a receiver that answers before it has read the body, in milliseconds. */
const HOLD_BACK_MS = 400

/**
 * Controls. They run in any case, and first. A rejection means something only where genuine deliveries are accepted,
 * and an acceptance only where forged ones are rejected: when one of these cases fails, all others are not checked.
 */
export const control: readonly ReceiverCase[] = [
  {
    group: 'control',
    id: 'answers_in_time',
    title: 'Response within 10 s',
    reason:
      'After 10 s the attempt fails and is retried (specification section 6). Verify, respond, then process the event.',
    async examine({ first }) {
      return 'code' in first && first.code === 'TIMEOUT'
        ? `${describeAnswer(first)}; expected 2xx.`
        : undefined
    },
  },
  {
    group: 'control',
    id: 'genuine_accepted',
    title: 'A valid delivery is accepted',
    reason: 'The receiver rejects every delivery. Each is retried for 35 hours and then lost.',
    async examine({ first, forge, send }): Promise<CaseOutcome> {
      if (isGood(first)) return undefined
      // A receiver may reject one type by mistake; that is found by the case about the type.
      for (const type of forge.events.slice(1)) {
        if (!isGood(await send(forge.genuineWhere({ type })))) continue
        forge.prefer(type)
        return undefined
      }
      return `${describeAnswer(first)}; expected 2xx. ${await causeOf(first, { forge, send })}`
    },
  },
  {
    group: 'control',
    id: 'zeros_accepted',
    title: 'Valid signatures with leading zeros are accepted',
    reason:
      'The receiver rejects one valid delivery in 16, or most of them. Each is retried, and some are lost.',
    async examine({ forge, send }): Promise<CaseOutcome> {
      for (const { where, fits } of zeros) {
        const answer = await send(forge.genuineWhere({ fits }))
        if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
        if (isGood(answer)) continue
        // A receiver that rejects deliveries at times does so for another reason.
        if (!isGood(await send(forge.genuineWhere()))) return { notChecked: NOT_THE_ZEROS }
        if (isGood(await send(forge.genuineWhere({ fits })))) continue
        return `${describeAnswer(answer)} where ${where}; expected 2xx. The receiver's digest lacks leading zeros. Write two hex digits per byte.`
      }
      return undefined
    },
  },
  {
    group: 'control',
    id: 'verifies_first',
    title: 'No 2xx before the whole body has arrived',
    reason:
      'A receiver that responds before verification accepts forged deliveries. It also loses valid ones: after a 2xx there are no retries.',
    async examine({ forge, send }) {
      const answer = await send(forge.genuineWhere(), { holdBackMs: HOLD_BACK_MS })
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      if (!('status' in answer) || !answer.early || !isGood(answer)) return undefined
      return `${describeAnswer(answer)} before the last byte of the body was sent; expected a response after it.`
    },
  },
  {
    group: 'control',
    id: 'forged_rejected',
    title: 'A delivery signed with another secret is rejected',
    reason: 'Anyone who knows the URL can send events, because the receiver does not verify deliveries.',
    async examine({ forge, send, rejections }) {
      const answer = await send(otherSecret(forge))
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      if (!isGood(answer)) {
        rejections.push({ id: 'forged_rejected', answer })
        return undefined
      }
      const unsigned = await send(forge.delivery(bytes(forge.envelope())))
      const also = isGood(unsigned)
        ? 'deliveries without a signature are also accepted'
        : 'the signature is not compared'
      return `${describeAnswer(answer)}; expected a rejection (4xx). The receiver does not verify deliveries: ${also}.`
    },
  },
]

/** Signatures in which a receiver drops zeros that writes its digest as one number, or each byte as a number. */
const zeros = [
  { where: 'v1 begins with 0', fits: (v1: string) => v1.startsWith('0') },
  {
    where: 'a byte inside v1 is below 0x10',
    fits: (v1: string) => !v1.startsWith('0') && /^(..)+0/.test(v1),
  },
]

const NOT_THE_ZEROS = 'Not checked: a valid delivery without leading zeros was also not accepted.'

type ForgeAndSend = Pick<CaseContext, 'forge' | 'send'>

/**
 * Returns why a receiver rejects every genuine delivery, and what to do: one cause instead of one message per case.
 */
async function causeOf(first: DeliveryAnswer, parts: ForgeAndSend): Promise<string> {
  if (!('status' in first)) return "Check the receiver's log."
  const { status, headers } = first
  const plain = byStatus(status, headers['www-authenticate'])
  if (plain !== undefined) return plain
  const found = (await otherSignature(parts)) ?? (await otherHeader(parts)) ?? (await otherTolerance(parts))
  if (found !== undefined) return found
  const path =
    status === 404 || status === 410 ? 'The path is probably wrong: check the URL. Otherwise check' : 'Check'
  return `${path} the secret (--secret) and the header name ${parts.forge.headerName} (--service-name). ${LAST_RESORT}`
}

/** Advice where nothing explains the rejections: `tabwire verify` names what a receiver changes before it verifies. */
const LAST_RESORT =
  'If both are right, save the header and the raw body in the receiver. Check them with `tabwire verify --secret SECRET --header HEADER --body FILE`. If they are valid, print the text that the receiver signs: it must be the value of t, a period, and that body.'

function byStatus(status: number, authenticate: string | undefined): string | undefined {
  if (status === 405 || status === 501) return 'This path does not accept POST. Check the URL.'
  if (status === 415) return 'The receiver must accept the content type application/json.'
  if (status === 429) return 'The receiver limits the request rate. Try again later.'
  if (status < 400) return 'Redirects are not followed. Use the URL of the redirect.'
  if (status >= 500) return "Check the receiver's log."
  if ((status === 401 || status === 407) && authenticate !== undefined)
    return `The receiver requires HTTP authentication (${authenticate.split(' ', 1)[0]}). Pass it with --add-header.`
  return undefined
}

/** Most signatures that are tried for one mistake; the likeliest come first. */
const MOST_SIGNATURES = 8

/** Further limits: each serialiser of JSON has a form of its own. */
const limits: Readonly<Partial<Record<SignatureMistake, number>>> = { json_reserialised: 20 }

/** Signatures of each mistake that are tried before the further ones of all mistakes. */
const LIKELY_SIGNATURES = 2

/** Requests in parallel. */
const AT_ONCE = 8

/**
 * Time limit of the search for mistakes, in milliseconds; for a slow receiver the likely causes are printed instead.
 */
const SEARCH_MS = 5_000

/** The mistake in the receiver's own signature, found by signing with the same mistake. */
async function otherSignature({ forge, send }: ForgeAndSend): Promise<string | undefined> {
  const until = performance.now() + SEARCH_MS
  const tries = [...commonMistakes(forge)]
  for (let at = 0; at < tries.length && performance.now() < until; at += AT_ONCE) {
    const some = tries.slice(at, at + AT_ONCE)
    const answers = await Promise.all(some.map(({ delivery }) => send(delivery)))
    const accepted = answers.findIndex(isGood)
    if (accepted !== -1) return some[accepted]?.cause
  }
  return undefined
}

interface Try {
  cause: string
  delivery: Delivery
}

function* commonMistakes(forge: Forge): Generator<Try> {
  // A letter and a slash that some writers of JSON escape.
  const body = bytes(forge.envelopeWith({ name: 'Zoë/1' }))
  const t = String(forge.now())
  // To the millisecond: the tolerance of such a receiver may be 300 ms.
  yield {
    cause: 'The receiver reads t as milliseconds. Compare t with the time in seconds.',
    delivery: forge.delivery(body, forge.header(body, forge.nowMs())),
  }
  for (const key of ['', 'undefined', 'null', 'None'])
    yield {
      cause: `The receiver verifies with the secret ${JSON.stringify(key)}, so its own secret is not set${key === '' ? ', or it decodes the secret, which fails' : ''}. Check its environment.`,
      delivery: forge.delivery(body, forge.header(body, Number(t), key)),
    }
  const parts = { t, body, secret: forge.secret }
  const tried = new Set([forge.signature(body, t), forge.signature(body, t, '')])
  const further: Try[] = []
  for (const { mistake, advice, signatures } of mistakes) {
    if (mistake === 'other_timestamp_signed') continue
    // A header has no line breaks.
    const wrong = new Set(signatures(parts).filter((one) => !tried.has(one) && !one.includes('\n')))
    const tries = Array.from(wrong)
      .slice(0, limits[mistake] ?? MOST_SIGNATURES)
      .map((v1) => {
        tried.add(v1)
        return {
          cause: `The receiver computes the signature with this mistake: ${mistake}. ${advice}`,
          delivery: forge.delivery(body, `t=${t},v1=${v1}`),
        }
      })
    yield* tries.slice(0, LIKELY_SIGNATURES)
    further.push(...tries.slice(LIKELY_SIGNATURES))
  }
  yield* further
}

/** Returns the mistake of a receiver that accepts a delivery only at the beginning of the second that is its `t`. */
async function otherTolerance({ forge, send }: ForgeAndSend): Promise<string | undefined> {
  // A timer may end a little early.
  await sleep(1_005 - (forge.nowMs() % 1_000))
  if (!isGood(await send(forge.genuine()))) return undefined
  return 'The receiver accepts deliveries only in the first moments of the second that is t. Its tolerance is probably in milliseconds. Allow a difference of 300 s.'
}

/** Signature headers of other services. */
const names = [
  'X-Service-Signature',
  'X-Signature',
  'X-Webhook-Signature',
  'Webhook-Signature',
  'Signature',
  'X-Tabwire-Signature',
  'Stripe-Signature',
  'X-Hub-Signature-256',
]

/** The header that the receiver reads instead of the right one. */
async function otherHeader({ forge, send }: ForgeAndSend): Promise<string | undefined> {
  const body = bytes(forge.envelope())
  const header = forge.header(body)
  const under = (some: readonly string[]) =>
    some.reduce((delivery, name) => withHeader(delivery, name, header), forge.delivery(body))
  const others = names.filter((name) => name !== forge.headerName)
  if (!isGood(await send(under(others)))) return undefined
  for (const name of others)
    if (isGood(await send(under([name]))))
      return `The receiver reads the signature from the header ${name}. Deliveries have it in ${forge.headerName} (--service-name).`
  return undefined
}
