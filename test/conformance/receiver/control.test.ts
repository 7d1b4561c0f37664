import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stateCheck } from '../../../src/cli/conformance/receiver.ts'
import { receiverCases } from '../../../src/conformance/receiver/check.ts'
import { verify } from '../../../src/signature/index.ts'
import { hexDigest } from '../../../src/signature/sign.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { fixtures } from '../../support/cli.ts'
import { checked, detailOf, examine, failed, idsWith, secret, visibleCases } from './check.ts'
import { openHttpServer } from '../../support/http-server.ts'

type Answer = (response: ServerResponse, request: IncomingMessage, body: Buffer) => unknown

/** A receiver in this process. */
async function receiving(answer: Answer): Promise<{ url: string; bodies: Buffer[] }> {
  const bodies: Buffer[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks))
      answer(response, request, Buffer.concat(chunks))
    })
  }
  const { url } = await openHttpServer(listener)
  return { url: `${url}/hooks`, bodies }
}

const always =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end()

const isGenuine = (request: IncomingMessage, payload: Buffer, name = 'x-service-signature') =>
  verify({ payload, header: String(request.headers[name]), secret }).ok

const group = (name: string) => receiverCases.filter((one) => one.group === name)
const wrong = (name: string) => [process.execPath, join(fixtures, 'receivers', 'wrong', `${name}.mjs`)]

/** A receiver that answers genuine and other deliveries like this. */
const judging = (genuine: Answer, forged: Answer) =>
  receiving((response, request, body) =>
    (isGenuine(request, body) ? genuine : forged)(response, request, body),
  )

const says =
  (status: number, text: string): Answer =>
  (response) =>
    response.writeHead(status).end(text)

describe('a server that gives the same answer to every request passes no case and fails one', () => {
  test.each([
    [404, 'genuine_accepted', 'The path is probably wrong: check the URL.'],
    [403, 'genuine_accepted', 'Check the secret (--secret) and the header name X-Service-Signature'],
    [405, 'genuine_accepted', 'This path does not accept POST. Check the URL.'],
    [413, 'genuine_accepted', 'refuses bodies of this size. Raise its limit'],
    [502, 'genuine_accepted', 'A proxy got no response from the receiver. Start the receiver'],
    [504, 'genuine_accepted', 'A proxy got no response from the receiver. Start the receiver'],
    [415, 'genuine_accepted', 'must accept the content type application/json'],
    [429, 'genuine_accepted', 'limits the request rate. Try again later'],
    [500, 'genuine_accepted', "Check the receiver's log."],
    [200, 'forged_rejected', 'The receiver does not verify deliveries'],
    [299, 'forged_rejected', 'The receiver does not verify deliveries'],
  ])('with the status %i', async (status, id, cause) => {
    const { url } = await receiving(always(status))
    const report = await examine(url)
    expect(failed(report)).toEqual([id])
    expect(report.totals).toMatchObject({
      passed: 0,
      failed: 1,
      advised: 0,
      not_checked: visibleCases.length - 1,
    })
    expect(detailOf(report, id)).toContain(cause)
    const rest = report.cases.filter(({ verdict }) => verdict === 'not_checked')
    expect(new Set(rest.map(({ detail }) => detail))).toEqual(new Set([`Not checked: see control/${id}.`]))
    expect(report.ok).toBe(false)
  })

  test.each(['accepts', 'refuses', 'behaves'])(
    'also when only these cases are selected: %s',
    async (name) => {
      for (const status of [204, 404]) {
        const { url } = await receiving(always(status))
        const report = await examine(url, { cases: group(name) })
        expect(report.totals).toMatchObject({ passed: 0, failed: 1, advised: 0 })
        expect(report.ok).toBe(false)
      }
    },
  )
})

