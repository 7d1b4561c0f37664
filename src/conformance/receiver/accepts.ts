import { eventTypes } from '../../model/event.ts'
import {
  isGood,
  describeAnswer,
  type CaseOutcome,
  type ReceiverCase,
  type Row,
  type CaseContext,
} from './case.ts'
import { bytes, withHeader, type Forge } from './forge.ts'
import type { Delivery, DeliveryOptions } from './send.ts'

interface AcceptRow extends Row {
  /** Genuine deliveries, each to be answered 2xx. */
  deliveries(forge: Forge): readonly Delivery[]
  /** Milliseconds between the two parts of each body. The split is inside a character, where one has several bytes. */
  pauseMs?: number
  /** True when `data` has a field that no event of the service has. */
  addsField?: true
}

interface OddForm extends Pick<AcceptRow, 'id' | 'title' | 'explainedBy' | 'addsField'> {
  /** Why a receiver rejects this form; by default, because it parses and serializes the body. */
  reason?: string
  /** The bytes of an event as legal JSON that a parser would not write again. */
  write(forge: Forge): Buffer
}

/**
 * Ways to write JSON that are as good as the usual one, but do not survive a parser. Unusual values are in additional
 * fields, so that a receiver that validates its known fields accepts each form.
 */
const oddForms: readonly OddForm[] = [
  {
    id: 'odd_white_space',
    title: 'JSON with unusual whitespace',
    reason:
      'The signature covers the raw bytes (specification section 5). A receiver that parses and serializes the body again, or reads it line by line, rejects valid deliveries. Verify the raw body.',
    write: (forge) => Buffer.from(JSON.stringify(forge.envelope(), null, ' \t').replaceAll('": ', '" :\r\n')),
  },
  {
    id: 'odd_numbers',
    title: 'Numbers as 1.0, 1E2 and beyond double precision',
    addsField: true,
    write: (forge) => withField(forge, '{"one":1.0,"hundred":1E2,"large":12345678901234567890,"zero":-0}'),
  },
  {
    id: 'odd_escapes',
    title: 'Unnecessarily escaped slashes and letters',
    addsField: true,
    write: (forge) => withField(forge, '{"url":"https:\\/\\/pos.example.com","name":"\\u0041lma \\u00e9"}'),
  },
  {
    id: 'odd_keys',
    title: 'Numeric keys out of order',
    addsField: true,
    write: (forge) => withField(forge, '{"10":1,"9":2,"b":3,"a":4}'),
  },
  {
    id: 'odd_characters',
    explainedBy: ['odd_escapes'],
    title: 'Percent signs, plus signs, ampersands and markup in text',
    reason:
      'The signature covers the raw bytes (specification section 5). A receiver that decodes, escapes or removes such characters before verification rejects valid deliveries. Verify the raw body.',
    addsField: true,
    write: (forge) =>
      bytes(forge.envelopeWith({ odd: '100%25 %41 a+b&c=d; <b>fish & chips</b> &amp; {{x}} $1 \\n \u0007' })),
  },
  {
    id: 'odd_unicode',
    explainedBy: ['odd_escapes', 'non_ascii'],
    title: 'Decomposed Unicode characters (NFD)',
    reason:
      'The signature covers the raw bytes (specification section 5). A receiver that normalizes Unicode before verification rejects valid deliveries. Verify the raw body.',
    addsField: true,
    write: (forge) => bytes(forge.envelopeWith({ odd: 'Zoë Åsa 한글'.normalize('NFD') })),
  },
  {
    id: 'odd_trailing_newline',
    explainedBy: ['odd_white_space'],
    title: 'Trailing line break',
    reason:
      'The signature covers the raw bytes (specification section 5). A receiver that trims the body, or reads its first line only, rejects valid deliveries. Verify the raw body.',
    write: (forge) => Buffer.from(`${JSON.stringify(forge.envelope())}\r\n`),
  },
]

/** More than any check of a restaurant has, in bytes. */
export const MEBIBYTE = 1_048_576

/** Long enough for the first part to arrive alone, also on a busy machine, in milliseconds. */
const PAUSE_MS = 400

