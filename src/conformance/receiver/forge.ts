import { eventTypes, type Envelope, type EventType } from '../../model/event.ts'
import { hexDigest } from '../../signature/digest.ts'
import type { Delivery, HeaderLine } from './send.ts'

export interface ForgeParts {
  secret: string
  /** Seconds that the receiver allows `t` to be away from now. */
  tolerance: number
  /** `Acme` for `X-Acme-Signature`. */
  serviceName: string
  /** An example of each event. */
  examples: ReadonlyMap<EventType, Envelope>
  newId: () => string
  /** Milliseconds. */
  now: () => number
}

/** Makes deliveries, right ones and wrong ones. Times are Unix seconds. */
export interface Forge {
  tolerance: number
  now(): number
  /** Waits for the first half of a second, so that `t` is not a second older by the time that it is judged. */
  earlyInSecond(): Promise<void>
  /** An event under a new id, as an object. */
  envelope(type?: EventType): Envelope
  /** The signature in hex, as the specification has it, over whatever `t` says. */
  signature(body: Buffer, t: number | string, secret?: string): string
  /** The header's value. */
  header(body: Buffer, t?: number, secret?: string): string
  /** A request with the signature headers given: none, one, or several. */
  delivery(body: Buffer, ...headers: string[]): Delivery
  /** A right delivery of these bytes. */
  genuine(body: Buffer): Delivery
}

export function createForge({ secret, tolerance, serviceName, examples, newId, now }: ForgeParts): Forge {
  const seconds = () => Math.floor(now() / 1000)
  const forge: Forge = {
    tolerance,
    now: seconds,
    async earlyInSecond() {
      const into = now() % 1000
      if (into > 500) await new Promise((resolve) => setTimeout(resolve, 1010 - into))
    },
    envelope(type = eventTypes[0]) {
      const example = examples.get(type)
      const data = example?.data ?? {}
      return { id: newId(), type, created_at: new Date(now()).toISOString(), data }
    },
    signature: (body, t, key = secret) => hexDigest(key, String(t), body),
    header: (body, t = seconds(), key = secret) => `t=${t},v1=${forge.signature(body, t, key)}`,
    delivery: (body, ...headers) => ({
      headers: [
        ['User-Agent', `${serviceName}-Webhooks/1.0`],
        ...headers.map((value): HeaderLine => [`X-${serviceName}-Signature`, value]),
      ],
      body,
    }),
    genuine: (body) => forge.delivery(body, forge.header(body)),
  }
  return forge
}

/** The usual bytes of an event: compact JSON. */
export function bytes(envelope: object): Buffer {
  return Buffer.from(JSON.stringify(envelope))
}