describe('the report names one cause when all valid deliveries are rejected:', () => {
  test('a redirect, with its target but without its query', async () => {
    const { url } = await receiving(always(308, { Location: 'https://pos.example.com/hooks?token=abc' }))
    expect(detailOf(await examine(url), 'genuine_accepted')).toBe(
      'Redirected (308) to https://pos.example.com/hooks; expected 2xx. Redirects are not followed. Use the URL of the redirect.',
    )
  })

  test('HTTP authentication', async () => {
    const { url } = await receiving(always(401, { 'WWW-Authenticate': 'Basic realm="pos"' }))
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      'The receiver requires HTTP authentication (Basic). Pass it with --add-header.',
    )
  })

  test('a connection that is closed', async () => {
    const { url } = await receiving((response) => response.destroy())
    expect(detailOf(await examine(url), 'genuine_accepted')).toBe(
      "Connection closed without a response; expected 2xx. Check the receiver's log.",
    )
  })

  test('another signature header', async () => {
    const { url } = await receiving((response, request, body) =>
      response.writeHead(isGenuine(request, body, 'x-hub-signature-256') ? 204 : 400).end(),
    )
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      'The receiver reads the signature from the header X-Hub-Signature-256. Deliveries have it in X-Service-Signature (--service-name).',
    )
  })

  const mistakes = [
    ['strips-the-prefix-of-the-secret', 'secret_without_prefix'],
    ['decodes-the-secret', 'secret_decoded'],
    ['signs-the-body-alone', 'timestamp_not_signed'],
    ['forgets-the-period', 'period_not_signed'],
    ['takes-t-for-milliseconds', 'The receiver reads t as milliseconds.'],
    ['takes-t-and-the-tolerance-for-milliseconds', 'The receiver reads t as milliseconds.'],
  ] as const

  test.each(sampled(mistakes, 3))('the mistake of a receiver that %s', async (name, words) => {
    expect(detailOf(await checked(wrong(name)), 'genuine_accepted')).toContain(words)
  })

  const small = "The receiver's tolerance is far too small"
  const future = 'The future is not checked either'
  const ownClock = "The receiver signs its own clock's time instead of t"
  const now = () => Date.now() / 1000
  const isRight = (t: number, v1: string, body: Buffer) => v1 === hexDigest(secret, String(t), body)

  // The receiver rejects what a busy machine delivers late.
  describe.each([
    ['a tolerance of 300 ns', (t: number) => now() - t <= 300e-9, isRight, [small, future]],
    ['a tolerance of 300 ms', (t: number) => now() - t <= 0.3, isRight, [small, future]],
    ['a tolerance of 300 ms each way', (t: number) => Math.abs(now() - t) <= 0.3, isRight, [small]],
    [
      'a signature of its own clock',
      (t: number) => Math.abs(now() - t) <= 300,
      (_t: number, v1: string, body: Buffer) => isRight(Math.floor(now()), v1, body),
      [ownClock],
    ],
  ] as const)('%s', (_name, isRecent, isSigned, words) => {
    test.each(sampled([20, 280, 500, 990], 2))(
      'from %i ms after the start of a second on',
      { retry: 5 },
      async (moment) => {
        const { url } = await receiving((response, request, body) => {
          const [, t = '', v1 = ''] =
            /^t=(\d+),v1=(.+)$/.exec(String(request.headers['x-service-signature'])) ?? []
          const isGood = isRecent(Number(t)) && isSigned(Number(t), v1, body)
          response.writeHead(isGood ? 204 : 400).end()
        })
        await sleep((1_000 + moment - (Date.now() % 1_000)) % 1_000)
        const report = await examine(url)
        const [id = ''] = failed(report)
        expect(failed(report)).toHaveLength(1)
        expect(['genuine_accepted', 'delayed_accepted']).toContain(id)
        for (const part of words) expect(detailOf(report, id)).toContain(part)
        expect(idsWith(report, 'advised')).toEqual([])
      },
    )
  })

  test('t in nanoseconds', async () => {
    const { url } = await receiving((response, request, body) => {
      const [, t = '', v1 = ''] =
        /^t=(\d+),v1=(.+)$/.exec(String(request.headers['x-service-signature'])) ?? []
      const isRecent = Math.abs(now() - Number(t) / 1e9) <= 300
      response.writeHead(isRecent && v1 === hexDigest(secret, t, body) ? 204 : 400).end()
    })
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain('The receiver reads t as nanoseconds.')
  })

  test('a tolerance of 1 s is not called milliseconds', { retry: 5 }, async () => {
    const { url } = await receiving((response, request, payload) => {
      const header = String(request.headers['x-service-signature'])
      response.writeHead(verify({ payload, header, secret, tolerance: 1 }).ok ? 204 : 400).end()
    })
    const report = await examine(url)
    expect(failed(report)).toEqual(['delayed_accepted'])
    expect(detailOf(report, 'delayed_accepted')).toContain('Its tolerance is below 2 s.')
  })

  test.each([
    [2, true, '2 h ahead'],
    [-5.5, true, '5.5 h behind'],
    [14, true, '14 h ahead'],
    [1, true, '1 h ahead'],
    [3, false, '3 h ahead'],
  ])('a clock that is %d hours off, with a limit to the future: %s', async (hours, isLimited, words) => {
    const { url } = await receiving((response, request, payload) => {
      const header = String(request.headers['x-service-signature'])
      const age = now() + hours * 3_600 - Number(/^t=(\d+)/.exec(header)?.[1])
      const isRecent = isLimited ? Math.abs(age) <= 300 : age <= 300
      const isGood = isRecent && verify({ payload, header, secret, tolerance: Infinity }).ok
      response.writeHead(isGood ? 204 : 400).end()
    })
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      `The receiver's clock or time zone is ${words}.`,
    )
  })

  test.each([
    [403, '<h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p>'],
    [422, '<h1>ActionController::InvalidAuthenticityToken</h1>'],
    [419, 'Page Expired'],
  ])('CSRF protection, with the status %i', async (status, page) => {
    const { url } = await receiving((response) => response.writeHead(status).end(page))
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      "The receiver's CSRF protection rejects deliveries.",
    )
  })

  test('a page that contains the token of a form is not CSRF protection', async () => {
    const page = '<meta name="csrf-token" content="abc">'
    const { url } = await receiving((response) => response.writeHead(403).end(page))
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain('Check the secret')
  })

  test.each([
    [404, 'Not Found', 401],
    [500, 'Error: no table "events"', 400],
    [400, '{"error":"t is too old"}', 400],
  ])('an error after the verification, with the status %i', async (status, text, rejected) => {
    const { url } = await judging(says(status, text), says(rejected, '{"error":"signature"}'))
    const detail = detailOf(await examine(url), 'genuine_accepted')
    expect(detail).toContain(
      `Its response: ${JSON.stringify(text)}. The receiver finds the signature right, because a delivery with another secret gets another response: Rejected (${rejected}). It fails later, such as for t or in an error. Check its log.`,
    )
    expect(detail).not.toContain('secret (--secret)')
  })

  test('an inverted condition', async () => {
    const { url } = await judging(always(400), always(204))
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      'Deliveries with another secret are accepted. The condition after the comparison is inverted.',
    )
  })

  test('nothing about the signature where responses to one kind of delivery differ', async () => {
    let count = 0
    const { url } = await receiving((response) => response.writeHead(400).end(String((count += 1))))
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain('Check the secret (--secret) and the')
  })

  test('the text of its response, without the secret and without markup', async () => {
    const [{ url: api }, { url: page }] = await Promise.all([
      receiving(says(422, `{"missing":"service-signature","key":"${secret}"}`)),
      receiving(
        says(
          500,
          '<!DOCTYPE html><html><head><style>h1{}</style><title>TypeError</title></head><body>&quot;data&quot; is undefined<br></body></html>',
        ),
      ),
    ])
    expect(detailOf(await examine(api), 'genuine_accepted')).toContain(
      'Its response: "{\\"missing\\":\\"service-signature\\",\\"key\\":\\"(the secret)\\"}".',
    )
    expect(detailOf(await examine(page), 'genuine_accepted')).toBe(
      'Failed (500); expected 2xx. Its response: "TypeError \\"data\\" is undefined". Check the receiver\'s log.',
    )
  })

  test('the header is read, where a delivery without it gets another response', async () => {
    const { url } = await receiving((response, { headers }) =>
      response.writeHead(headers['x-service-signature'] === undefined ? 401 : 403).end(),
    )
    const detail = detailOf(await examine(url), 'genuine_accepted')
    expect(detail).toContain('Check the secret (--secret). If it is right')
    expect(detail).not.toContain('--service-name')
  })

  test.each(['Service-Signature', 'X_Service_Signature'])('the header name %s', async (name) => {
    const { url } = await receiving((response, request, body) =>
      response.writeHead(isGenuine(request, body, name.toLowerCase()) ? 204 : 400).end(),
    )
    expect(detailOf(await examine(url), 'genuine_accepted')).toContain(
      `The receiver reads the signature from the header ${name}.`,
    )
  })

  test('a receiver whose secret is not set', async () => {
    const unset = await checked(wrong('lets-pings-pass'), {}, { env: { WEBHOOK_SECRET: 'undefined' } })
    expect(detailOf(unset, 'genuine_accepted')).toContain(
      'The receiver verifies with the secret "undefined", so its own secret is not set.',
    )
  })
})

