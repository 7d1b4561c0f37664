import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { diagnose, sign, type Mistake } from '../../src/signature/index.ts'
import { mistakes } from '../../src/signature/mistakes.ts'

const secret = 'whsec_bm90LWEtcmVhbC1zZWNyZXQ'
const t = 1700000000
const value = { id: 'evt_1', data: { name: 'Crème brûlée', prices: [950, 1] } }
const payload = JSON.stringify(value)
const header = signed()
const now = t * 1000

interface Case {
  mistake: Mistake
  name: string
  payload?: string | Uint8Array
  header?: string
  secret?: string | readonly string[]
}

const cases: Case[] = [
  { mistake: 'trailing_newline', name: 'added to the payload', payload: `${payload}\n` },
  { mistake: 'trailing_newline', name: 'CRLF added to the payload', payload: `${payload}\r\n` },
  { mistake: 'trailing_newline', name: 'taken away', header: signed({ payload: `${payload}\n` }) },
  {
    mistake: 'line_endings',
    name: 'rewritten',
    payload: payload.replaceAll(',', ',\r\n'),
    header: signed({ payload: payload.replaceAll(',', ',\n') }),
  },
  { mistake: 'byte_order_mark', name: 'added', payload: `\uFEFF${payload}` },
  { mistake: 'byte_order_mark', name: 'taken away', header: signed({ payload: `\uFEFF${payload}` }) },
  { mistake: 'json_reserialised', name: 'pretty now', payload: JSON.stringify(value, null, 2) },
  { mistake: 'json_reserialised', name: 'pretty then', header: pretty(2) },
  { mistake: 'json_reserialised', name: 'pretty then, by four', header: pretty(4) },
  {
    mistake: 'json_reserialised',
    name: 'by Python',
    header: signed({
      payload: '{"id": "evt_1", "data": {"name": "Cr\\u00e8me br\\u00fbl\\u00e9e", "prices": [950, 1]}}',
    }),
  },
  { mistake: 'secret_without_prefix', name: 'by the receiver', secret: secret.slice(6) },
  { mistake: 'secret_without_prefix', name: 'by the sender', header: signed({ secret: secret.slice(6) }) },
  { mistake: 'secret_decoded', name: 'as Standard Webhooks does', header: decoded() },
  { mistake: 'secret_padded', name: 'with a newline', secret: `${secret}\n` },
  { mistake: 'secret_padded', name: 'with quotes', secret: `"${secret}"` },
  { mistake: 'secret_padded', name: 'by the sender', header: signed({ secret: `${secret}\n` }) },
  { mistake: 'secret_padded', name: 'one of several', secret: ['whsec_other', ` ${secret}`] },
  { mistake: 'timestamp_in_milliseconds', name: 'in both places', header: signed({ timestamp: now }) },
  { mistake: 'timestamp_in_milliseconds', name: 'in the header', header: header.replace(`${t}`, `${now}`) },
  {
    mistake: 'timestamp_in_milliseconds',
    name: 'in what is signed',
    header: withV1(hmac(`${now}.${payload}`)),
  },
  { mistake: 'timestamp_not_signed', name: 'body alone', header: withV1(hmac(payload)) },
  { mistake: 'period_not_signed', name: 'left out', header: withV1(hmac(`${t}${payload}`)) },
  { mistake: 'hex_upper_case', name: 'v1', header: withV1(hmac(`${t}.${payload}`).toUpperCase()) },
  { mistake: 'base64_instead_of_hex', name: 'base64', header: withV1(base64('base64')) },
  { mistake: 'base64_instead_of_hex', name: 'base64url', header: withV1(base64('base64url')) },
]

test.each(cases)('$mistake: $name', ({ mistake, name: _name, ...slip }) => {
  expect(diagnose({ payload, header, secret, now, ...slip })).toMatchObject({ mistake })
})

test('every mistake of the table is shown by a case', () => {
  expect(new Set(cases.map(({ mistake }) => mistake))).toEqual(
    new Set(mistakes.map(({ mistake }) => mistake)),
  )
})

describe('nothing is named', () => {
  test.each([
    ['when the signature verifies', {}],
    ['when the time alone is wrong', { now: now + 301_000 }],
    ['when the time alone is ahead', { now: now - 301_000 }],
    ['when there is no header', { header: undefined }],
    ['when the header cannot be read', { header: 'bad_header' }],
    ['when there is no v1', { header: `t=${t},v0=00` }],
    ['when the secret is another', { secret: 'whsec_other' }],
    ['when the body is another', { payload: payload.replace('950', '951') }],
    ['when the body is no JSON', { payload: 'soup' }],
    ['when the body is no text', { payload: Uint8Array.from([255, 0, 10]) }],
  ])('%s', (_name, change) => {
    expect(diagnose({ payload, header, secret, now, ...change })).toBeUndefined()
  })
})

test('the advice never holds the secret', () => {
  for (const { advice } of mistakes) expect(advice).not.toMatch(/whsec_\w/)
})

function signed(change: { payload?: string; secret?: string; timestamp?: number } = {}): string {
  return sign({ payload, secret, timestamp: t, ...change })
}

function pretty(spaces: number): string {
  return signed({ payload: JSON.stringify(value, null, spaces) })
}

function hmac(message: string, key: string | Buffer = secret): string {
  return createHmac('sha256', key).update(message).digest('hex')
}

function base64(encoding: 'base64' | 'base64url'): string {
  return Buffer.from(hmac(`${t}.${payload}`), 'hex').toString(encoding)
}

function decoded(): string {
  return withV1(hmac(`${t}.${payload}`, Buffer.from(secret.slice(6), 'base64')))
}

function withV1(v1: string): string {
  return `t=${t},v1=${v1}`
}
