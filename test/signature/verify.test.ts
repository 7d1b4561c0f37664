import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sign, SignatureError, verify, verifyOrThrow, type VerifyOptions } from '../../src/signature/index.ts'
import * as web from '../../src/signature/web.ts'
import { secret, vectors } from './vectors.ts'

const t = 1700000000
const payload = '{"id":"evt_1","data":{"total_cents":1350}}'
const header = sign({ payload, secret, timestamp: t })
const v1 = header.slice(header.indexOf('v1='))
const hex = v1.slice(3)
const delivery: VerifyOptions = { payload, header, secret, now: t * 1000 }

/** Verifies the delivery with a change. Returns `ok`, or the code of the failure. */
function verdict(change: Partial<VerifyOptions>): string {
  const result = verify({ ...delivery, ...change })
  return result.ok ? 'ok' : result.code
}

describe('a genuine delivery', () => {
  test.each(vectors)('verifies: $name', (vector) => {
    const given = { payload: vector.payload, header: `t=${vector.t},v1=${vector.v1}`, secret }
    expect(verify({ ...given, now: vector.t * 1000 })).toEqual({ ok: true, timestamp: vector.t })
  })

  test.each([
    ['text', payload],
    ['a Buffer', Buffer.from(payload)],
    ['a Uint8Array', new TextEncoder().encode(payload)],
  ])('verifies as %s', (_form, form) => expect(verdict({ payload: form })).toBe('ok'))

  test('verifies with now as a Date, also of another realm', () => {
    expect(verdict({ now: new Date(t * 1000) })).toBe('ok')
    expect(verdict({ now: runInNewContext(`new Date(${t} * 1000)`) as Date })).toBe('ok')
  })

  test('verifies against the real time when none is given', () => {
    const timestamp = Math.floor(Date.now() / 1000)
    expect(verify({ payload, header: sign({ payload, secret, timestamp }), secret })).toEqual({
      ok: true,
      timestamp,
    })
  })

  test('verifies with any of several secrets', () => {
    expect(verdict({ secret: ['whsec_other', secret] })).toBe('ok')
    expect(verdict({ secret: ['whsec_other', 'whsec_another'] })).toBe('signature_mismatch')
  })
})