describe('a receiver that returns 2xx to forged deliveries', () => {
  test.each([
    ['with an error in its response', says(200, '{"ok":true}'), says(200, '{"error":"signature"}')],
    ['with another 2xx', always(204), always(200)],
  ])('%s is told that only the status counts', async (_how, genuine, forged) => {
    const { url } = await judging(genuine, forged)
    const report = await examine(url)
    expect(failed(report)).toEqual(['forged_rejected'])
    expect(detailOf(report, 'forged_rejected')).toBe(
      'Accepted (200); expected a rejection (4xx). The receiver notices the wrong signature, because it responds otherwise than to a valid delivery. But it returns 2xx. Return a 4xx.',
    )
    expect(report.cases.find(({ id }) => id === 'forged_rejected')?.reason).toMatch(/^Only the status counts/)
  })

  test('and repeats ids does not verify them', async () => {
    const { url } = await receiving((response, _request, body) => response.writeHead(200).end(body))
    expect(detailOf(await examine(url), 'forged_rejected')).toContain(
      'The receiver does not verify deliveries',
    )
  })

  test.each([
    ['forged_rejected', (send: () => void, request: IncomingMessage) => request.on('end', send).resume()],
    ['verifies_first', (send: () => void) => send()],
  ])('by a web page is told to check the URL (%s)', async (id, when) => {
    const { url } = await openHttpServer(
      (request, response) => void when(() => response.end('<!doctype html><title>App</title>'), request),
    )
    expect(detailOf(await examine(url), id)).toContain(
      'The response is a web page, so the path may be wrong: check the URL.',
    )
  })
})

