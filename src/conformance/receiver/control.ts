import { setTimeout as sleep } from 'node:timers/promises'
import { oldestAge } from './accepts.ts'
import {
  afterEnding,
  isGood,
  describeAnswer,
  stopOf,
  type CaseOutcome,
  type ReceiverCase,
  type CaseContext,
} from './case.ts'
import { bytes, withHeader, type Forge } from './forge.ts'
import { clearlyForged } from './forgeries.ts'
import { mistakes, type SignatureMistake } from '../../signature/diagnose/mistakes.ts'
import { plainText, shortened, statusAdvice } from '../../model/text/advice.ts'
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
      if (!('code' in first) || first.code !== 'TIMEOUT') return undefined
      const cause = first.answersAtEnd
        ? ' It responds when the connection ends, so it reads beyond the body. Read as many bytes as Content-Length says.'
        : ''
      return `${describeAnswer(first)}; expected 2xx.${cause}`
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
    id: 'delayed_accepted',
    title: 'A valid delivery is accepted 2 s after its t',
    reason:
      'Networks and busy receivers delay deliveries. The receiver rejects those that arrive later than it expects.',
    async examine({ forge, send }): Promise<CaseOutcome> {
      const age = delayOf(forge)
      const answer = await send(forge.genuineWhere({ t: forge.now() - age }))
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      if (isGood(answer)) return undefined
      const found = await causeOfDelay({ forge, send }, MOST_SECONDS)
      if (typeof found === 'string')
        return `${describeAnswer(answer)} with t = now - ${age} s; expected 2xx. ${found}`
      return found
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
      const page = pageHint(await send(forge.genuineWhere(), { readBody: true }))
      return `${describeAnswer(answer)} before the last byte of the body was sent; expected a response after it.${page}`
    },
  },
  {
    group: 'control',
    id: 'forged_rejected',
    title: 'A delivery signed with another secret is rejected',
    reason: 'Anyone who knows the URL can send events, because the receiver does not verify deliveries.',
    async examine({ forge, send, rejections }) {
      let answer = await send(clearlyForged(forge))
      for (let sent = 1; sent < FORGERIES && 'status' in answer && !isGood(answer); sent += 1)
        answer = await send(clearlyForged(forge))
      if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
      if (!isGood(answer)) {
        rejections.push({ id: 'forged_rejected', answer })
        return 'code' in answer ? stopOf(await afterEnding(() => send(forge.genuineWhere()))) : undefined
      }
      const wrong = `${describeAnswer(answer)}; expected a rejection (4xx).`
      const responses = await usualResponses({ forge, send })
      if (differ(responses, 'genuine', 'forged'))
        return {
          detail: `${wrong} The receiver notices the wrong signature, because it responds otherwise than to a valid delivery. But it returns 2xx. Return a 4xx.`,
          reason:
            'Only the status counts: each 2xx is a delivered event (specification section 6). A delivery that fails the verification, such as with an old secret, is lost without a retry.',
        }
      const unsigned = await send(forge.delivery(bytes(forge.envelope())), { readBody: true })
      const also = isGood(unsigned)
        ? 'deliveries without a signature are also accepted'
        : 'the signature is not compared'
      return `${wrong} The receiver does not verify deliveries: ${also}.${pageHint(unsigned)}`
    },
  },
]

/** Deliveries with another secret that are sent at most. */
const FORGERIES = 2

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
  const responses = await usualResponses(parts)
  const { genuine, forged, isUsual } = responses
  if (isCsrfProtected(status, genuine)) return CSRF
  if (isUsual && isGood(forged))
    return 'Deliveries with another secret are accepted. The condition after the comparison is inverted.'
  const isSigned = differ(responses, 'genuine', 'forged')
  const quoted = quote(genuine, parts.forge)
  if (status >= 500) return `${quoted}${isSigned ? failsLater(forged) : "Check the receiver's log."}`
  const { soon, inAnHour, far } = await acceptedAhead(parts)
  if (soon && inAnHour) return tooSmall(parts.forge, true)
  const found =
    // A receiver that ignores the future also accepts t in milliseconds, so its clock comes first.
    (far ? await otherClock(parts) : undefined) ??
    (isSigned ? undefined : await otherSignature(parts)) ??
    (isSigned ? undefined : await otherHeader(parts)) ??
    (far ? undefined : await otherClock(parts)) ??
    (await otherTolerance(parts))
  if (found !== undefined) return found
  if (isSigned) return `${quoted}${failsLater(forged)}`
  const path =
    status === 404 || status === 410 ? 'The path is probably wrong: check the URL. Otherwise check' : 'Check'
  const secret = `${quoted}${path} the secret (--secret)`
  if (differ(responses, 'genuine', 'unsigned')) return `${secret}. If it is right, ${LAST_RESORT}`
  const { headerName } = parts.forge
  const listed = `HTTP_${headerName.toUpperCase().replaceAll('-', '_')}`
  return `${secret} and the header name ${headerName} (--service-name). If both are right, ${LAST_RESORT} Node lists header names in lower case. PHP, Rack and META of Django list this one as ${listed}.`
}

