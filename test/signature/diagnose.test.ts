import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { diagnose, sign, type Mistake } from '../../src/signature/index.ts'
import { contextMistakes, headerMistakes } from '../../src/signature/diagnose/diagnose.ts'
import { mistakes } from '../../src/signature/diagnose/mistakes.ts'

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
  header?: string | readonly string[] | undefined
  secret?: string | readonly string[]
  others?: readonly string[]
  headers?: readonly (readonly [string, string])[]
  now?: number
}

const numbers = '{"a":1.0,"b":[2,3.5,{"c":1}]}'
const slashes = '{"url":"https://pos.example.com/a"}'

const menu = { name: 'Crème', url: 'https://pos.example/a', note: 'fish & chips' }
const indentedMenu = JSON.stringify(menu, null, 2)

/** A secret with `-` and `_`, which are no characters of plain base64. */
const urlSecret = 'whsec_Zm9vYmFyLWJh_enpw-1234567890abcdefABCDEF123'

/** An event that other languages write in another form, with keys out of order. */
const event = {
  id: 'evt_2',
  type: 'check.updated',
  data: { name: 'Crème/1', items: [{ price: 950, note: null }], guests: [], id: 'chk_1' },
}
const eventText = JSON.stringify(event)
const sortedData = '{"guests":[],"id":"chk_1","items":[{"note":null,"price":950}],"name":"Crème/1"}'

/** A time at which the digest has a zero that leads, and one within. */
const zeroAt = firstTime((digits) => /^0[1-9a-f]/.test(digits) && /^(?:..)+0[1-9a-f]/.test(digits))

/** Another form of the signed text, with a secret that decoders of base64 read differently. */
const otherForms: [mistake: Mistake, name: string, v1: string][] = [
  ['data_signed', 'compact', hmac(`${t}.${JSON.stringify(event.data)}`, urlSecret)],
  [
    'data_signed',
    'by Python',
    hmac(
      `${t}.{"name": "Cr\\u00e8me/1", "items": [{"price": 950, "note": null}], "guests": [], "id": "chk_1"}`,
      urlSecret,
    ),
  ],
  ['data_signed', 'by a Go map', hmac(`${t}.${sortedData}`, urlSecret)],
  [
    'json_keys_sorted',
    'in data only',
    hmac(`${t}.{"id":"evt_2","type":"check.updated","data":${sortedData}}`, urlSecret),
  ],
  ['trailing_newline', 'by the encoder of Go', hmac(`${t}.${eventText}\n`, urlSecret)],
  [
    'json_reserialised',
    'pretty by PHP',
    hmac(`${t}.${escaped(JSON.stringify(event, null, 4)).replaceAll('/', '\\/')}`, urlSecret),
  ],
  [
    'json_keys_sorted',
    'by the encoder of a Go map',
    hmac(`${t}.{"data":${sortedData},"id":"evt_2","type":"check.updated"}\n`, urlSecret),
  ],
  [
    'message_appended',
    'by Sum of Go',
    `${Buffer.from(`${t}.${eventText}`).toString('hex')}${hmac('', urlSecret)}`,
  ],
  ['json_reserialised', 'pretty by Go', hmac(`${t}.${JSON.stringify(event, null, '\t')}`, urlSecret)],
  [
    'json_reserialised',
    'pretty by Ruby',
    hmac(`${t}.${JSON.stringify(event, null, 2).replace('[]', '[\n\n    ]')}`, urlSecret),
  ],
  ['arguments_swapped', 'of HMAC', hmac(urlSecret, `${t}.${eventText}`)],
  // The keys are of `base64_decode`, `unpack1('m')` and `decode_base64`, then of three decoders of Go that fail.
  [
    'secret_decoded',
    'by PHP, Ruby and Perl',
    withKey('666f6f6261722d62617a7a70d76df8e7aefcf7469b71d79f001083105d76'),
  ],
  ['secret_decoded', 'by StdEncoding of Go', withKey('666f6f6261722d6261')],
  [
    'secret_decoded',
    'by URLEncoding of Go',
    withKey('666f6f6261722d6261fde9e9c3ed76df8e7aefcf7469b71d79f001083105'),
  ],
  ['secret_decoded', 'with its prefix', withKey('c21b1e')],
  ['secret_empty', 'after a failure', hmac(`${t}.${eventText}`, '')],
  ['other_separator_signed', 'a colon', hmac(`${t}:${eventText}`, urlSecret)],
  ['other_separator_signed', 'a newline', hmac(`${t}\n${eventText}`, urlSecret)],
  ['timestamp_name_signed', 't=', hmac(`t=${t}.${eventText}`, urlSecret)],
  ['timestamp_as_float', 'by Python', hmac(`${t}.0.${eventText}`, urlSecret)],
  ['event_id_signed', 'as Standard Webhooks does', hmac(`evt_2.${t}.${eventText}`, urlSecret)],
]