test.each([
  ['correct signature', (t: string, body: Buffer) => `expected ${hexDigest(secret, t, body).toUpperCase()}`],
  ['signing secret', () => `<pre>WEBHOOK_SECRET = '${secret}'</pre>`],
])('a receiver whose rejections show the %s gets advice', async (what, text) => {
  const { url } = await receiving((response, request, body) => {
    const [, t = ''] = /^t=(\d+),/.exec(String(request.headers['x-service-signature'])) ?? []
    if (isGenuine(request, body)) return response.writeHead(204).end()
    return response.writeHead(400).end(`${' '.repeat(100_000)}${text(t, body)}`)
  })
  const report = await examine(url, { cases: group('behaves') })
  expect({ failed: failed(report), advised: idsWith(report, 'advised') }).toEqual({
    failed: [],
    advised: ['reveals_nothing'],
  })
  expect(detailOf(report, 'reveals_nothing')).toBe(
    `Rejected (400) with the ${what} in the response; expected none. Sent: another secret.`,
  )
})

test('a receiver that a forged delivery stops is told so in one case', async () => {
  const { url, server } = await openHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (isGenuine(request, Buffer.concat(chunks))) return response.writeHead(204).end()
      server.close()
      return server.closeAllConnections()
    })
  })
  const report = await examine(url, { cases: receiverCases })
  expect(failed(report)).toEqual(['forged_rejected'])
  expect(report.cases.find(({ id }) => id === 'forged_rejected')).toMatchObject({
    detail: 'The receiver stopped: it no longer listens.',
    reason: 'One forged request stops the receiver. Later deliveries are lost.',
  })
  expect(report.totals).toMatchObject({ failed: 1, error: 0, passed: 0 })
})

/** A secret with `-` and `_`, which are no characters of plain base64. */
const urlSecret = 'whsec_Zm9vYmFyLWJh_enpw-1234567890abcdefABCDEF123'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)

type Signed = (t: string, body: string) => string

const withText =
  (textOf: Signed): Signed =>
  (t, body) =>
    hmac(urlSecret, textOf(t, body)).digest('hex')

const withBody = (write: (value: unknown) => string) =>
  withText((t, body) => `${t}.${write(JSON.parse(body))}`)

const withKey =
  (hex: string): Signed =>
  (t, body) =>
    hmac(Buffer.from(hex, 'hex'), `${t}.${body}`).digest('hex')

const ascii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Writes JSON as Python does. */
function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value !== 'object' || value === null) return ascii(JSON.stringify(value))
  return `{${Object.entries(value)
    .map(([key, field]) => `"${key}": ${python(field)}`)
    .join(', ')}}`
}

/** Writes JSON as Go writes a map. */
function go(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(go).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, field]) => `"${key}":${go(field)}`).join()}}`
}

/** Writes the letters of a bytes literal of Python, for bodies without quotes and escapes. */
const escapedBytes = (body: string) =>
  Buffer.from(body)
    .toString('latin1')
    .replace(/[\x7f-\xff]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16)}`)

/** Writes JSON as Python prints a dictionary. */
function dictionary(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(dictionary).join(', ')}]`
  if (typeof value === 'string') return `'${value}'`
  if (typeof value !== 'object' || value === null) return value === null ? 'None' : JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, field]) => `'${key}': ${dictionary(field)}`)
    .join(', ')}}`
}