function failsLater(forged: DeliveryAnswer): string {
  return `The receiver finds the signature right, because a delivery with another secret gets another response: ${describeAnswer(forged)}. It fails later, such as for t or in an error. Check its log.`
}

/** Advice where nothing explains the rejections: `tabwire verify` names what a receiver changes before it verifies. */
const LAST_RESORT =
  'save the header and the raw body in the receiver. Check them with `tabwire verify --secret SECRET --header HEADER --body FILE`. If they are valid, print the text that the receiver signs: it must be the value of t, a period, and that body.'

function byStatus(status: number, authenticate: string | undefined): string | undefined {
  const usual = statusAdvice(status === 501 ? 405 : status)
  if (usual !== undefined) return usual
  if (status === 415) return 'The receiver must accept the content type application/json.'
  if (status === 419) return CSRF
  if (status === 429) return 'The receiver limits the request rate. Try again later.'
  if (status < 400) return 'Redirects are not followed. Use the URL of the redirect.'
  if ((status === 401 || status === 407) && authenticate !== undefined)
    return `The receiver requires HTTP authentication (${authenticate.split(' ', 1)[0]}). Pass it with --add-header.`
  return undefined
}

const CSRF =
  "The receiver's CSRF protection rejects deliveries. Exempt this path, for example with csrf_exempt (Django) or skip_forgery_protection (Rails)."

/** Words of frameworks on the pages with which they reject requests without a token. */
const csrfWords =
  /csrf (verification|token|cookie|secret|protection)|(invalid|missing|no) csrf|_?xsrf\b.{0,20}(missing|cookie)|InvalidAuthenticityToken|change you wanted was rejected/i

/** Statuses of such pages; other pages name tokens in forms. */
const csrfStatuses: readonly number[] = [400, 403, 422]

function isCsrfProtected(status: number, answer: DeliveryAnswer): boolean {
  return csrfStatuses.includes(status) && csrfWords.test(bodyOf(answer))
}

/** The receiver's responses to three kinds of deliveries, each with the beginning of its body. */
interface Responses {
  genuine: DeliveryAnswer
  forged: DeliveryAnswer
  unsigned: DeliveryAnswer
  /** False where two responses to one kind differ, or the receiver is slow: differences between kinds mean nothing then. */
  isUsual: boolean
}

type DeliveryKind = 'genuine' | 'forged' | 'unsigned'

/** Sends a genuine delivery, a forged one and an unsigned one, and then all three again. */
async function usualResponses({ forge, send }: ForgeAndSend): Promise<Responses> {
  const until = performance.now() + SEARCH_MS
  const round = async (): Promise<Record<DeliveryKind, DeliveryAnswer>> => ({
    genuine: await send(forge.genuineWhere(), { readBody: true }),
    forged: await send(clearlyForged(forge), { readBody: true }),
    unsigned: await send(forge.delivery(bytes(forge.envelope())), { readBody: true }),
  })
  const first = await round()
  if (performance.now() > until) return { ...first, isUsual: false }
  const second = await round()
  const kinds = ['genuine', 'forged', 'unsigned'] as const
  return { ...first, isUsual: kinds.every((kind) => seen(first[kind]) === seen(second[kind])) }
}

/** Returns true when a receiver shows by its responses that it distinguishes two kinds of deliveries. */
function differ(responses: Responses, one: DeliveryKind, other: DeliveryKind): boolean {
  return responses.isUsual && seen(responses[one]) !== seen(responses[other])
}

function seen(answer: DeliveryAnswer): string {
  return 'status' in answer ? `${answer.status} ${bodyOf(answer)}` : answer.code
}

function bodyOf(answer: DeliveryAnswer): string {
  return 'status' in answer ? (answer.body ?? '') : ''
}

/** Most characters of a response that a message repeats. */
const MOST_QUOTED = 200

/** The text of a response, as the sentence that begins a message. */
function quote(answer: DeliveryAnswer, { secret }: Forge): string {
  const text = plainText(bodyOf(answer)).replaceAll(secret, '(the secret)')
  return text === '' ? '' : `Its response: ${JSON.stringify(shortened(text, MOST_QUOTED))}. `
}

function pageHint(answer: DeliveryAnswer): string {
  const isPage = isGood(answer) && /^\s*(<!doctype html|<html\b)/i.test(bodyOf(answer))
  return isPage ? ' The response is a web page, so the path may be wrong: check the URL.' : ''
}

/** Most signatures that are tried for one mistake; the likeliest come first. */
const MOST_SIGNATURES = 8

/** Further limits: each serialiser of JSON, and each language, has a form of its own. */
const limits: Readonly<Partial<Record<SignatureMistake, number>>> = {
  json_reserialised: 20,
  json_keys_sorted: 28,
  body_formatted: 20,
}

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
  return search(commonMistakes(forge), send)
}