const rows: readonly AcceptRow[] = [
  ...oddForms.map(({ write, ...row }): AcceptRow => ({
    reason:
      'The signature covers the raw bytes (specification section 5). A receiver that parses and serializes the body again rejects valid deliveries. Verify the raw body.',
    ...row,
    deliveries: (forge) => [forge.genuine(write(forge))],
  })),
  {
    id: 'non_ascii',
    explainedBy: ['odd_escapes'],
    title: 'Names in many scripts, in UTF-8',
    addsField: true,
    reason:
      'The receiver decodes the body with the wrong charset, or writes it again with escapes, before verification. It rejects every name such as Zoë. Verify the raw bytes.',
    deliveries: (forge) => [forge.genuine(bytes(forge.envelopeWith({ name: 'Zoë 明子 مريم 🍷 \u2028' })))],
  },
  {
    id: 'in_two_pieces',
    explainedBy: ['odd_escapes', 'non_ascii'],
    title: 'Body split into two chunks, inside a character',
    addsField: true,
    reason:
      'Networks split bodies anywhere. A receiver that verifies only the first chunk, or decodes each chunk alone, rejects large deliveries. Concatenate the bytes of all chunks first.',
    deliveries: (forge) => [forge.genuine(bytes(forge.envelopeWith({ name: '明子' })))],
    pauseMs: PAUSE_MS,
  },
  {
    id: 'just_in_time_past',
    title: 'Timestamp just within the tolerance in the past',
    reason:
      'The tolerance is too small (specification section 5: 300 s by default; --tolerance). The receiver rejects delayed deliveries, and those signed by a slow clock.',
    deliveries: (forge) => [signedAfter(forge, -oldestAge(forge))],
  },
  {
    id: 'just_in_time_future',
    title: 'Timestamp just within the tolerance in the future',
    reason:
      'Clocks differ. A receiver with a slow clock rejects every delivery (specification section 5; --tolerance).',
    deliveries: (forge) => [signedAfter(forge, oldestAge(forge))],
  },
  {
    id: 'duplicates',
    title: 'One event delivered three times',
    reason:
      'Delivery is at least once (specification section 6). A rejected duplicate is retried six times and counts towards disabling the endpoint. Return 2xx and do nothing.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      // Each attempt gets a new signature, so a receiver may reject a repeated one.
      const oldest = Math.min(2, oldestAge(forge))
      return [oldest, oldest - 1, oldest - 2].map((age) =>
        forge.delivery(body, forge.header(body, forge.now() - age)),
      )
    },
  },
  {
    id: 'retry_after_a_day',
    title: 'Event from yesterday with a timestamp of now',
    reason:
      'Retries take 35 hours (specification section 6), each with a new t. A receiver that limits the age of created_at rejects every late retry. The tolerance applies to t only.',
    deliveries: (forge) => {
      const created_at = new Date((forge.now() - DAY_SECONDS) * 1000).toISOString()
      return [forge.genuine(bytes({ ...forge.envelope(), created_at }))]
    },
  },
  {
    id: 'out_of_order_pair',
    explainedBy: ['event_check_updated'],
    title: 'Newer state of a check before an older one',
    reason:
      'Order is not guaranteed (specification section 6). A rejected older state is retried for 35 hours. Return 2xx and keep the newer state.',
    deliveries: (forge) => [0, 60].map((age) => forge.genuine(bytes(stateOf(forge, age)))),
  },
  {
    id: 'unknown_event_type',
    basis: 'advice',
    title: 'Unknown event type',
    reason:
      'When the service adds an event type, its deliveries fail and the endpoint is disabled. Return 2xx and ignore unknown events.',
    deliveries: (forge) => [forge.genuine(bytes({ ...forge.envelope(), type: 'table.moved' }))],
  },
  {
    id: 'ping',
    explainedBy: ['odd_escapes'],
    basis: 'advice',
    title: 'Signed ping',
    reason:
      'POST /webhook-endpoints/{id}/test sends a ping. A receiver that rejects pings cannot be tested end to end.',
    deliveries: (forge) => [forge.genuine(bytes(forge.envelope('ping')))],
  },
  {
    id: 'extra_v1',
    basis: 'advice',
    title: 'Valid v1 after another v1',
    reason:
      'During a secret rotation, a service may sign with both secrets. A receiver that reads only the first v1 then rejects every delivery.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      const t = forge.now()
      const other = forge.signature(body, t, `${forge.secret}-new`)
      return [forge.delivery(body, `t=${t},v1=${other},v1=${forge.signature(body, t)}`)]
    },
  },
  {
    id: 'header_in_lower_case',
    basis: 'advice',
    title: 'Lowercase header name',
    reason:
      'HTTP header names are case-insensitive, and HTTP/2 proxies send them in lowercase. A receiver that compares case rejects every delivery behind such a proxy.',
    deliveries: (forge) => {
      const body = bytes(forge.envelope())
      return [withHeader(forge.delivery(body), forge.headerName.toLowerCase(), forge.header(body))]
    },
  },
  {
    id: 'long_body',
    explainedBy: ['in_two_pieces'],
    title: 'Body of 20 kB',
    addsField: true,
    reason:
      'A check with 100 items has this size. The receiver verifies only the first part of the body, or limits its size.',
    deliveries: (forge) => [forge.genuine(long(forge, 20_000))],
  },
  {
    id: 'one_mebibyte',
    explainedBy: ['in_two_pieces', 'long_body'],
    basis: 'advice',
    title: 'Body of 1 MiB',
    addsField: true,
    reason: 'The size limit of the body parser is too low. The deliveries of the largest tables are lost.',
    deliveries: (forge) => [forge.genuine(long(forge, MEBIBYTE))],
  },
]