const dataOf = (value: unknown) => (value as { data: unknown }).data

const asBase64 = (encode: (digest: Buffer) => string): Signed => {
  return (t, body) => encode(hmac(urlSecret, `${t}.${body}`).digest())
}

const computed: [name: string, mistake: string, signed: Signed][] = [
  ['swaps key and message', 'arguments_swapped', (t, body) => hmac(`${t}.${body}`, urlSecret).digest('hex')],
  [
    'decodes the secret as PHP, Ruby and Perl do',
    'secret_decoded',
    withKey('666f6f6261722d62617a7a70d76df8e7aefcf7469b71d79f001083105d76'),
  ],
  ['decodes the beginning of the secret, as Go does', 'secret_decoded', withKey('666f6f6261722d6261')],
  [
    'writes base64 without padding',
    'base64_instead_of_hex',
    asBase64((digest) => digest.toString('base64').replace('=', '')),
  ],
  [
    'writes base64 of the hex text',
    'base64_instead_of_hex',
    asBase64((digest) => Buffer.from(digest.toString('hex')).toString('base64')),
  ],
  ['signs t=', 'timestamp_name_signed', withText((t, body) => `t=${t}.${body}`)],
  ['signs a colon', 'other_separator_signed', withText((t, body) => `${t}:${body}`)],
  ['signs a newline', 'other_separator_signed', withText((t, body) => `${t}\n${body}`)],
  ['signs a float', 'timestamp_as_float', withText((t, body) => `${t}.0.${body}`)],
  [
    'signs the id, too',
    'event_id_signed',
    withText((t, body) => `${(JSON.parse(body) as { id: string }).id}.${t}.${body}`),
  ],
  ['signs data', 'data_signed', withBody((value) => JSON.stringify(dataOf(value)))],
  ['signs data in Python', 'data_signed', withBody((value) => python(dataOf(value)))],
  ['signs a map of data in Go', 'data_signed', withBody((value) => go(dataOf(value)))],
  [
    'sorts the keys of data',
    'json_keys_sorted',
    withBody((value) =>
      JSON.stringify({ ...(value as object), data: JSON.parse(go(dataOf(value))) as unknown }),
    ),
  ],
  ['sorts all keys in Go', 'json_keys_sorted', withBody(go)],
  ['encodes a map in Go', 'json_keys_sorted', withBody((value) => `${go(value)}\n`)],
  [
    'appends the digest in Go',
    'message_appended',
    (t, body) => `${Buffer.from(`${t}.${body}`).toString('hex')}${hmac(urlSecret, '').digest('hex')}`,
  ],
  ['serialises in Python', 'json_reserialised', withBody(python)],
  [
    'serialises with JSON_PRETTY_PRINT',
    'json_reserialised',
    withBody((value) => ascii(JSON.stringify(value, null, 4)).replaceAll('/', '\\/')),
  ],
  [
    'serialises with pretty_generate',
    'json_reserialised',
    withBody((value) => JSON.stringify(value, null, 2)),
  ],
  [
    'serialises with MarshalIndent',
    'json_reserialised',
    withBody((value) => JSON.stringify(value, null, '\t')),
  ],
  ['has no raw body in Express', 'body_not_signed', withText((t) => `${t}.undefined`)],
  ['has an empty object for the body', 'body_not_signed', withText((t) => `${t}.{}`)],
  ['formats an object in JavaScript', 'body_formatted', withText((t) => `${t}.[object Object]`)],
  ['forgets to await the body', 'body_formatted', withText((t) => `${t}.[object Promise]`)],
  ['formats bytes in Python', 'body_formatted', withText((t, body) => `${t}.b'${escapedBytes(body)}'`)],
  [
    'serialises a Buffer',
    'body_formatted',
    withText((t, body) => `${t}.${JSON.stringify(Buffer.from(body))}`),
  ],
  ['formats a dictionary in Python', 'body_formatted', withBody(dictionary)],
  [
    'writes signed bytes in Java',
    'hex_sign_extended',
    (t, body) =>
      Array.from(hmac(urlSecret, `${t}.${body}`).digest(), (byte) =>
        byte < 0x80 ? byte.toString(16) : `ffffff${byte.toString(16)}`,
      ).join(''),
  ],
  [
    'writes the digest in C#',
    'hex_with_dashes',
    (t, body) =>
      Array.from(hmac(urlSecret, `${t}.${body}`).digest(), (byte) =>
        byte.toString(16).toUpperCase().padStart(2, '0'),
      ).join('-'),
  ],
  [
    'sorts all keys in Perl, and escapes slashes',
    'json_keys_sorted',
    withBody((value) => go(value).replaceAll('/', '\\/')),
  ],
  ['encodes as Go does', 'trailing_newline', withBody((value) => `${JSON.stringify(value)}\n`)],
]

