import { createHash, createHmac } from 'node:crypto'

/** One case of `fixtures/signature-vectors.json`. */
export interface Vector {
  name: string
  secret: string
  /** The whole value of the signature header; null when the request has none. */
  header: string | null
  /** The raw body in base64. */
  body: string
  /** Unix seconds. */
  now: number
  /** Seconds. */
  tolerance: number
  verdict: 'accepted' | 'rejected' | 'either'
  /** Reason of the verdict; absent for `either`. */
  basis?: 'specification' | 'advice'
  /** Why the signature is rejected, or why a verifier may choose. */
  reason?: string
}

const secret = 'whsec_MDEyMzQ1Njc4OWFi'
const now = 1795201960

const event = '{"id":"evt_1","check":2575}'

/** Signs by itself, so that a mistake of the signer under test does not reach the vectors. */
function hmac(t: string | number, body: string | Buffer, key: string | Buffer = secret): string {
  return createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(body)]))
    .digest('hex')
}

interface Input {
  header?: string | null
  body?: string | Buffer
  secret?: string
  now?: number
  tolerance?: number
}

/** A vector with the defaults filled in: a genuine delivery, one second old. */
function vector(name: string, input: Input): Omit<Vector, 'verdict'> {
  const given = { header: genuine(), body: event, secret, now: now + 1, tolerance: 300, ...input }
  const body = Buffer.from(given.body).toString('base64')
  return {
    name,
    secret: given.secret,
    header: given.header,
    body,
    now: given.now,
    tolerance: given.tolerance,
  }
}

type Basis = NonNullable<Vector['basis']>

function accepted(name: string, input: Input, basis: Basis = 'specification'): Vector {
  return { ...vector(name, input), verdict: 'accepted', basis }
}

function rejected(name: string, reason: string, input: Input, basis: Basis = 'specification'): Vector {
  return { ...vector(name, input), verdict: 'rejected', basis, reason }
}

function either(name: string, reason: string, input: Input): Vector {
  return { ...vector(name, input), verdict: 'either', reason }
}

function genuine(body: string | Buffer = event, t: string | number = now, key: string | Buffer = secret) {
  return `t=${t},v1=${hmac(t, body, key)}`
}

const v1 = hmac(now, event)

/** Each digit is replaced by another one. */
function wrong(digits: string): string {
  return digits.replace(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))
}

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

