import { describe, expect, test } from 'vitest'
import type { Verification } from '../../src/signature/index.ts'
import { countOutcomes, parseMany, parseRawRequest, requireNoUtf16, valuesOf } from '../../src/cli/verify.ts'

const parse = (...lines: string[]) => parseRawRequest(Buffer.from(lines.join('\r\n')), 'a.http')

describe('a raw request', () => {
  test('has headers by name in any case, and the bytes after the blank line as its body', () => {
    const request = parse(
      'POST /a HTTP/1.1',
      'Host: a',
      'X-Service-Signature:  t=1 ',
      '',
      '{"a": 1}\r\n',
      'é',
    )
    expect(valuesOf(request, 'x-service-signature')).toEqual(['t=1'])
    expect(request.body.toString()).toBe('{"a": 1}\r\n\r\né')
  })

  test('may have lines that end in LF, as editors save it', () => {
    expect(parseRawRequest(Buffer.from('POST /a\nA: b\n\nbody'), 'a.http').body.toString()).toBe('body')
  })

  test('may begin with a byte-order mark and blank lines, as editors save it', () => {
    for (const before of ['\ufeff', '\n', '\r\n\r\n', '\ufeff\n']) {
      const text = `${before}POST /a HTTP/1.1\r\nA: b\r\n\r\n\ufeff\nbody`
      const { headers, body } = parseRawRequest(Buffer.from(text), 'a.http')
      expect(headers).toEqual([['A', 'b']])
      expect(body.toString()).toBe('\ufeff\nbody')
    }
  })

  test('ends where its Content-Length says', () => {
    expect(parse('POST /a HTTP/1.1', 'Content-Length: 2', '', '{}\n').body.toString()).toBe('{}')
    expect(parse('POST /a HTTP/1.1', 'Content-Length: 9', '', '{}').body.toString()).toBe('{}')
  })

  test('has the body that its chunks contain, or the plain body when it has no chunks', () => {
    const head = ['POST /a HTTP/1.1', 'Transfer-Encoding: chunked', '']
    expect(parse(...head, '2;x=y', '{"', '3', 'a":', '0', '', '').body.toString()).toBe('{"a":')
    expect(parse(...head, '{"a":1}').body.toString()).toBe('{"a":1}')
    expect(parse(...head, '{"a":', '1}', '').body.toString()).toBe('{"a":\r\n1}\r\n')
  })

  test('keeps folded and repeated headers, because they may be the mistake', () => {
    const request = parse('POST /a HTTP/1.1', 'S: t=1,', '  v1=2', 's: 3', '', '')
    expect(valuesOf(request, 'S')).toEqual(['t=1,\r\n v1=2', '3'])
  })

  test.each(['', '{"a":1}', 'X-Service-Signature: t=1', 'a POST /a', 'POST /a HTTP/1.1 b'])(
    'is refused: %j',
    (text) => {
      expect(() => parseRawRequest(Buffer.from(text), 'a.http')).toThrow(
        '--request: a.http is not an HTTP request. It must begin with a line such as POST /webhooks HTTP/1.1, followed by headers, a blank line and the body.',
      )
    },
  )
})

describe('a file of many deliveries', () => {
  const many = (...lines: string[]) => parseMany(Buffer.from(lines.join('\n')))

  test('has a delivery per line, with its body as text or in base64; blank lines count only as lines', () => {
    expect(
      many('\uFEFF{"header":"t=1","body":"é"}', ' ', '{"header":null,"body_base64":"/w=="}', '{"body":""}'),
    ).toEqual([
      { number: 1, header: 't=1', payload: Buffer.from('é') },
      { number: 3, header: undefined, payload: Buffer.from([0xff]) },
      { number: 4, header: undefined, payload: Buffer.alloc(0) },
    ])
  })

  test.each(['{"header":1,"body":""}', '{"header":"t=1"}', '{"body":1}', 'null', '{'])(
    'is refused for the line %s',
    (line) => {
      expect(() => many('{"body":""}', line)).toThrow('--many: line 2 must be ')
    },
  )
})

test.each(['POST /a HTTP/1.1\r\n', '{"body":"a"}\n'])('a capture in UTF-16 is refused: %j', async (text) => {
  await expect(requireNoUtf16(Buffer.from(text), 'a.http')).resolves.toBeUndefined()
  await expect(requireNoUtf16(Buffer.from(text, 'utf16le'), '--request: a.http')).rejects.toThrow(
    '--request: a.http is UTF-16. Windows PowerShell writes',
  )
})

test('outcomes are counted by mistake, or by code', () => {
  const wrong: Verification = { ok: false, code: 'signature_mismatch', message: 'No.' }
  expect(
    countOutcomes([
      { result: { ok: true } as Verification, diagnosis: undefined },
      { result: wrong, diagnosis: { mistake: 'clock_off', advice: 'Set it.' } },
      { result: wrong, diagnosis: undefined },
      { result: wrong, diagnosis: undefined },
    ]),
  ).toEqual({ total: 4, right: 1, wrong: 3, mistakes: { clock_off: 1, signature_mismatch: 2 } })
})