describe('the mistake is named of a receiver that', () => {
  const cases = receiverCases.filter(({ id }) => id === 'genuine_accepted')

  const detailFor = async (signed: Signed) => {
    const { url, bodies } = await receiving((response, { headers }, body) => {
      const [, t = '', v1] = /^t=(\d+),v1=(.*)$/.exec(String(headers['x-service-signature'])) ?? []
      response.writeHead(signed(t, body.toString()) === v1 ? 204 : 400).end()
    })
    const report = await examine(url, { cases, secret: urlSecret })
    return { detail: detailOf(report, 'genuine_accepted'), requests: bodies.length }
  }

  test.each(sampled(computed, 3))('%s', async (_name, mistake, signed) => {
    expect((await detailFor(signed)).detail).toContain(
      `The receiver computes the signature with this mistake: ${mistake}. `,
    )
  })

  test('decodes the secret and ignores that this fails', async () => {
    expect((await detailFor((t, body) => hmac('', `${t}.${body}`).digest('hex'))).detail).toContain(
      'The receiver verifies with the secret "", so its own secret is not set, or it decodes the secret, which fails.',
    )
  })

  test('has an unknown one, with few requests and how to look for it', async () => {
    const { detail, requests } = await detailFor(withText((t, body) => `${body}#${t}`))
    expect(detail).not.toContain('with this mistake')
    expect(detail).toMatch(
      /Check them with `tabwire verify --secret SECRET --header HEADER --body FILE`\. If they are valid, print the text that the receiver signs/,
    )
    expect(requests).toBeLessThan(250)
  })
})
test.each([
  ['one number', (digest: Buffer) => BigInt(`0x${digest.toString('hex')}`).toString(16)],
  ['one number per byte', (digest: Buffer) => [...digest].map((byte) => byte.toString(16)).join('')],
])(
  'a receiver that writes its digest as %s fails in every run, for this cause alone',
  async (_name, write) => {
    const { url } = await receiving((response, request, body) => {
      const [, t, v1] = /^t=(.*),v1=(.*)$/.exec(String(request.headers['x-service-signature'])) ?? []
      const digest = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
      response.writeHead(v1 === write(digest) ? 204 : 400).end()
    })
    // Each delivery has a digest of its own: a verdict by chance would show.
    for (let runs = 0; runs < 40; runs += 1) {
      const report = await examine(url)
      expect(failed(report)).toEqual(['zeros_accepted'])
      expect(detailOf(report, 'zeros_accepted')).toBe(
        "Rejected (400) where v1 begins with 0; expected 2xx. The receiver's digest lacks leading zeros. Write two hex digits per byte.",
      )
      expect(detailOf(report, 'odd_keys')).toBe('Not checked: see control/zeros_accepted.')
    }
  },
)

test.each([
  ['once', 1, null],
  ['from then on', Infinity, 'Not checked: a valid delivery without leading zeros was also not accepted.'],
])('a receiver that fails %s is not told to write zeros', async (_when, failures, detail) => {
  let left = 0
  const seen = new Set<string>()
  const { url } = await receiving((response, request, body) => {
    const [, v1 = ''] = /v1=(.+)$/.exec(String(request.headers['x-service-signature'])) ?? []
    if (v1.startsWith('0') && seen.size === 0) left = failures
    if (v1.startsWith('0')) seen.add(v1)
    left -= 1
    response.writeHead(left >= 0 ? 500 : isGenuine(request, body) ? 204 : 400).end()
  })
  const cases = receiverCases.filter(({ id }) => id === 'zeros_accepted')
  const report = await examine(url, { cases })
  expect(seen.size).toBeGreaterThan(0)
  expect(failed(report)).toEqual([])
  expect(detailOf(report, 'zeros_accepted')).toBe(detail)
})