const dashed = hmac(`${t}.${payload}`).replace(/(?<=.)(?=(?:..)+$)/g, '-')

/** Writes each byte as Java does when it is not masked. */
function signExtended(write: (byte: number) => string): string {
  return Array.from(Buffer.from(hmac(`${t}.${payload}`), 'hex'), (byte) =>
    byte < 0x80 ? write(byte) : `ffffff${byte.toString(16)}`,
  ).join('')
}

/** A body with a quote, an escape and a letter of two bytes. */
const printable = '{"id":"a\'s","data":{"é":"\\n","n":[1.5,null,true]}}'

/** The printable body, as programs print it. */
const printed: [name: string, text: string][] = [
  ['an object of JavaScript', '[object Object]'],
  ['a promise of JavaScript', '[object Promise]'],
  ['the bytes by Python', `b'{"id":"a\\'s","data":{"\\xc3\\xa9":"\\\\n","n":[1.5,null,true]}}'`],
  ['the bytes by Node', JSON.stringify(Buffer.from(printable))],
  ['the bytes of a Uint8Array', [...Buffer.from(printable)].join()],
  ['the bytes by Java', `[${[...new Int8Array(Buffer.from(printable))].join(', ')}]`],
  ['a dictionary of Python', `{'id': "a's", 'data': {'é': '\\n', 'n': [1.5, None, True]}}`],
  ['a hash of Ruby', `{"id"=>"a's", "data"=>{"é"=>"\\n", "n"=>[1.5, nil, true]}}`],
  ['a map of Java', `{id=a's, data={é=\n, n=[1.5, null, true]}}`],
  ['a map of Go', `map[data:map[n:[1.5 <nil> true] é:\n] id:a's]`],
]

