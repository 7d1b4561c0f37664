import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { passedOn } from '../../../src/cli/listen/forward.ts'
import {
  type Header,
  parseHeader,
  parseHeaders,
  parseTarget,
  targetsOf,
} from '../../../src/cli/listen/target.ts'
import { temporaryDirectory } from '../../support/simulator.ts'

describe('a target', () => {
  test.each([
    ['3000', 'http://localhost:3000/'],
    ['3000/hooks', 'http://localhost:3000/hooks'],
    ['localhost:3000/hooks?a=1', 'http://localhost:3000/hooks?a=1'],
    ['app.test', 'http://app.test/'],
    ['receiver:8080', 'http://receiver:8080/'],
    ['localhost', 'http://localhost/'],
    ['[::1]:3000', 'http://[::1]:3000/'],
    ['HTTPS://Localhost:3000', 'https://localhost:3000/'],
  ])('%s is read as %s', (text, url) => expect(parseTarget(text).href).toBe(url))

  test.each(['ftp://localhost', 'http://', '', 'http://a b'])('%j is refused', (text) => {
    expect(() => parseTarget(text)).toThrow(
      `--forward-to must be an http: or https: URL such as http://localhost:3000/webhooks, got ${JSON.stringify(text)}.`,
    )
  })

  test.each(['nope', 'nope/hooks'])(
    '%s is refused as a probable mistake, and accepted with http://',
    (text) => {
      expect(() => parseTarget(text)).toThrow(
        `got ${JSON.stringify(text)}. For a host of this name, pass its scheme, too: http://${text} or https://${text}`,
      )
      expect(parseTarget(`http://${text}`).hostname).toBe('nope')
    },
  )

  test('with a password is refused without showing it', () => {
    expect(() => parseTarget('http://me:hunter2@localhost/')).toThrow(
      /^--forward-to must not contain a password(?!.*hunter2).* Remove it\.$/,
    )
    expect(() => parseTarget('http://me:hunter2@localhost/', '--state-url', '--state-header')).toThrow(
      /^--state-url must not contain a password(?!.*hunter2).* Pass --state-header 'Authorization: …' instead\.$/,
    )
  })
})

describe('a header', () => {
  test('is read as a name and a value', () => {
    expect(parseHeader('X-Tenant:  a: b')).toEqual(['X-Tenant', 'a: b'])
    expect(parseHeader('X-Empty:')).toEqual(['X-Empty', ''])
  })

  test('is one line of an environment variable, whose value may have commas', () => {
    const text = 'Accept: text/html, */*\nX-Tenant: a\r\n'
    expect(parseHeaders(text)).toEqual([
      ['Accept', 'text/html, */*'],
      ['X-Tenant', 'a'],
    ])
    expect(() => parseHeaders([text])).toThrow('--add-header must be a header')
    expect(() => parseHeaders('none', '--state-header')).toThrow('--state-header must be a header')
  })

  test.each(['X-Tenant', ': x', 'X Y: z', 'X: a\nB: c'])('is refused: %j', (text) => {
    expect(() => parseHeader(text)).toThrow(`--add-header must be a header such as 'Name: value'.`)
  })
})

describe('a header of the settings file', () => {
  async function targetWith(headers: Record<string, string>, typed: readonly Header[]) {
    const config = join(await temporaryDirectory(), 'tabwire.config.json')
    const forward = [{ to: '3000', headers }]
    await writeFile(config, JSON.stringify({ listen: { forward } }))
    return targetsOf({ 'forward-to': undefined, events: undefined, headers: typed, config })
  }

  test('is replaced by one of the command line, whatever the case of its name', async () => {
    const [target] = await targetWith({ Authorization: 'Bearer file', 'X-Tenant': 'a' }, [
      ['authorization', 'Bearer typed'],
    ])
    expect(target?.headers).toEqual([
      ['X-Tenant', 'a'],
      ['authorization', 'Bearer typed'],
    ])
  })

  test('is refused when it cannot be sent', async () => {
    await expect(targetWith({ 'X Foo': 'a' }, [])).rejects.toThrow(
      /tabwire\.config\.json: listen\.forward\.headers must be a header such as 'Name: value'\.$/,
    )
  })
})

test('headers are forwarded as written, except connection headers and replaced ones', () => {
  const raw = [
    'Host',
    'a',
    'X-One',
    '1',
    'x-one',
    '2',
    'Connection',
    'close, X-Hop',
    'X-Hop',
    '3',
    'User-Agent',
    'b',
  ]
  expect(passedOn(raw, [['user-agent', 'c']])).toEqual(['X-One', '1', 'x-one', '2', 'user-agent', 'c'])
  expect(passedOn(['Transfer-Encoding', 'chunked', 'Content-Type', 'a/b'])).toEqual(['Content-Type', 'a/b'])
})