/** Deliveries that a correct receiver answers with 2xx. */
export const accepts: readonly ReceiverCase[] = [
  ...eventTypes.map((type): ReceiverCase => ({
    group: 'accepts',
    id: `event_${type.replace('.', '_')}`,
    title: `${type} is accepted`,
    reason:
      'The receiver gets all event types it registered for. A rejected delivery is retried for 35 hours and then lost. Pass --events if the receiver registers for fewer types.',
    async examine({ forge, send }) {
      if (!forge.events.includes(type)) return { notChecked: 'Not checked: not in --events.' }
      return acceptance([forge.genuine(bytes(forge.envelope(type)))], { send })
    },
  })),
  ...rows.map(({ deliveries, pauseMs, addsField, ...row }): ReceiverCase => ({
    group: 'accepts',
    ...row,
    async examine({ forge, send }) {
      const outcome = await acceptance(deliveries(forge), { send }, pauseMs)
      if (typeof outcome !== 'string' || addsField === undefined) return outcome
      // The specification does not say whether `data` may have further fields.
      const further = await send(withFurtherField(forge))
      if ('code' in further || isGood(further)) return outcome
      // A receiver that fails since then rejects every delivery.
      const usual = await send(forge.genuine())
      if (isGood(usual)) return { notChecked: 'Not checked: the receiver rejects further fields in data.' }
      return usual.unjudged === undefined ? outcome : { notChecked: usual.unjudged }
    },
  })),
  {
    group: 'accepts',
    id: 'further_field',
    basis: 'advice',
    title: 'Further field in data',
    reason:
      'When the service adds a field, a receiver that rejects unknown fields loses all its deliveries. Return 2xx and ignore unknown fields.',
    examine: ({ forge, send }) => acceptance([withFurtherField(forge)], { send }),
  },
]

/** Sends genuine deliveries one after the other, up to the first that is not accepted. */
async function acceptance(
  deliveries: readonly Delivery[],
  { send }: Pick<CaseContext, 'send'>,
  pauseMs?: number,
): Promise<CaseOutcome> {
  for (const [index, one] of deliveries.entries()) {
    const pieces: DeliveryOptions =
      pauseMs === undefined ? {} : { splitAt: insideCharacter(one.body), holdBackMs: pauseMs }
    const answer = await send(one, pieces)
    if (isGood(answer)) continue
    if (answer.unjudged !== undefined) return { notChecked: answer.unjudged }
    const which = deliveries.length > 1 ? ` This was delivery ${index + 1} of ${deliveries.length}.` : ''
    return `${describeAnswer(answer)}; expected 2xx.${which}`
  }
  return undefined
}

/** The place after the first byte of a character that has several bytes in UTF-8, or else the middle. */
function insideCharacter(body: Buffer): number {
  const first = body.findIndex((byte) => byte >= 0xc0)
  return first < 0 ? body.length >> 1 : first + 1
}

/**
 * Seconds between the time cases and the tolerance: a receiver may verify at any moment of its 10 s, and the
 * verdict must not depend on it. A tolerance below 20 s leaves half of itself.
 */
function marginOf({ tolerance }: Pick<Forge, 'tolerance'>): number {
  return Math.min(ANSWER_SECONDS, Math.ceil(tolerance / 2))
}

/** The greatest age of `t` at which every verdict is the same, in seconds. */
export function oldestAge(forge: Pick<Forge, 'tolerance'>): number {
  return forge.tolerance - marginOf(forge)
}

/** Specification section 8. */
export const ANSWER_SECONDS = 10

/** A retry after 24 hours, the longest pause of specification section 6, in seconds. */
const DAY_SECONDS = 86_400

function signedAfter(forge: Forge, offset: number): Delivery {
  const body = bytes(forge.envelope())
  return forge.delivery(body, forge.header(body, forge.now() + offset))
}

/** An event of so many bytes. */
function long(forge: Forge, size: number): Buffer {
  const envelope = forge.envelopeWith({ notes: '' })
  const { length } = bytes(envelope)
  return bytes({ ...envelope, data: { ...(envelope.data as object), notes: 'n'.repeat(size - length) } })
}

/** A state of the check that is so many seconds older than the others. */
function stateOf(forge: Forge, age: number): object {
  const type = forge.events.includes('check.updated') ? 'check.updated' : undefined
  const envelope = forge.envelope(type)
  const before = (ms: number) => new Date(ms - age * 1000).toISOString()
  const data = { ...(envelope.data as object), updated_at: before(forge.stateMs) }
  return { ...envelope, created_at: before(forge.now() * 1000), data }
}

/** A genuine delivery whose data has a field that no event of the service has. */
function withFurtherField(forge: Forge): Delivery {
  return forge.genuine(bytes(forge.envelopeWith({ odd: 0 })))
}

/** An event whose data has a field with this JSON. */
function withField(forge: Forge, json: string): Buffer {
  const text = JSON.stringify(forge.envelopeWith({ odd: 0 }))
  return Buffer.from(text.replace(/"odd":0\}\}$/, () => `"odd":${json}}}`))
}