const cases: Case[] = [
  ...otherForms.map(([mistake, name, v1]) => ({
    mistake,
    name,
    payload: eventText,
    secret: urlSecret,
    header: withV1(v1),
  })),
  ...[
    ['by BigInteger', (digits: string) => digits.replace(/^0/, '')] as const,
    ['by %x', (digits: string) => withoutZeros(digits)] as const,
    ['by %X', (digits: string) => withoutZeros(digits).toUpperCase()] as const,
  ].map(([name, shorten]) => ({
    mistake: 'hex_zeros_dropped' as const,
    name,
    header: `t=${zeroAt},v1=${shorten(hmac(`${zeroAt}.${payload}`))}`,
    now: zeroAt * 1000,
  })),
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
  {
    mistake: 'json_reserialised',
    name: 'with blanks now',
    payload: '{"id": "evt_1", "data": {"name": "Crème brûlée", "prices": [950, 1]}}',
  },
  {
    mistake: 'json_reserialised',
    name: 'by PHP',
    payload: indentedMenu,
    header: signed({
      payload: '{"name":"Cr\\u00e8me","url":"https:\\/\\/pos.example\\/a","note":"fish & chips"}',
    }),
  },
  {
    mistake: 'json_reserialised',
    name: 'by Go',
    payload: indentedMenu,
    header: signed({ payload: '{"name":"Crème","url":"https://pos.example/a","note":"fish \\u0026 chips"}' }),
  },
  { mistake: 'secret_without_prefix', name: 'by the receiver', secret: secret.slice(6) },
  { mistake: 'secret_without_prefix', name: 'by the sender', header: signed({ secret: secret.slice(6) }) },
  { mistake: 'secret_decoded', name: 'as Standard Webhooks does', header: decoded() },
  { mistake: 'secret_padded', name: 'with a newline', secret: `${secret}\n` },
  { mistake: 'secret_padded', name: 'with quotes', secret: `"${secret}"` },
  { mistake: 'secret_padded', name: 'with quotes and a newline', secret: `'${secret}'\r\n` },
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
  ...[
    ['without padding', base64('base64').replace('=', '')] as const,
    ['of the hex text', Buffer.from(hmac(`${t}.${payload}`)).toString('base64')] as const,
    ['with a newline', `${base64('base64')}\n`] as const,
    [
      'in lines of 60 characters',
      Buffer.from(hmac(`${t}.${payload}`))
        .toString('base64')
        .replace(/^.{60}/, '$&\n')
        .concat('\n'),
    ] as const,
  ].map(([name, v1]) => ({ mistake: 'base64_instead_of_hex' as const, name, header: withV1(v1) })),
  {
    mistake: 'json_keys_sorted',
    name: 'compact',
    header: signed({ payload: '{"data":{"name":"Crème brûlée","prices":[950,1]},"id":"evt_1"}' }),
  },
  {
    mistake: 'json_keys_sorted',
    name: 'by Python',
    header: signed({
      payload: '{"data": {"name": "Cr\\u00e8me br\\u00fbl\\u00e9e", "prices": [950, 1]}, "id": "evt_1"}',
    }),
  },
  {
    mistake: 'json_numbers_rewritten',
    name: '1.0 to 1',
    payload: numbers.replace('1.0', '1'),
    header: signed({ payload: numbers }),
  },
  {
    mistake: 'json_numbers_rewritten',
    name: '1 to 1.0',
    payload: numbers,
    header: signed({ payload: numbers.replace('1.0', '1') }),
  },
  { mistake: 'json_unicode_escaped', name: 'now', payload: escaped(payload) },
  { mistake: 'json_unicode_escaped', name: 'then', header: signed({ payload: escaped(payload) }) },
  {
    mistake: 'json_slashes_escaped',
    name: 'now',
    payload: slashes.replaceAll('/', '\\/'),
    header: signed({ payload: slashes }),
  },
  {
    mistake: 'json_slashes_escaped',
    name: 'then',
    payload: slashes,
    header: signed({ payload: slashes.replaceAll('/', '\\/') }),
  },
  {
    mistake: 'wrong_charset',
    name: 'read as Latin-1',
    payload: Buffer.from(Buffer.from(payload).toString('latin1')),
  },
  {
    mistake: 'wrong_charset',
    name: 'read as Windows-1252',
    payload: Buffer.from(new TextDecoder('windows-1252').decode(Buffer.from('{"a":"€ “x”"}'))),
    header: signed({ payload: '{"a":"€ “x”"}' }),
  },
  { mistake: 'wrong_charset', name: 'written as Latin-1', payload: Buffer.from(payload, 'latin1') },
  {
    mistake: 'wrong_charset',
    name: 'signed as UTF-16',
    header: withV1(
      createHmac('sha256', secret).update(`${t}.`).update(Buffer.from(payload, 'utf16le')).digest('hex'),
    ),
  },
  { mistake: 'body_utf16', name: 'without a mark', payload: Buffer.from(payload, 'utf16le') },
  { mistake: 'body_utf16', name: 'as by >', payload: Buffer.from(`\ufeff${payload}\r\n`, 'utf16le') },
  {
    mistake: 'body_utf16',
    name: 'of the other byte order',
    payload: Buffer.from(`\ufeff${payload}`, 'utf16le').swap16(),
  },
  {
    mistake: 'body_utf16',
    name: 'of a text that was changed, too',
    payload: Buffer.from('\ufeff{"other":1}', 'utf16le'),
  },
  { mistake: 'header_utf16', name: 'with the mark', header: `\ufeff${header}` },
  { mistake: 'header_utf16', name: 'read as UTF-8 by a shell', header: `\ufffd\ufffd${header}\r` },
  { mistake: 'header_utf16', name: 'as bytes', header: `ÿþ${Array.from(header).join('\0')}\0` },
  { mistake: 'body_recoded', name: 'in base64', payload: Buffer.from(payload).toString('base64') },
  { mistake: 'body_recoded', name: 'as a JSON string', payload: JSON.stringify(payload) },
  { mistake: 'body_recoded', name: 'in percent escapes', payload: encodeURIComponent(payload) },
  { mistake: 'body_recoded', name: 'decomposed', payload: payload.normalize('NFD') },
  {
    mistake: 'body_recoded',
    name: 'with replacement characters, signed',
    payload: Uint8Array.of(34, 255, 34),
    header: signed({ payload: '"\ufffd"' }),
  },
  { mistake: 'body_not_signed', name: 'by the sender', header: signed({ payload: '' }) },
  ...['undefined', '{}', 'null', 'None', '[]'].map((text) => ({
    mistake: 'body_not_signed' as const,
    name: `but ${text}`,
    header: signed({ payload: text }),
  })),
  ...printed.map(([name, text]) => ({
    mistake: 'body_formatted' as const,
    name,
    payload: printable,
    header: signed({ payload: text }),
  })),
  ...printed
    .filter(([name]) => name.startsWith('the bytes'))
    .map(([name, text]) => ({
      mistake: 'body_formatted' as const,
      name: `of the payload: ${name}`,
      payload: text,
      header: signed({ payload: printable }),
    })),
  {
    mistake: 'body_formatted',
    name: 'a text of Python',
    payload: `'${printable.replaceAll('\\', '\\\\').replace("'", "\\'")}'`,
    header: signed({ payload: printable }),
  },
  { mistake: 'hex_with_dashes', name: 'of C#', header: withV1(dashed.toUpperCase()) },
  { mistake: 'hex_with_dashes', name: 'in lower case', header: withV1(dashed) },
  {
    mistake: 'hex_sign_extended',
    name: 'of Java',
    header: withV1(signExtended((byte) => byte.toString(16))),
  },
  {
    mistake: 'hex_sign_extended',
    name: 'with two digits',
    header: withV1(signExtended((byte) => byte.toString(16).padStart(2, '0'))),
  },
  { mistake: 'body_empty', name: 'after a consumed stream', payload: '' },
  {
    mistake: 'secret_of_another_endpoint',
    name: 'one of several',
    secret: 'whsec_mine',
    others: ['whsec_third', secret],
  },
  { mistake: 'api_key_as_secret', name: 'by the receiver', secret: 'twk_abc' },
  {
    mistake: 'api_key_as_secret',
    name: 'by the receiver, with the secret at hand',
    secret: 'twk_abc',
    others: [secret],
  },
  {
    mistake: 'api_key_as_secret',
    name: 'by the sender',
    others: ['twk_abc'],
    header: signed({ secret: 'twk_abc' }),
  },
  { mistake: 'sha1_instead_of_sha256', name: 'v1', header: withV1(hmac(`${t}.${payload}`, secret, 'sha1')) },
  {
    mistake: 'sha512_instead_of_sha256',
    name: 'v1',
    header: withV1(hmac(`${t}.${payload}`, secret, 'sha512')),
  },
  { mistake: 'timestamp_after_body', name: 'with a period', header: withV1(hmac(`${payload}.${t}`)) },
  { mistake: 'timestamp_after_body', name: 'without one', header: withV1(hmac(`${payload}${t}`)) },
  ...[`${secret}${t}.${payload}`, `${t}.${payload}${secret}`, `${t}.${payload}`, `${payload}${secret}`].map(
    (text, index) => ({
      mistake: 'hash_instead_of_hmac' as const,
      name: `form ${index + 1}`,
      header: withV1(createHash('sha256').update(text).digest('hex')),
    }),
  ),
  { mistake: 'other_timestamp_signed', name: 'a second later', header: withV1(hmac(`${t + 1}.${payload}`)) },
  {
    mistake: 'other_timestamp_signed',
    name: 'minutes earlier',
    header: withV1(hmac(`${t - 599}.${payload}`)),
  },
  { mistake: 'header_folded', name: 'after the comma', header: header.replace(',', ',\r\n ') },
  { mistake: 'header_quoted', name: 'all of it', header: `"${header}"` },
  { mistake: 'header_quoted', name: 'v1', header: header.replace(/v1=(.*)/, 'v1="$1"') },
  { mistake: 'header_spaces', name: 'after the comma', header: header.replace(',', ', ') },
  { mistake: 'header_spaces', name: 'at the end', header: `${header} ` },
  { mistake: 'header_line_break', name: 'of Windows', header: `${header}\r\n` },
  { mistake: 'header_line_break', name: 'of Unix', header: `${header}\n` },
  { mistake: 'header_semicolon', name: 'alone', header: header.replace(',', ';') },
  { mistake: 'header_semicolon', name: 'with a space', header: header.replace(',', '; ') },
  { mistake: 'v1_length', name: 'cut', header: header.slice(0, -2) },
  { mistake: 'v1_length', name: 'too long', header: `${header}0f` },
  {
    mistake: 'v1_length',
    name: 'without a digit that is no zero',
    header: withV1(hmac(`${t}.${payload}`).replace(/[1-9a-f]/, '')),
  },
  {
    mistake: 'v1_length',
    name: 'without the zeros of another digest',
    header: `t=${zeroAt},v1=${withoutZeros(hmac(`${zeroAt}.${payload}`))}`,
    secret: 'whsec_other',
    now: zeroAt * 1000,
  },
  { mistake: 'v1_length', name: 'empty', header: withV1('') },
  { mistake: 'header_with_name', name: 'with the colon', header: `X-Service-Signature: ${header}` },
  ...[
    `b'${header}'`,
    `['${header}']`,
    `["${header}"]`,
    `'X-Service-Signature': '${header}',`,
    `x-service-signature=${header}`,
  ].map((text) => ({ mistake: 'header_in_text' as const, name: text, header: text })),
  { mistake: 'header_v0_only', name: 'v0', header: header.replace('v1', 'v0') },
  {
    mistake: 'header_other_name',
    name: 'in the request',
    header: undefined,
    headers: [
      ['Host', 'a'],
      ['X-Signature', header],
    ],
  },
  { mistake: 'header_repeated', name: 'twice the same', header: [header, header], headers: [['A', header]] },
  {
    mistake: 'header_repeated',
    name: 'one of them wrong',
    header: [header, 't=1'],
    headers: [['A', header]],
  },
  ...[
    `{'id': 'evt_1', 'data': {}}`,
    `{"id"=>"evt_1"}`,
    'map[data:map[] id:evt_1]',
    '[object Object]',
    'Array\n(\n    [id] => evt_1',
    '<Buffer 7b 22 69 64 ... 461 more bytes>',
  ].map((text) => ({ mistake: 'body_printed' as const, name: text, payload: text })),
  {
    mistake: 'body_shorter',
    name: 'cut',
    payload: payload.slice(0, -3),
    headers: [['content-length', String(Buffer.byteLength(payload))]],
  },
  { mistake: 'clock_off', name: 'behind', now: now + 301_000 },
  { mistake: 'clock_off', name: 'ahead', now: now - 301_000 },
  { mistake: 'clock_off', name: 'with t in microseconds', header: signed({ timestamp: now * 1000 }) },
]