/** The cause of the first try that is accepted. */
async function search(
  list: Iterable<Try>,
  send: CaseContext['send'],
  atOnce = AT_ONCE,
): Promise<string | undefined> {
  const until = performance.now() + SEARCH_MS
  const tries = [...list]
  for (let at = 0; at < tries.length && performance.now() < until; at += atOnce) {
    const some = tries.slice(at, at + atOnce)
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
  const nanoseconds = `${forge.nowMs()}000000`
  yield {
    cause: 'The receiver reads t as nanoseconds. Compare t with the time in seconds.',
    delivery: forge.delivery(body, forge.header(body, nanoseconds)),
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

/** In seconds. */
const HOUR = 3_600

/** Later than the time in any time zone, in seconds. */
const FAR_AHEAD = 30 * 24 * HOUR

/** Returns which later times than now a receiver accepts that rejects t = now. */
async function acceptedAhead({ forge, send }: ForgeAndSend) {
  const answers = await Promise.all(
    [DELAY, HOUR, FAR_AHEAD].map((ahead) => send(forge.genuineWhere({ t: forge.now() + ahead }))),
  )
  const [soon, inAnHour, far] = answers.map(isGood)
  return { soon, inAnHour, far }
}

/** Fewer than servers queue that answer one connection after the other, such as those of Python: so no time is lost. */
const FEW_AT_ONCE = 4

/** Half hours that clocks are tried to be ahead or behind. */
const HALF_HOURS = 28

/** The clock or the time zone of a receiver that accepts only times that are whole or half hours away. */
function otherClock({ forge, send }: ForgeAndSend): Promise<string | undefined> {
  const hours = Array.from({ length: HALF_HOURS }, (_, index) => (index + 1) / 2)
  const tries = hours.flatMap((away) =>
    [away, -away].map((ahead) => ({
      cause: `The receiver's clock or time zone is ${away} h ${ahead > 0 ? 'ahead' : 'behind'}. Compare t with the Unix time, which has no time zone.`,
      delivery: forge.genuineWhere({ t: forge.now() + ahead * HOUR }),
    })),
  )
  return search(tries, send, FEW_AT_ONCE)
}

/** Returns the mistake of a receiver that accepts a delivery only within the second that is its `t`, or a part of it. */
async function otherTolerance(parts: ForgeAndSend): Promise<string | undefined> {
  const found = await causeOfDelay(parts, 1)
  return typeof found === 'string' ? found : undefined
}

/** The age of a delayed delivery, in seconds. */
const DELAY = 2

/** Most seconds in which the cause of a rejected delay is sought, each from its start on. */
const MOST_SECONDS = 3

/** An age that a right receiver accepts, whatever the moment within the second. */
function delayOf(forge: Forge): number {
  return Math.min(DELAY, oldestAge(forge))
}

/** Why a delayed delivery is rejected, in words. Nothing when it is accepted from the start of a second on. */
async function causeOfDelay(
  { forge, send }: ForgeAndSend,
  seconds: number,
): Promise<string | { notChecked: string } | undefined> {
  const age = delayOf(forge)
  for (let tried = 0; tried < seconds; tried += 1) {
    // A timer may end a little early.
    await sleep(1_005 - (forge.nowMs() % 1_000))
    const now = forge.now()
    const body = bytes(forge.envelope())
    const answers = await Promise.all(
      [
        forge.genuineWhere({ t: now }),
        forge.genuineWhere({ t: now - age }),
        forge.delivery(body, `t=${now - age},v1=${forge.signature(body, now)}`),
        forge.genuineWhere({ t: now - 1 }),
        forge.genuineWhere({ t: now + HOUR }),
      ].map((delivery) => send(delivery)),
    )
    const [isAccepted, isDelayed, isOwnClock, isSecondAgo, inAnHour] = answers.map(isGood)
    if (isDelayed) return undefined
    if (isOwnClock)
      return "The receiver signs its own clock's time instead of t. Sign the t of the header, as it was received."
    if (isSecondAgo)
      return `Its tolerance is below ${DELAY} s. Allow a difference of ${forge.tolerance} s (--tolerance).`
    if (isAccepted) return tooSmall(forge, inAnHour)
  }
  return { notChecked: 'Not checked: a valid delivery without delay was also not accepted.' }
}

function tooSmall({ tolerance }: Forge, acceptsFuture = false): string {
  const future = acceptsFuture ? ' The future is not checked either: reject such a t, too.' : ''
  return `The receiver's tolerance is far too small: its unit is probably milliseconds or nanoseconds. Allow a difference of ${tolerance} s.${future}`
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
  const { headerName } = forge
  const variants = [headerName.replace('X-', ''), headerName.replaceAll('-', '_')]
  const others = [...variants, ...names].filter((name) => name !== headerName)
  if (!isGood(await send(under(others)))) return undefined
  for (const name of others)
    if (isGood(await send(under([name]))))
      return `The receiver reads the signature from the header ${name}. Deliveries have it in ${forge.headerName} (--service-name).`
  return undefined
}
