import { createHmac } from 'node:crypto'
import { signatureHeader } from '../../model/text/service-name.ts'
import { parseJson } from './ask.ts'
import type { Arrival } from './receiver.ts'
import { at } from './shape.ts'

const parsed = new WeakMap<Buffer, { json: unknown }>()

/** The body as JSON; `undefined` when it is not JSON. Each body is parsed once. */
export function bodyOf({ body }: Arrival): unknown {
  const known = parsed.get(body) ?? { json: parseJson(body.toString()) }
  parsed.set(body, known)
  return known.json
}

/** The envelope's id; deliveries of one event share it. */
export function idOf(arrival: Arrival): unknown {
  return at(bodyOf(arrival), 'id')
}

export function typeOf(arrival: Arrival): unknown {
  return at(bodyOf(arrival), 'type')
}

/** Counts the events that have arrived: duplicates share their id. */
export function eventCount(arrivals: readonly Arrival[]): number {
  return new Set(arrivals.map(idOf)).size
}

interface SignatureHeader {
  /** `x-acme-signature`; `undefined` when there is none. */
  name: string | undefined
  value: string
  /** Empty when the header has none; the same goes for `v1`. */
  t: string
  v1: string
}

/**
 * The signature header: `X-<service name>-Signature`, or, where the name is not known, the header of that form. The
 * specification shows the form, not the name.
 */
export function signatureOf({ headers }: Arrival, serviceName: string | undefined): SignatureHeader {
  const found = Object.keys(headers).filter((name) =>
    serviceName === undefined
      ? /^x-.+-signature$/.test(name)
      : name === signatureHeader(serviceName).toLowerCase(),
  )
  const name = found.find((one) => /\bt=/.test(String(headers[one]))) ?? found[0]
  const value = name === undefined ? '' : String(headers[name])
  return { name, value, t: /\bt=(\d+)/.exec(value)?.[1] ?? '', v1: /\bv1=([^,\s]+)/.exec(value)?.[1] ?? '' }
}

/** Returns true when the signature is that of `t` and the raw body with one of the secrets, whatever the case of its digits. */
export function isGenuine(
  arrival: Arrival,
  secrets: readonly string[],
  serviceName: string | undefined,
): boolean {
  const { t, v1 } = signatureOf(arrival, serviceName)
  const digest = (secret: string) =>
    createHmac('sha256', secret).update(`${t}.`).update(arrival.body).digest('hex')
  return secrets.some((secret) => digest(secret) === v1.toLowerCase())
}

/** Returns the distance between `t` and the time of arrival, in seconds; `NaN` without a `t`. */
export function lagOf(arrival: Arrival, serviceName: string | undefined): number {
  const { t } = signatureOf(arrival, serviceName)
  return t === '' ? Number.NaN : Math.abs(Number(t) - arrival.at / 1000)
}