test.each(cases)('$mistake: $name', ({ mistake, name: _name, ...options }) => {
  expect(diagnose({ payload, header, secret, now, ...options })).toMatchObject({ mistake })
})

test('the cases cover every mistake of the table', () => {
  expect(new Set(cases.map(({ mistake }) => mistake))).toEqual(
    new Set([
      ...[...mistakes, ...headerMistakes].map(({ mistake }) => mistake),
      ...Object.keys(contextMistakes),
      'clock_off',
      'v1_length',
    ]),
  )
})

describe('no mistake is named', () => {
  test.each([
    ['when the signature verifies', {}],
    [
      'when the signature verifies, whatever else is there',
      { others: ['twk_a'], headers: [['A', header]] as const },
    ],
    ['when the header is quoted and the secret another', { header: `"${header}"`, secret: 'whsec_other' }],
    ['when no other secret has signed', { secret: 'whsec_other', others: ['whsec_third', ''] }],
    ['when there is no header', { header: undefined }],
    ['when a list has one header', { header: [header] }],
    ['when the header cannot be read', { header: 'bad_header' }],
    ['when there is no v1', { header: `t=${t},v0=00` }],
    ['when the secret is another', { secret: 'whsec_other' }],
    ['when one of two signatures has its length', { header: `${withV1('00')},v1=${'0'.repeat(64)}` }],
    ['when the header with a semicolon has another secret', { header: `t=${t};v1=${'0'.repeat(64)}` }],
    ['when base64 is of another digest', { header: withV1(Buffer.alloc(32, 7).toString('base64')) }],
    ['when t= is signed by another secret', { header: withV1(hmac(`t=${t}.${payload}`, 'whsec_other')) }],
    ['when another id is signed', { header: withV1(hmac(`evt_2.${t}.${payload}`)) }],
    ['when another fraction is signed', { header: withV1(hmac(`${t}.5.${payload}`)) }],
    ['when other data is signed', { header: withV1(hmac(`${t}.{"name":"Crème brûlée"}`)) }],
    ['when the key is another part of the secret', { header: withV1(hmac(`${t}.${payload}`, 'not')) }],
    ['when the body is another', { payload: payload.replace('950', '951') }],
    [
      'when the body is another of the length that the request says',
      { payload: payload.replace('950', '951'), headers: [['Content-Length', '12']] as const },
    ],
    ['when the body is nested deeply', { payload: '['.repeat(50_000) + ']'.repeat(50_000) }],
    ['when the body is no JSON', { payload: 'soup' }],
    ['when the body is no text', { payload: Uint8Array.from([255, 0, 10]) }],
  ])('%s', (_name, change) => {
    expect(diagnose({ payload, header, secret, now, ...change })).toBeUndefined()
  })
})