const bodies: readonly (readonly [name: string, body: string | Buffer])[] = [
  ['an event', event],
  ['an empty body', ''],
  ['a body of one byte', '0'],
  ['a body of one blank', ' '],
  ['a body that is the word null', 'null'],
  ['a body that begins with digits and a full stop', '1795201960.5'],
  ['a body that begins with a full stop', '.{"id":"evt_1"}'],
  ['a body with accents, composed', '{"name":"Zo\u00eb \u00c5sa"}'],
  ['a body with accents, decomposed', '{"name":"Zoe\u0308 A\u030asa"}'],
  ['a body in Japanese', '{"name":"明子 ラーメン"}'],
  ['a body in Arabic', '{"name":"مريم"}'],
  ['a body with emoji of several code points', '{"name":"👩‍🍳🏳️‍🌈🌶"}'],
  ['a body with line separators of JavaScript', '{"name":"\u2028\u2029"}'],
  ['a body with a zero-width blank', '{"name":"a\u200bb"}'],
  ['a body with a byte order mark', `\ufeff${event}`],
  ['a body with a line feed at the end', `${event}\n`],
  ['a body with CR LF at the end', `${event}\r\n`],
  ['a body with two line feeds at the end', `${event}\n\n`],
  ['a body with a line feed at the beginning', `\n${event}`],
  ['a body with blanks around it', `  ${event}  `],
  ['a body with CR LF inside', '{\r\n  "id": "evt_1"\r\n}'],
  ['a body with CR alone inside', '{\r"id":"evt_1"\r}'],
  ['a body with tabs', '{\t"id":\t"evt_1"}'],
  ['a body with NUL at the end', `${event}\0`],
  ['a body with NUL in the middle', '{"id":"evt\0_1"}'],
  ['a body with NUL at the beginning', `\0${event}`],
  ['a body of NUL bytes', Buffer.alloc(16)],
  ['a body with every byte', everyByte],
  ['a body in Latin-1', Buffer.from('{"name":"Zoë"}', 'latin1')],
  ['a body in UTF-16', Buffer.from('{"name":"Zoë"}', 'utf16le')],
  ['a body with a byte that UTF-8 never has', Buffer.from([0x7b, 0xff, 0x7d])],
  ['a body with a cut UTF-8 sequence', Buffer.from([0x22, 0xe6, 0x97])],
  ['a body with an overlong UTF-8 sequence', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a body with a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a body that is gzip', Buffer.from('1f8b0800000000000003ab56ca4c51b252', 'hex')],
  ['a number with a decimal of zero', '{"quantity":1.0}'],
  ['a number with an exponent', '{"quantity":1E2}'],
  ['a number beyond double precision', '{"quantity":12345678901234567890}'],
  ['a negative zero', '{"quantity":-0}'],
  ['escaped slashes', '{"url":"https:\\/\\/pos.example.com"}'],
  ['escaped letters', '{"name":"\\u0041lma \\u00e9"}'],
  ['an escaped emoji', '{"name":"\\ud83c\\udf36"}'],
  ['a repeated key', '{"a":1,"a":2}'],
  ['numeric keys out of order', '{"10":1,"9":2,"b":3}'],
  ['blanks after colons', '{"id": "evt_1", "type": "ping"}'],
  ['percent escapes', '{"name":"100%25 a+b&c=d"}'],
  ['markup', '{"name":"<b>fish &amp; chips</b>"}'],
  ['a body that is not JSON', 'id=evt_1&type=ping'],
  ['a body of 1,024 bytes', 'n'.repeat(1024)],
  ['a body that contains its header', `{"header":"t=${now},v1=${v1}"}`],
]

/** Bodies under the signature of another one. */
const changed: readonly (readonly [name: string, signed: string | Buffer, sent: string | Buffer])[] = [
  ['one digit changed', event, event.replace('2575', '2574')],
  ['one letter in another case', event, event.replace('check', 'Check')],
  ['the first byte changed', event, `[${event.slice(1)}`],
  ['the last byte changed', event, `${event.slice(0, -1)}]`],
  ['one bit changed in the first byte', event, Buffer.from(event).fill(0x7a, 0, 1)],
  ['the last byte cut off', event, event.slice(0, -1)],
  ['the first byte cut off', event, event.slice(1)],
  ['cut to nothing', event, ''],
  ['something in place of nothing', '', event],
  ['a line feed appended', event, `${event}\n`],
  ['CR LF appended', event, `${event}\r\n`],
  ['a blank appended', event, `${event} `],
  ['NUL appended', event, `${event}\0`],
  ['a blank put before it', event, ` ${event}`],
  ['a byte order mark put before it', event, `\ufeff${event}`],
  ['a byte order mark removed', `\ufeff${event}`, event],
  ['the final line feed removed', `${event}\n`, event],
  ['CR LF changed to LF', '{\r\n"a":1}', '{\n"a":1}'],
  ['LF changed to CR LF', '{\n"a":1}', '{\r\n"a":1}'],
  ['repeated', event, event + event],
  ['indented JSON', event, JSON.stringify(JSON.parse(event), null, 2)],
  ['blanks of JSON removed', '{"id": "evt_1"}', '{"id":"evt_1"}'],
  ['keys in another order', '{"a":1,"b":2}', '{"b":2,"a":1}'],
  ['1.0 written as 1', '{"quantity":1.0}', '{"quantity":1}'],
  ['1E2 written as 100', '{"quantity":1E2}', '{"quantity":100}'],
  ['a large number rounded', '{"n":12345678901234567890}', '{"n":12345678901234567000}'],
  ['slashes unescaped', '{"url":"https:\\/\\/a"}', '{"url":"https://a"}'],
  ['slashes escaped', '{"url":"https://a"}', '{"url":"https:\\/\\/a"}'],
  ['letters unescaped', '{"name":"\\u00e9"}', '{"name":"é"}'],
  ['letters escaped', '{"name":"é"}', '{"name":"\\u00e9"}'],
  ['letters composed', '{"name":"Zoe\u0308"}', '{"name":"Zo\u00eb"}'],
  ['letters decomposed', '{"name":"Zo\u00eb"}', '{"name":"Zoe\u0308"}'],
  ['UTF-8 changed to Latin-1', '{"name":"Zoë"}', Buffer.from('{"name":"Zoë"}', 'latin1')],
  ['Latin-1 changed to UTF-8', Buffer.from('{"name":"Zoë"}', 'latin1'), '{"name":"Zoë"}'],
  ['a wrong byte replaced by U+FFFD', Buffer.from([0x7b, 0xff, 0x7d]), '{\ufffd}'],
  ['another wrong byte', Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from([0x7b, 0xfe, 0x7d])],
  ['cut at NUL', '{"id":"evt\0_1"}', '{"id":"evt'],
  ['different bytes after NUL', '{"id":"evt\0_1"}', '{"id":"evt\0_2"}'],
  ['percent escapes decoded', '{"name":"100%25"}', '{"name":"100%"}'],
  ['a plus sign decoded', '{"name":"a+b"}', '{"name":"a b"}'],
  ['markup decoded', '{"name":"a &amp; b"}', '{"name":"a & b"}'],
  ['a repeated key removed', '{"a":1,"a":2}', '{"a":2}'],
]

const key = secret.slice('whsec_'.length)
const raw = Buffer.from(key, 'base64')
const longSecret = `whsec_${'0123456789abcdef'.repeat(6)}`

/** Secrets other than the endpoint's, with which the header is signed. */
const otherKeys: readonly (readonly [name: string, key: string | Buffer])[] = [
  ['another secret', 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA'],
  ['the secret without its prefix', key],
  ['the secret without its prefix, decoded from base64', raw],
  ['the whole secret, decoded from base64', Buffer.from(secret, 'base64')],
  ['the prefix alone', 'whsec_'],
  ['the secret in upper case', secret.toUpperCase()],
  ['the secret without its last character', secret.slice(0, -1)],
  ['the secret with one more character', `${secret}0`],
  ['the secret with a line feed', `${secret}\n`],
  ['the secret with a blank', `${secret} `],
  ['the prefix twice', `whsec_${secret}`],
  ['an empty secret', ''],
  ['the word undefined', 'undefined'],
  ['the word null', 'null'],
  ['the word None', 'None'],
  ['the SHA-256 of the secret', createHash('sha256').update(secret).digest()],
]

/** Wrong values of `v1` for the right body, time and secret. */
const digests: readonly (readonly [name: string, v1: string])[] = [
  ['another last digit', v1.slice(0, 63) + wrong(v1.slice(63))],
  ['another first digit', wrong(v1.slice(0, 1)) + v1.slice(1)],
  ['another digit in the middle', v1.slice(0, 31) + wrong(v1.slice(31, 32)) + v1.slice(32)],
  ['the right beginning of 8 digits', v1.slice(0, 8) + wrong(v1.slice(8))],
  ['the right beginning of 32 digits', v1.slice(0, 32) + wrong(v1.slice(32))],
  ['the right end of 8 digits', wrong(v1.slice(0, -8)) + v1.slice(-8)],
  ['the right end of 32 digits', wrong(v1.slice(0, -32)) + v1.slice(-32)],
  ['all digits different', wrong(v1)],
  ['zeros', '0'.repeat(64)],
  ['nothing', ''],
  ['one right digit', v1.slice(0, 1)],
  ['eight right digits', v1.slice(0, 8)],
  ['the first half', v1.slice(0, 32)],
  ['the second half', v1.slice(32)],
  ['the last digit cut off', v1.slice(0, -1)],
  ['the last byte cut off', v1.slice(0, -2)],
  ['one digit more', `${v1}0`],
  ['one byte more', `${v1}00`],
  ['the signature twice', v1 + v1],
  ['zero before it', `0${v1.slice(0, 63)}`],
  ['the bytes reversed', Buffer.from(v1, 'hex').reverse().toString('hex')],
  ['the text reversed', Buffer.from(v1).reverse().toString()],
  ['upper-case hex', v1.toUpperCase()],
  ['upper-case hex in the first half', v1.slice(0, 32).toUpperCase() + v1.slice(32)],
  ['a prefix 0x', `0x${v1}`],
  ['a prefix sha256=', `sha256=${v1}`],
  ['base64', Buffer.from(v1, 'hex').toString('base64')],
  ['letters that are not hex', 'z'.repeat(64)],
  ['letters beyond ASCII', 'é'.repeat(64)],
  ['full-width digits', v1.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
  ['quotes around it', `"${v1}"`],
  ['HMAC-SHA1', createHmac('sha1', secret).update(`${now}.${event}`).digest('hex')],
  ['HMAC-SHA512', createHmac('sha512', secret).update(`${now}.${event}`).digest('hex')],
  [
    'HMAC-SHA512 cut to 64 digits',
    createHmac('sha512', secret).update(`${now}.${event}`).digest('hex').slice(0, 64),
  ],
  ['HMAC-MD5', createHmac('md5', secret).update(`${now}.${event}`).digest('hex')],
  ['SHA-256 without a key', createHash('sha256').update(`${now}.${event}`).digest('hex')],
  ['SHA-256 of secret and text', createHash('sha256').update(`${secret}${now}.${event}`).digest('hex')],
  ['the body signed alone', createHmac('sha256', secret).update(event).digest('hex')],
  ['no full stop signed', createHmac('sha256', secret).update(`${now}${event}`).digest('hex')],
  [
    'a colon signed in place of the full stop',
    createHmac('sha256', secret).update(`${now}:${event}`).digest('hex'),
  ],
  ['the body signed before t', createHmac('sha256', secret).update(`${event}.${now}`).digest('hex')],
  ['t= signed with the time', createHmac('sha256', secret).update(`t=${now}.${event}`).digest('hex')],
  ['key and text swapped', createHmac('sha256', `${now}.${event}`).update(secret).digest('hex')],
  ['the time before signed', hmac(now - 1, event)],
  ['the time after signed', hmac(now + 1, event)],
  ['milliseconds signed', hmac(now * 1000, event)],
]

/** Headers that do not have the specified form, or no right signature in it. */
const malformed: readonly (readonly [name: string, header: string, reason?: string])[] = [
  ['no t', `v1=${v1}`],
  ['no v1', `t=${now}`, 'no_v1_signature'],
  ['v1 without an equals sign', `t=${now},v1`],
  ['a signature alone', v1],
  ['a signature as GitHub writes it', `sha256=${v1}`],
  ['a time alone', String(now)],
  ['an equals sign alone', '='],
  ['a comma alone', ','],
  ['commas alone', ',,,,'],
  ['a blank alone', ' '],
  ['text', 'none'],
  ['text beyond ASCII', 'é=ü,日=本'],
  ['a bearer token', `Bearer ${secret}`],
  ['JSON', `{"t":${now},"v1":"${wrong(v1)}"}`],
  ['2,048 letters', 'a'.repeat(2048)],
  ['512 commas', ','.repeat(512)],
  ['a t of 512 digits', `t=${'1'.repeat(512)},v1=${v1}`],
  ['a wrong signature under v0', `t=${now},v0=${wrong(v1)}`, 'no_v1_signature'],
  ['two times, the first signed and late', `t=${now - 9000},v1=${hmac(now - 9000, event)},t=${now}`],
  ['two times, the second signed and late', `t=${now},t=${now - 9000},v1=${hmac(now - 9000, event)}`],
  ['two times, the first signed', `t=${now},t=${now + 1},v1=${v1}`],
  ['two times, the second signed', `t=${now + 1},t=${now},v1=${v1}`],
  ['the same time twice', `t=${now},t=${now},v1=${v1}`],
  ['two headers joined by a comma', `${genuine()},${genuine()}`],
]

/** Values of `t` that are signed, so that only their form is wrong. */
const timesOfOtherForms: readonly (readonly [name: string, t: string])[] = [
  ['a plus sign', `+${now}`],
  ['a minus sign', `-${now}`],
  ['a decimal of zero', `${now}.0`],
  ['a fraction', `${now}.5`],
  ['an exponent', '1.79520196e9'],
  ['hexadecimal digits', `0x${now.toString(16)}`],
  ['an underscore', '1_795_201_960'],
  ['a letter at the end', `${now}s`],
  ['a unit at the end', `${now}ms`],
  ['Arabic digits', String(now).replace(/[0-9]/g, (digit) => String.fromCharCode(0x660 + Number(digit)))],
  [
    'full-width digits',
    String(now).replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  ],
  ['no digits', ''],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
  ['ISO 8601', '2026-11-20T19:12:40Z'],
  ['a word', 'now'],
]

/** Signed times far from now; those of more than 15 digits do not fit everywhere. */
const distant: readonly (readonly [name: string, t: string, reason: string])[] = [
  ['the time 0', '0', 'timestamp_too_old'],
  ['the time 1', '1', 'timestamp_too_old'],
  ['a time without its last digit', String(now).slice(0, -1), 'timestamp_too_old'],
  ['a day old', String(now - 86_400), 'timestamp_too_old'],
  ['a day ahead', String(now + 86_400), 'timestamp_in_future'],
  ['the largest time of 32 bits', '2147483647', 'timestamp_in_future'],
  ['now and 2 to the 32nd', String(now + 2 ** 32), 'timestamp_in_future'],
  ['a time with one more digit', `${now}0`, 'timestamp_in_future'],
  ['milliseconds', `${now}000`, 'timestamp_in_future'],
  ['microseconds', `${now}000000`, 'timestamp_in_future'],
  ['nanoseconds', `${now}000000000`, 'malformed_header'],
  ['the largest time of 64 bits', '9223372036854775807', 'malformed_header'],
  ['now and 2 to the 64th', String(BigInt(now) + 2n ** 64n), 'malformed_header'],
  ['a time of 31 digits', `1${'0'.repeat(30)}`, 'malformed_header'],
]

/** Ages with a tolerance, in seconds; negative ages are in the future. */
const edges: readonly (readonly [age: number, tolerance: number])[] = [
  ...[0, 2, 299, 300, 301, 302, -1, -299, -300, -301, -302].map((age) => [age, 300] as const),
  ...[0, 1, -1].map((age) => [age, 0] as const),
  ...[1, 2, -1, -2].map((age) => [age, 1] as const),
  ...[60, 61, -60, -61].map((age) => [age, 60] as const),
  ...[600, 601, -600, -601].map((age) => [age, 600] as const),
]

function edge([age, tolerance]: readonly [age: number, tolerance: number]): Vector {
  const name = `time: ${Math.abs(age)} s ${age < 0 ? 'ahead' : 'old'}, tolerance ${tolerance} s`
  const input = { now: now + age, tolerance }
  if (Math.abs(age) <= tolerance) return accepted(name, input)
  return rejected(name, age > 0 ? 'timestamp_too_old' : 'timestamp_in_future', input)
}

const other = hmac(now, event, 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA')
const eight = Array.from({ length: 8 }, (_, at) => `v1=${hmac(at, event)}`).join(',')

const rotation: readonly Vector[] = [
  accepted('several v1: the right one first', { header: `t=${now},v1=${v1},v1=${other}` }, 'advice'),
  accepted('several v1: the right one last', { header: `t=${now},v1=${other},v1=${v1}` }, 'advice'),
  accepted(
    'several v1: the right one between',
    { header: `t=${now},v1=${other},v1=${v1},v1=${wrong(v1)}` },
    'advice',
  ),
  accepted('several v1: the right one twice', { header: `t=${now},v1=${v1},v1=${v1}` }, 'advice'),
  accepted('several v1: the right one after 8 others', { header: `t=${now},${eight},v1=${v1}` }, 'advice'),
  rejected('several v1: none is right', 'signature_mismatch', {
    header: `t=${now},v1=${other},v1=${wrong(v1)}`,
  }),
  rejected('several v1: 8 wrong ones', 'signature_mismatch', { header: `t=${now},${eight}` }),
  rejected('several v1: a right one that is too old', 'timestamp_too_old', {
    header: `t=${now},v1=${other},v1=${v1}`,
    now: now + 301,
  }),
  rejected('several v1: each half of the right one', 'signature_mismatch', {
    header: `t=${now},v1=${v1.slice(0, 32)},v1=${v1.slice(32)}`,
  }),
  rejected('v0: the right signature under v0, a wrong v1', 'signature_mismatch', {
    header: `t=${now},v1=${wrong(v1)},v0=${v1}`,
  }),
  rejected(
    'v0: the right signature under v0 alone',
    'no_v1_signature',
    { header: `t=${now},v0=${v1}` },
    'advice',
  ),
  rejected(
    'v2: the right signature under v2 alone',
    'no_v1_signature',
    { header: `t=${now},v2=${v1}` },
    'advice',
  ),
  rejected(
    'v10: the right signature under v10 alone',
    'no_v1_signature',
    { header: `t=${now},v10=${v1}` },
    'advice',
  ),
]

const open = 'The specification does not describe such a header, and the service never sends one.'

/** Forms of the header beside the one that is specified, written around a right or a wrong `v1`. */
const forms: readonly (readonly [name: string, write: (v1: string) => string, reason?: string])[] = [
  ['v1 before t', (hex) => `v1=${hex},t=${now}`, 'signature_mismatch'],
  ['a v0 between', (hex) => `t=${now},v0=${other},v1=${hex}`, 'signature_mismatch'],
  ['a v2 at the end', (hex) => `t=${now},v1=${hex},v2=${other}`, 'signature_mismatch'],
  ['an unknown field at the end', (hex) => `t=${now},v1=${hex},kid=7`, 'signature_mismatch'],
  ['an unknown field at the beginning', (hex) => `kid=7,t=${now},v1=${hex}`, 'signature_mismatch'],
  ['a blank after the comma', (hex) => `t=${now}, v1=${hex}`],
  ['a blank before the comma', (hex) => `t=${now} ,v1=${hex}`],
  ['a blank at the beginning', (hex) => ` t=${now},v1=${hex}`],
  ['a blank at the end', (hex) => `t=${now},v1=${hex} `, 'signature_mismatch'],
  ['a tab after the comma', (hex) => `t=${now},\tv1=${hex}`],
  ['a blank after the equals sign of t', (hex) => `t= ${now},v1=${hex}`],
  ['an empty part between', (hex) => `t=${now},,v1=${hex}`],
  ['an empty part at the end', (hex) => `t=${now},v1=${hex},`],
  ['an empty part at the beginning', (hex) => `,t=${now},v1=${hex}`],
  ['a part without an equals sign', (hex) => `t=${now},v1=${hex},x`],
  ['semicolons', (hex) => `t=${now};v1=${hex}`],
  ['a blank in place of the comma', (hex) => `t=${now} v1=${hex}`],
  ['an upper-case T', (hex) => `T=${now},v1=${hex}`],
  ['an upper-case V1', (hex) => `t=${now},V1=${hex}`, 'no_v1_signature'],
  ['quotes around t', (hex) => `t="${now}",v1=${hex}`],
  ['an empty v1 after it', (hex) => `t=${now},v1=${hex},v1=`, 'signature_mismatch'],
]

/** Returns all vectors, in the order of the published file. The same in every run. */
export function makeVectors(): readonly Vector[] {
  return [
    ...bodies.map(([name, body]) => accepted(`body: ${name}`, { body, header: genuine(body) })),
    accepted('secret: without a prefix', {
      secret: 'plain-secret',
      header: genuine(event, now, 'plain-secret'),
    }),
    accepted('secret: longer than a block of SHA-256', {
      secret: longSecret,
      header: genuine(event, now, longSecret),
    }),
    accepted('secret: exactly one block of SHA-256', {
      secret: longSecret.slice(0, 64),
      header: genuine(event, now, longSecret.slice(0, 64)),
    }),
    accepted('secret: with characters of base64', {
      secret: 'whsec_ab+/cd==',
      header: genuine(event, now, 'whsec_ab+/cd=='),
    }),
    ...changed.map(([name, signed, body]) =>
      rejected(`changed body: ${name}`, 'signature_mismatch', { body, header: genuine(signed) }),
    ),
    ...otherKeys.map(([name, other]) =>
      rejected(`signed with: ${name}`, 'signature_mismatch', { header: genuine(event, now, other) }),
    ),
    rejected('signed with: the decoded secret, for a secret without its prefix', 'signature_mismatch', {
      secret: key,
      header: genuine(event, now, raw),
    }),
    ...digests.map(([name, hex]) =>
      rejected(`v1: ${name}`, 'signature_mismatch', { header: `t=${now},v1=${hex}` }),
    ),
    rejected('t: changed to the next second', 'signature_mismatch', { header: `t=${now + 1},v1=${v1}` }),
    rejected('t: changed to now, for a late delivery', 'signature_mismatch', {
      header: `t=${now + 9000},v1=${v1}`,
      now: now + 9000,
    }),
    ...distant.map(([name, t, reason]) => rejected(`t: ${name}`, reason, { header: genuine(event, t) })),
    accepted('t: the time 0 at the time 0', { header: genuine(event, 0), now: 0 }),
    accepted('t: the time 0 at the time 300', { header: genuine(event, 0), now: 300 }),
    accepted('t: beyond 31 bits', { header: genuine(event, 2 ** 31), now: 2 ** 31 + 1 }),
    accepted('t: beyond 32 bits', { header: genuine(event, 2 ** 32), now: 2 ** 32 - 1 }),
    accepted('t: eleven digits', { header: genuine(event, 10_000_000_000), now: 9_999_999_999 }),
    ...timesOfOtherForms.map(([name, t]) =>
      rejected(`t: signed with ${name}`, 'malformed_header', { header: genuine(event, t) }, 'advice'),
    ),
    either(
      't: leading zeros, signed as they are',
      'The specification does not say whether leading zeros belong to the value of t.',
      { header: genuine(event, `00${now}`) },
    ),
    either(
      't: leading zeros, signed without them',
      'The specification does not say whether leading zeros belong to the value of t.',
      { header: `t=00${now},v1=${v1}` },
    ),
    rejected('t: leading zeros, too old', 'timestamp_too_old', {
      header: genuine(event, `00${now}`),
      now: now + 400,
    }),
    ...edges.map(edge),
    rejected('time: a wrong signature that is also too old', 'signature_mismatch', {
      header: `t=${now},v1=${wrong(v1)}`,
      now: now + 301,
    }),
    rejected('header: none', 'missing_header', { header: null }),
    rejected('header: none, empty body', 'missing_header', { header: null, body: '' }),
    rejected('header: empty', 'missing_header', { header: '' }),
    ...malformed.map(([name, header, reason = 'malformed_header']) =>
      rejected(`header: ${name}`, reason, { header }),
    ),
    rejected('header: the start of a signed body moved into t', 'malformed_header', {
      header: `t=${now}.{"note":"a,v1=${hmac(now, '{"note":"a.b"}')}`,
      body: 'b"}',
    }),
    ...rotation,
    ...forms.map(([name, write]) => either(`form: ${name}`, open, { header: write(v1) })),
    ...forms.map(([name, write, reason = 'malformed_header']) =>
      rejected(`form: ${name}, wrong signature`, reason, { header: write(wrong(v1)) }),
    ),
  ]
}

/** Returns the text of `fixtures/signature-vectors.json`, with a line for each vector. */
export function publishedText(): string {
  const lines = makeVectors().map((one) => `    ${JSON.stringify(one)}`)
  return `{\n  "$schema": "./signature-vectors.schema.json",\n  "format": 1,\n  "vectors": [\n${lines.join(',\n')}\n  ]\n}\n`
}