// A busy machine delays deliveries, too.
test.each([
  ['delayed deliveries', 'delayed_accepted', (t: string) => Math.floor(Date.now() / 1000) - Number(t) < 2],
  ['leading zeros', 'zeros_accepted', (_t: string, v1: string) => !v1.startsWith('0')],
])('the state of a receiver that rejects %s is not judged', { retry: 5 }, async (_what, id, accepts) => {
  const { url } = await receiving((response, request, body) => {
    const [, t = '', v1 = ''] = /^t=(\d+),v1=(.+)$/.exec(String(request.headers['x-service-signature'])) ?? []
    response.writeHead(isGenuine(request, body) && accepts(t, v1) ? 204 : 400).end()
  })
  const view = { 'state-url': `${url}/{check_id}`, 'state-header': [], 'state-ignore': [], seed: 1 }
  const cases = receiverCases.filter(({ group }) => group === 'converges')
  const report = await examine(url, { cases, state: stateCheck(view, { ca: [], insecure: false }) })
  expect(failed(report)).toEqual([id])
  expect(idsWith(report, 'not_checked')).toEqual(expect.arrayContaining(cases.map((one) => one.id)))
})

test('a receiver that rejects only the first event type fails there, and is checked with another type', async () => {
  const { url } = await receiving((response, request, body) => {
    const refuses = !isGenuine(request, body) || body.includes('"type":"check.created"')
    response.writeHead(refuses ? 400 : 204).end()
  })
  const report = await examine(url)
  expect(failed(report)).toEqual(['event_check_created'])
  expect(detailOf(report, 'event_check_created')).toBe('Rejected (400); expected 2xx.')
})

test('a receiver that compares numbers fails in one case, the same in every run', async () => {
  const numberOf = (text = '') => Number.parseInt(`0${text}`, 10)
  const { url } = await receiving((response, request, body) => {
    const [, t, v1] = /^t=(\d+),v1=(.*)$/.exec(String(request.headers['x-service-signature'])) ?? []
    const isRecent = Math.abs(Date.now() / 1000 - Number(t)) <= 300
    const isRight = isRecent && numberOf(v1) === numberOf(hexDigest(secret, String(t), body))
    response.writeHead(isRight ? 204 : 400).end()
  })
  for (let runs = 0; runs < (isSoak ? 20 : 5); runs += 1) {
    const report = await examine(url, { cases: group('refuses') })
    expect({ failed: failed(report), advised: idsWith(report, 'advised') }).toEqual({
      failed: ['v1_right_number'],
      advised: [],
    })
  }
})

test('a receiver whose response lines end with LF alone is told so', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\n\n'))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(examine(`${origin}/hooks`)).rejects.toThrow(
    `Cannot read the response of ${origin}: its lines end with LF alone (HPE_CR_EXPECTED). End each line with CRLF.`,
  )
})

describe('a rejection counts only when the same request without the mistake is accepted', () => {
  test('a rejection for another reason than the signature is not checked', async () => {
    const { url } = await receiving((response, request, body) => {
      const isText = request.headers['content-type'] === 'text/plain'
      response.writeHead(isText ? 415 : isGenuine(request, body) ? 204 : 400).end()
    })
    const report = await examine(url, { cases: group('refuses') })
    expect(idsWith(report, 'not_checked')).toEqual(['content_type_text'])
    expect(detailOf(report, 'content_type_text')).toBe(
      'Not checked: a valid delivery of this kind was also not accepted: Rejected (415).',
    )
    expect(report.ok).toBe(true)
  })

  test('no rejection passes after the receiver has banned the sender', async () => {
    const report = await checked(wrong('bans-after-abuse'))
    const refused = report.cases.filter((one) => one.group === 'refuses')
    const firstUnchecked = refused.findIndex(({ verdict }) => verdict === 'not_checked')
    expect(firstUnchecked).toBeGreaterThan(0)
    expect(refused.slice(firstUnchecked).map(({ verdict }) => verdict)).not.toContain('passed')
    expect(report.ok).toBe(false)
  })

  test('endless 429 responses give no verdict', async () => {
    let left = 20
    const { url } = await receiving((response, request, body) => {
      left -= 1
      if (left < 0) response.writeHead(429, { 'Retry-After': '0' }).end()
      else response.writeHead(isGenuine(request, body) ? 204 : 400).end()
    })
    const report = await examine(url, { cases: [...group('accepts'), ...group('refuses')] })
    expect(failed(report)).toEqual([])
    expect(detailOf(report, 'expired')).toBe('Not checked: the receiver limits the request rate (429).')
    const refused = report.cases.filter((one) => one.group === 'refuses')
    expect(refused.map(({ verdict }) => verdict)).not.toContain('passed')
  })
})

