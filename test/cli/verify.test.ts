import { describe, expect, test } from 'vitest'
import { parseRawRequest, valuesOf } from '../../src/cli/verify.ts'

const parse = (...lines: string[]) => parseRawRequest(Buffer.from(lines.join('\r\n')), 'a.http')

describe('a raw request', () => {
  test('has headers by name in any case, and the bytes after the blank line as its body', () => {
    const request = parse('POST /a HTTP/1.1', 'X-Service-Signature:  t=1 ', '', '{"a": 1}\r\n', 'é')
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
  })

  test('keeps folded and repeated headers, because they may be the mistake', () => {
    const request = parse('POST /a HTTP/1.1', 'S: t=1,', '  v1=2', 's: 3', '', '')
    expect(valuesOf(request, 'S')).toEqual(['t=1,\r\n v1=2', '3'])
  })

  test.each(['', '{"a":1}', 'X-Service-Signature: t=1'])('is refused: %j', (text) => {
    expect(() => parseRawRequest(Buffer.from(text), 'a.http')).toThrow(
      '--request: a.http is not an HTTP request. It must begin with a line such as POST /webhooks HTTP/1.1, followed by headers, a blank line and the body.',
    )
  })
})
