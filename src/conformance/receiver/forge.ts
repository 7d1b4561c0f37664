import { eventTypesAndPing, eventTypes, type Envelope, type EventType } from '../../model/event.ts'
import { signatureHeader } from '../../model/text/service-name.ts'
import { hexDigest } from '../../signature/sign.ts'
import type { Delivery, HeaderLine } from './send.ts'
import { readFile } from 'node:fs/promises'
import { packageFile } from '../../package-file.ts'

interface ForgeOptions {
  secret: string
  /** Seconds that the receiver allows `t` to be away from now. */
  tolerance: number
  /** `Acme` for `X-Acme-Signature`. */
  serviceName: string
  /** The event types that the receiver is registered for; one at least. */
  events: readonly EventType[]
  examples: Examples
  newId: () => string
  /** Milliseconds. */
  now: () => number
}

/** Makes deliveries, genuine and forged. Times are Unix seconds unless said otherwise. */
export interface Forge {
  secret: string
  tolerance: number
  /** The name of the signature header. */
  headerName: string
  /** The event types that the receiver is registered for. */
  events: readonly EventType[]
  now(): number
  /** In milliseconds. */
  nowMs(): number
  /** The `updated_at` of all states of the check, in milliseconds. */
  stateMs: number
  /** The type of events that name none, from now on. At first the first of `events`. */
  prefer(type: EventType): void
  /**
   * An event under a new id, as an object. All states of the check have one `updated_at`, so that none is older than
   * another.
   */
  envelope(type?: Envelope['type']): Envelope
  /** An event whose data has further fields. */
  envelopeWith(fields: object): Envelope
  /** The signature in hex, as the specification has it, over whatever `t` says. */
  signature(body: Buffer, t: number | string, secret?: string): string
  /** The header's value. */
  header(body: Buffer, t?: number | string, secret?: string): string
  /** A request with the signature headers given: none, one, or several. */
  delivery(body: Buffer, ...headers: string[]): Delivery
  /** A right delivery of these bytes; a plain event unless given. */
  genuine(body?: Buffer): Delivery
  /** The bytes of a new event that fits; of the type given, else of the preferred one. */
  bodyWhere(fits: (body: Buffer) => boolean, type?: EventType): Buffer
  /**
   * A right delivery of a new event whose signature fits. Unless given, all receivers that write digests wrongly write
   * this one right.
   */
  genuineWhere(wanted?: { fits?: (v1: string) => boolean; t?: number; type?: EventType }): Delivery
}

/** Returns true when no byte of a digest in hex is below 0x10, so that no zero can be dropped. */
function hasNoLeadingZeros(v1: string): boolean {
  return !/^(..)*0/.test(v1)
}

/** Most events that are tried for a signature that fits. The rarest has a probability of about 1 in 20. */
const MOST_EVENTS = 1_000

/** The key of forged signatures. */
export const OTHER_SECRET = 'whsec_b2YtYW5vdGhlci1lbmRwb2ludA'

/** Older than the events of the scenario: a receiver that compares times across checks must not ignore those. */
const STATE_AGE_MS = 24 * 3_600_000

export function createForge({
  secret,
  tolerance,
  serviceName,
  events,
  examples,
  newId,
  now,
}: ForgeOptions): Forge {
  const seconds = () => Math.floor(now() / 1000)
  const stateMs = now() - STATE_AGE_MS
  const updated_at = new Date(stateMs).toISOString()
  const headerName = signatureHeader(serviceName)
  let [preferred = eventTypes[0]] = events
  const forge: Forge = {
    secret,
    tolerance,
    headerName,
    events,
    now: seconds,
    nowMs: now,
    stateMs,
    prefer: (type) => (preferred = type),
    envelope(type: Envelope['type'] = preferred) {
      const example: object = examples.get(type)?.data ?? {}
      const data = 'updated_at' in example ? { ...example, updated_at } : example
      return { id: newId(), type, created_at: new Date(now()).toISOString(), data }
    },
    envelopeWith(fields) {
      const envelope = forge.envelope()
      return { ...envelope, data: { ...(envelope.data as object), ...fields } }
    },
    signature: (body, t, key = secret) => hexDigest(key, String(t), body),
    header: (body, t = seconds(), key = secret) => `t=${t},v1=${forge.signature(body, t, key)}`,
    delivery: (body, ...headers) => ({
      headers: [
        ['User-Agent', `${serviceName}-Webhooks/1.0`],
        ...headers.map((value): HeaderLine => [headerName, value]),
      ],
      body,
    }),
    genuine: (body = bytes(forge.envelope())) => forge.delivery(body, forge.header(body)),
    bodyWhere(fits, type = preferred) {
      let body = bytes(forge.envelope(type))
      for (let tried = 1; tried < MOST_EVENTS && !fits(body); tried += 1) body = bytes(forge.envelope(type))
      return body
    },
    genuineWhere({ fits = hasNoLeadingZeros, t = seconds(), type } = {}) {
      const body = forge.bodyWhere((one) => fits(forge.signature(one, t)), type)
      return forge.delivery(body, forge.header(body, t))
    },
  }
  return forge
}

/** The usual bytes of an event: compact JSON. */
export function bytes(envelope: object): Buffer {
  return Buffer.from(JSON.stringify(envelope))
}

/** Returns the delivery with this header, which replaces one of the same name. */
export function withHeader(delivery: Delivery, name: string, value: string): Delivery {
  return { ...delivery, headers: [...delivery.headers.filter(([other]) => other !== name), [name, value]] }
}

/** Names a delivery for the report. */
export function labelled(label: string, delivery: Delivery): Delivery {
  return { ...delivery, label }
}

type Examples = ReadonlyMap<Envelope['type'], Envelope>

/** An example of each event and of the ping, from `fixtures/events`. */
export async function readExamples(): Promise<Examples> {
  const read = async (type: Envelope['type']) => {
    const text = await readFile(packageFile(`fixtures/events/${type}.json`), 'utf8')
    return [type, JSON.parse(text) as Envelope] as const
  }
  return new Map(await Promise.all(eventTypesAndPing.map(read)))
}