describe('cases that add a field to data', () => {
  interface Event {
    type: string
    data: object
  }

  /** The fields of data in the example of each event type. */
  const known = new Map(
    readdirSync(join(fixtures, 'events')).map((name) => {
      const { type, data } = JSON.parse(readFileSync(join(fixtures, 'events', name), 'utf8')) as Event
      return [type, new Set(Object.keys(data))]
    }),
  )

  test('are not checked for a receiver that rejects unknown fields, which gets one advice', async () => {
    const { url } = await receiving((response, request, body) => {
      if (!isGenuine(request, body)) return response.writeHead(400).end()
      const { type, data } = JSON.parse(body.toString()) as Event
      const isKnown = Object.keys(data).every((key) => known.get(type)?.has(key) ?? true)
      return response.writeHead(isKnown ? 204 : 422).end()
    })
    const report = await examine(url)
    expect({ failed: failed(report), advised: idsWith(report, 'advised'), ok: report.ok }).toEqual({
      failed: [],
      advised: ['further_field'],
      ok: true,
    })
    const odd = ['numbers', 'escapes', 'keys', 'characters', 'unicode'].map((form) => `odd_${form}`)
    const others = ['non_ascii', 'in_two_pieces', 'long_body', 'one_mebibyte']
    // The last two change a delivery that the receiver rejects for its fields, too.
    const forged = ['tampered_body', 'unicode_form_changed']
    expect(idsWith(report, 'not_checked')).toEqual([...odd, ...others, ...forged])
    expect(detailOf(report, 'odd_numbers')).toBe('Not checked: the receiver rejects further fields in data.')
    const cases = receiverCases.filter(({ id }) => id === 'further_field')
    expect((await examine(url, { cases, strict: true })).ok).toBe(false)
  })

  test('fail for a receiver that never responds again after one of them', async () => {
    let isOver = false
    const { url } = await receiving((response, request, body) => {
      isOver ||= body.includes('1E2')
      if (!isOver) response.writeHead(isGenuine(request, body) ? 204 : 400).end()
    })
    const cases = receiverCases.filter(({ id }) => id === 'odd_numbers')
    expect(failed(await examine(url, { cases, timeoutMs: 2_000 }))).toEqual(['odd_numbers'])
  })
})

test.each([
  ['verifies_first', 'control', 1],
  ['forged_rejected', 'control', 2],
  ['twenty_in_parallel', 'behaves', 3],
] as const)('endless 429 responses give no verdict of %s', async (id, name, allowed) => {
  let left = allowed
  const { url } = await receiving((response, request, body) => {
    left -= 1
    if (left < 0) response.writeHead(429, { 'Retry-After': '0' }).end()
    else response.writeHead(isGenuine(request, body) ? 204 : 400).end()
  })
  const report = await examine(url, { cases: group(name).filter((one) => one.id === id) })
  expect(idsWith(report, 'not_checked')).toContain(id)
  expect(detailOf(report, id)).toBe('Not checked: the receiver limits the request rate (429).')
})

test('a mistake that another case explains is reported once, and itself when only its case is selected', async () => {
  const all = await checked(wrong('lets-unsigned-pass'))
  expect(failed(all)).toEqual(['no_header', 'empty_header'])
  expect(detailOf(all, 'ping_unsigned')).toBe('Not checked: see refuses/no_header.')
  const cases = receiverCases.filter(({ id }) => id === 'ping_unsigned')
  expect(failed(await checked(wrong('lets-unsigned-pass'), { cases }))).toEqual(['ping_unsigned'])
})

test('advice fails a check only with --strict', async () => {
  const cases = receiverCases.filter(({ id }) => id === 'malformed_only_v0')
  const [lenient, strict] = await Promise.all(
    [false, true].map((isStrict) => checked(wrong('takes-v0'), { cases, strict: isStrict })),
  )
  expect(lenient).toMatchObject({ ok: true, totals: { advised: 1, failed: 0 } })
  expect(strict).toMatchObject({ ok: false, totals: { advised: 0, failed: 1 } })
})

test.each(sampled([60, 2, 900], 3))(
  'a receiver passes with its own tolerance of %i s, and fails with one of 30 s more in both directions',
  async (tolerance) => {
    const { url } = await receiving((response, request, payload) => {
      const header = String(request.headers['x-service-signature'])
      response.writeHead(verify({ payload, header, secret, tolerance }).ok ? 204 : 400).end()
    })
    const times = /^(just_in_time_|expired|from_the_future)/
    const cases = receiverCases.filter(({ id }) => times.test(id))
    expect((await examine(url, { cases, tolerance })).ok).toBe(true)
    expect(failed(await examine(url, { cases, tolerance: tolerance + 30 }))).toEqual(
      expect.arrayContaining(['just_in_time_past', 'just_in_time_future']),
    )
  },
)