describe('the header', () => {
  test.each([
    ['undefined', undefined, 'missing_header'],
    ['null', null, 'missing_header'],
    ['empty', '', 'missing_header'],
    ['a list of headers', [header], 'malformed_header'],
    ['a number', 12, 'malformed_header'],
    ['a bare word', 'bad_header', 'malformed_header'],
    ['the placeholder of an export', 't=<unix_seconds>,v1=<hex_hmac_sha256>', 'malformed_header'],
    ['a sentence', "I'm not even a real signature header", 'malformed_header'],
    ['white space', ' ', 'malformed_header'],
    ['a comma', ',', 'malformed_header'],
    ['a trailing comma', `${header},`, 'malformed_header'],
    ['blanks after commas', header.replace(',', ', '), 'malformed_header'],
    ['semicolons', header.replace(',', ';'), 'malformed_header'],
    ['an element without a name', `t=${t},=${hex}`, 'malformed_header'],
    ['no t', v1, 'malformed_header'],
    ['t in upper case', header.replace('t=', 'T='), 'malformed_header'],
    ['the same t twice', `t=${t},${header}`, 'malformed_header'],
    ['another t behind', `${header},t=${t + 1}`, 'malformed_header'],
    ['two headers joined', `${header}, ${header}`, 'malformed_header'],
    ['an empty t', `t=,${v1}`, 'malformed_header'],
    ['t as a word', `t=hello,${v1}`, 'malformed_header'],
    ['t with a sign', `t=+${t},${v1}`, 'malformed_header'],
    ['t below zero', `t=-1,${v1}`, 'malformed_header'],
    ['t with a fraction', `t=${t}.0,${v1}`, 'malformed_header'],
    ['t with an exponent', `t=17e8,${v1}`, 'malformed_header'],
    ['t in hex', `t=0x6553f100,${v1}`, 'malformed_header'],
    ['t with a blank', `t= ${t},${v1}`, 'malformed_header'],
    ['t with a newline', `t=${t}\n,${v1}`, 'malformed_header'],
    ['t in other digits', `t=١٧٠٠٠٠٠٠٠٠,${v1}`, 'malformed_header'],
    ['t beyond safe integers', `t=9007199254740993,${v1}`, 'malformed_header'],
    ['t as NaN', `t=NaN,${v1}`, 'malformed_header'],
    ['t as Infinity', `t=Infinity,${v1}`, 'malformed_header'],
    ['only t', `t=${t}`, 'no_v1_signature'],
    ['only v0', `t=${t},v0=${hex}`, 'no_v1_signature'],
    ['only V1', `t=${t},V1=${hex}`, 'no_v1_signature'],
    ['v1 and the right v0', `t=${t},v0=${hex},v1=${'0'.repeat(64)}`, 'signature_mismatch'],
    ['an empty v1', `t=${t},v1=`, 'signature_mismatch'],
    ['a word as v1', `t=${t},v1=bad_signature`, 'signature_mismatch'],
    ['63 digits', header.slice(0, -1), 'signature_mismatch'],
    ['65 digits', `${header}0`, 'signature_mismatch'],
    ['the first 8 digits', `t=${t},v1=${hex.slice(0, 8)}`, 'signature_mismatch'],
    ['a digit that is none', `${header.slice(0, -1)}z`, 'signature_mismatch'],
    ['upper case', `t=${t},v1=${hex.toUpperCase()}`, 'signature_mismatch'],
    ['64 characters that are more bytes', `t=${t},v1=${'é'.repeat(64)}`, 'signature_mismatch'],
    ['base64', `t=${t},v1=${Buffer.from(hex, 'hex').toString('base64')}`, 'signature_mismatch'],
    ['v1 in quotes', `t=${t},v1="${hex}"`, 'signature_mismatch'],
    ['a t that was not signed', `t=${t + 1},${v1}`, 'signature_mismatch'],
    ['a t with a zero in front', `t=0${t},${v1}`, 'signature_mismatch'],
    ['three wrong v1', `t=${t},v1=a,v1=b,v1=c`, 'signature_mismatch'],
    ['a wrong v1 before the right one', `t=${t},v1=potato,${v1}`, 'ok'],
    ['a wrong v1 behind the right one', `${header},v1=potato`, 'ok'],
    ['a wrong v1 as long as the right one', `t=${t},v1=${'0'.repeat(64)},${v1}`, 'ok'],
    ['schemes still unknown beside v1', `t=${t},v0=x,${v1},v2=y`, 'ok'],
    ['v1 before t', `${v1},t=${t}`, 'ok'],
  ])('%s: %j → %s, also by Web Crypto', async (_name, given, code) => {
    expect(verdict({ header: given as string })).toBe(code)
    const options = { ...delivery, header: given as string }
    expect(await web.verify(options)).toEqual(verify(options))
  })
})

test('the placeholder of an export is named, and no other text', () => {
  const messageOf = (given: string) => (verify({ ...delivery, header: given }) as { message: string }).message
  expect(messageOf('t=<unix_seconds>,v1=<hex_hmac_sha256>')).toContain('its t is a placeholder')
  expect(messageOf('t=hello,v1=0')).toContain('is not a Unix time')
})

test('a header whose last digit is a two-byte character fails, even after a valid header', () => {
  expect(verdict({})).toBe('ok')
  expect(verdict({ header: `${header.slice(0, -1)}é` })).toBe('signature_mismatch')
})

describe('the time', () => {
  test.each([
    [299, 300, 'ok', 'ok'],
    [300, 300, 'ok', 'ok'],
    [301, 300, 'timestamp_too_old', 'timestamp_in_future'],
    [300, undefined, 'ok', 'ok'],
    [301, undefined, 'timestamp_too_old', 'timestamp_in_future'],
    [0, 0, 'ok', 'ok'],
    [1, 0, 'timestamp_too_old', 'timestamp_in_future'],
    [10, 10, 'ok', 'ok'],
    [11, 10, 'timestamp_too_old', 'timestamp_in_future'],
    [1e9, Infinity, 'ok', 'ok'],
  ])(
    '%s s away with a tolerance of %s s: %s in the past, %s in the future',
    (away, tolerance, past, future) => {
      expect(verdict({ tolerance, now: (t + away) * 1000 })).toBe(past)
      expect(verdict({ tolerance, now: (t - away) * 1000 })).toBe(future)
    },
  )

  test('the fraction of the current second is ignored', () => {
    expect(verdict({ tolerance: 300, now: (t + 300) * 1000 + 999 })).toBe('ok')
    expect(verdict({ tolerance: 0, now: t * 1000 + 999 })).toBe('ok')
    expect(verdict({ tolerance: 0, now: t * 1000 - 1 })).toBe('timestamp_in_future')
  })

  test('a wrong signature is reported as such, even when its time is out of tolerance', () => {
    expect(verdict({ secret: 'whsec_other', now: 0 })).toBe('signature_mismatch')
  })

  test('the message of a failure states the difference in seconds', () => {
    const result = verify({ ...delivery, now: (t + 4000) * 1000 })
    expect(result).toMatchObject({ message: expect.stringContaining('4000 s behind') as string })
  })
})

