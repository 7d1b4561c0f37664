import { mistakes } from '../../signature/diagnose/mistakes.ts'
import { isGood, type Stage } from './case.ts'
import { bytes, withHeader, type Forge } from './forge.ts'
import type { Answer, Delivery } from './send.ts'

type Parts = Pick<Stage, 'forge' | 'send'>

/** Why a receiver rejects every genuine delivery, and what to do: one cause in place of what each case would say. */
export async function causeOf(first: Answer, parts: Parts): Promise<string> {
  if (!('status' in first)) return "Look at the receiver's log."
  const { status, headers } = first
  const plain = byStatus(status, headers['www-authenticate'])
  if (plain !== undefined) return plain
  const found = (await otherSignature(parts)) ?? (await otherHeader(parts))
  if (found !== undefined) return found
  const path =
    status === 404 || status === 410
      ? 'Probably nothing is served at this path: check the URL. Else check'
      : 'Check'
  return `${path} the secret (--secret) and the header name ${parts.forge.headerName} (--service-name).`
}

function byStatus(status: number, authenticate: string | undefined): string | undefined {
  if (status === 405 || status === 501) return 'This path does not take POST: check the URL.'
  if (status === 415) return 'The receiver must take the content type application/json.'
  if (status === 429) return 'The receiver limits the rate of requests: try again later.'
  if (status < 400) return 'Redirects are not followed: use the address that this one leads to.'
  if (status >= 500) return "Look at the receiver's log."
  if ((status === 401 || status === 407) && authenticate !== undefined)
    return `It asks for HTTP authentication (${authenticate.split(' ', 1)[0]}): pass it with --header.`
  return undefined
}

/** How many signatures of one mistake are tried, of those that a mistake can make; the likeliest come first. */
const MOST = 8

/** How many are sent at once. */
const AT_ONCE = 8

/** How long mistakes are looked for, in milliseconds: a slow receiver is told the likely causes instead. */
const SEARCH_MS = 5_000

/** The mistake in the receiver's own signature, found by signing with the same mistake. */
async function otherSignature({ forge, send }: Parts): Promise<string | undefined> {
  const until = performance.now() + SEARCH_MS
  const tries = [...slips(forge)]
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

function* slips(forge: Forge): Generator<Try> {
  // A letter and a slash that some writers of JSON escape.
  const body = bytes(forge.envelopeWith({ name: 'Zoë/1' }))
  const t = String(forge.now())
  const ms = `${t}000`
  yield {
    cause: 'It takes t for milliseconds. Compare t with the time in seconds.',
    delivery: forge.delivery(body, forge.header(body, ms)),
  }
  for (const key of ['', 'undefined', 'null', 'None'])
    yield {
      cause: `It verifies with the secret ${JSON.stringify(key)}: its own secret is not set. Check its environment.`,
      delivery: forge.delivery(body, forge.header(body, Number(t), key)),
    }
  const right = forge.signature(body, t)
  for (const { mistake, advice, signatures } of mistakes) {
    if (mistake === 'other_timestamp_signed') continue
    const wrong = signatures({ t, body, secret: forge.secret }).filter((one) => one !== right)
    for (const v1 of new Set(wrong.slice(0, MOST)))
      yield {
        cause: `It computes the signature with this mistake: ${mistake}. ${advice}`,
        delivery: forge.delivery(body, `t=${t},v1=${v1}`),
      }
  }
}

/** Where signatures of other services stand. */
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
async function otherHeader({ forge, send }: Parts): Promise<string | undefined> {
  const body = bytes(forge.envelope())
  const header = forge.header(body)
  const under = (some: readonly string[]) =>
    some.reduce((delivery, name) => withHeader(delivery, name, header), forge.delivery(body))
  const others = names.filter((name) => name !== forge.headerName)
  if (!isGood(await send(under(others)))) return undefined
  for (const name of others)
    if (isGood(await send(under([name]))))
      return `It reads the signature from the header ${name}; deliveries carry it in ${forge.headerName} (--service-name).`
  return undefined
}