test.each([
  [301, /301 s behind the clock.*NTP\.$/],
  [-7200, /7200 s ahead of the clock.*about 2 h: was local time used as UTC/],
  [19_800 + 20, /about 5\.5 h/],
  [1_810, /1810 s behind the clock.*NTP\.$/],
])('the advice names a clock that is %s s off', (seconds, words) => {
  expect(diagnose({ payload, header, secret, now: now + seconds * 1000 })?.advice).toMatch(words)
})

test('the advice for v1 names its length and the correct one', () => {
  const adviceFor = (v1: string) => diagnose({ payload, header: withV1(v1), secret, now })?.advice
  const digits = hmac(`${t}.${payload}`)
  expect(adviceFor(digits.slice(2))).toContain('v1 has 62 hex digits, but must have 64.')
  expect(adviceFor(`${digits}00`)).toContain('v1 has 66 hex digits, but must have 64.')
  expect(adviceFor(`${digits}00,v1=00`)).toContain('v1 has 66 and 2 hex digits')
})

test('the advice never contains the secret', () => {
  for (const { advice } of mistakes) expect(advice).not.toMatch(/whsec_\w/)
  for (const header of [
    '',
    'x',
    withV1('00'),
    signed({ secret: `${secret} ` }),
    signed({ secret: secret.slice(6) }),
  ]) {
    const told = JSON.stringify(diagnose({ payload, header, secret, now }) ?? '')
    expect(told).not.toContain(secret.slice(6))
  }
})

function signed(change: { payload?: string; secret?: string; timestamp?: number } = {}): string {
  return sign({ payload, secret, timestamp: t, ...change })
}

function pretty(spaces: number): string {
  return signed({ payload: JSON.stringify(value, null, spaces) })
}

function escaped(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function hmac(message: string, key: string | Buffer = secret, hash = 'sha256'): string {
  return createHmac(hash, key).update(message).digest('hex')
}

/** Returns the first time after `t` at which the digest of the payload has this form. */
function firstTime(hasForm: (digits: string) => boolean): number {
  let time = t
  while (!hasForm(hmac(`${time}.${payload}`))) time++
  return time
}

/** Writes each byte as C does with `%x`. */
function withoutZeros(digits: string): string {
  return Array.from(Buffer.from(digits, 'hex'), (byte) => byte.toString(16)).join('')
}

/** Returns the signature of the event with a key in hex. */
function withKey(key: string): string {
  return hmac(`${t}.${eventText}`, Buffer.from(key, 'hex'))
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