describe('the body', () => {
  const pretty = JSON.stringify(JSON.parse(payload), null, 2)

  test.each([
    ['with two spaces', pretty],
    ['with a newline behind', `${payload}\n`],
    ['with a byte-order mark', `\uFEFF${payload}`],
    ['with keys in another order', '{"data":{"total_cents":1350},"id":"evt_1"}'],
    ['with 1350.0 for 1350', payload.replace('1350', '1350.0')],
    ['empty', ''],
  ])('serialised again %s does not verify', (_form, form) => {
    expect(verdict({ payload: form })).toBe('signature_mismatch')
  })

  test('with any bit of it flipped does not verify', () => {
    const anyBit = fc.tuple(fc.nat(payload.length - 1), fc.nat(7))
    fc.assert(fc.property(anyBit, ([at, bit]) => flipped(at, bit) === 'signature_mismatch'))
  })

  function flipped(at: number, bit: number): string {
    const bytes = Buffer.from(payload)
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
    return verdict({ payload: bytes })
  }
})

test('a time in seconds as now is named', () => {
  expect(verify({ ...delivery, now: t })).toMatchObject({
    code: 'timestamp_in_future',
    message: expect.stringContaining('now must be in milliseconds, and looks like seconds') as string,
  })
})

describe('a mistake of the caller is a TypeError', () => {
  test.each([
    ['a parsed payload', { payload: { id: 'evt_1' } }, /raw body/],
    ['no payload', { payload: undefined }, /raw body/],
    ['an empty secret', { secret: '' }, /whsec_/],
    ['an undefined secret', { secret: undefined }, /whsec_/],
    ['no secrets', { secret: [] }, /whsec_/],
    ['an empty secret among others', { secret: [secret, ''] }, /whsec_/],
    ['a tolerance below zero', { tolerance: -1 }, /tolerance/],
    ['a tolerance that is NaN', { tolerance: NaN }, /tolerance/],
    ['a tolerance in text', { tolerance: '300' }, /tolerance/],
    ['a time that is none', { now: new Date('yesterday') }, /now/],
    ['a time that is null', { now: null }, /now/],
    ['a time in text', { now: '1763748245000' }, /now/],
    ['a list as time', { now: [] }, /now/],
  ])('%s', (_name, change, message) => {
    const options = { ...delivery, ...change } as VerifyOptions
    expect(() => verify(options)).toThrow(TypeError)
    expect(() => verify(options)).toThrow(message)
  })
})

test.each([`${secret}\n`, ` ${secret}`])(
  'the secret %j fails, and the message names the whitespace',
  (given) => {
    const result = verify({ ...delivery, secret: given })
    expect(result).toMatchObject({
      code: 'signature_mismatch',
      message: expect.stringContaining('whitespace') as string,
    })
  },
)

test('no message contains the secret or the correct signature', () => {
  const wrong = verify({ ...delivery, header: `t=${t},v1=${'0'.repeat(64)}` })
  expect(JSON.stringify(wrong)).not.toContain(secret)
  expect(JSON.stringify(wrong)).not.toContain(hex)
})

test('no header makes verify throw', () => {
  const pieces = fc.array(fc.constantFrom('t', 'v1', 'v0', '=', ',', `${t}`, hex, ' ', '\0', 'é'))
  const anyHeader = fc.oneof(
    fc.string({ unit: 'binary' }),
    pieces.map((list) => list.join('')),
  )
  fc.assert(fc.property(anyHeader, (given) => verdict({ header: given }) !== ''))
})

describe('verifyOrThrow', () => {
  test('returns the verified time', async () => {
    expect(verifyOrThrow(delivery)).toBe(t)
    expect(await web.verifyOrThrow(delivery)).toBe(t)
  })

  test('throws a SignatureError with the code', async () => {
    const unsigned = { ...delivery, header: undefined }
    const failure = expect.objectContaining({ code: 'missing_header', name: 'SignatureError' }) as Error
    expect(() => verifyOrThrow(unsigned)).toThrow(SignatureError)
    expect(() => verifyOrThrow(unsigned)).toThrow(failure)
    await expect(web.verifyOrThrow(unsigned)).rejects.toThrow(failure)
  })
})
