import { mkdir, writeFile } from 'node:fs/promises'
import { join, normalize, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endOfInput, expandFiles, withoutByteOrderMark } from '../../../src/cli/files/input.ts'
import { vectors, secret } from '../../signature/vectors.ts'
import { sampled } from '../../soak/seeded.ts'
import { checkBody, emptyDirectory, serve, spawnTabwire, tabwire } from '../../support/cli.ts'
import { hasTerminals, onTerminal, tabwireOnTerminal } from '../../support/terminal.ts'

const [{ t, payload, v1 }] = vectors
const READING = /Reading from standard input\. To end it, press Ctrl-D\.\r?\n/
/** Ends what is typed, on a line of its own. */
const END = '\n\u0004'

const verifying = ['--secret', secret, '--header', `t=${t},v1=${v1}`, '--now', String(t)]

describe.runIf(hasTerminals).concurrent(`a command that reads standard input ${onTerminal}`, () => {
  test.each(
    sampled<[string[], code: number, shows: RegExp, typed?: string]>(
      [
        [['verify', ...verifying], 3, /trailing_newline/, payload],
        [
          ['verify', ...verifying.slice(0, 2), '--request', '-'],
          2,
          /standard input is not an HTTP request/,
          'soup',
        ],
        [['verify', ...verifying.slice(0, 2), '--many', '-'], 2, /--many: line 1 must be/, 'soup'],
        [['sign', '--secret', secret], 0, /t=\d+,v1=/, 'soup'],
        [['sign', '--secret', secret, '--body', '-'], 0, /t=\d+,v1=/, 'soup'],
        [['doctor', '--port', '0', '--cacert', '-'], 2, /--cacert must be a certificate/, 'soup'],
      ],
      3,
    ),
  )('says so, and names the key that ends the input: %j', async (args, code, shows, typed = '') => {
    const running = await tabwireOnTerminal(args)
    await running.shows(READING)
    running.type(typed + END)
    await running.shows(shows)
    expect((await running.left()).code).toBe(code)
  })

  test.each([
    ['push', ['push', '-', '--id', 'typed'], JSON.stringify(checkBody()), /created {2}typed/],
    ['state load', ['state', 'load', '--file', '-'], '{}', /Standard input was not loaded/],
  ])('says so also when it calls a service: %s', async (_name, args, typed, shows) => {
    const service = await serve()
    const running = await tabwireOnTerminal(args, { cwd: service.cwd })
    await running.shows(READING)
    running.type(typed + END)
    await running.shows(shows)
    await running.ended
    await service.stop()
  })
})

test('a command that reads a pipe prints no message about it', async () => {
  const { code, stderr } = await tabwire(['verify', ...verifying], { input: payload })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const spawned = await spawnTabwire(['verify', ...verifying], { input: payload })
  expect(await spawned.ended).toMatchObject({ code: 0, stderr: '' })
})

test('a pattern matches in a folder with brackets in its name; an absolute one gives absolute paths', async () => {
  const folder = join(await emptyDirectory(), 'p (old)', 'checks')
  await mkdir(folder, { recursive: true })
  const files = ['a.json', 'b.json'].map((name) => join(folder, name))
  for (const file of [...files, join(folder, 'c.txt')]) await writeFile(file, '')
  const expanded = async (pattern: string) => (await expandFiles([pattern])).map((file) => normalize(file))
  expect(await expanded(join(folder, '*.json'))).toEqual(files)
  expect(await expanded(relative('', join(folder, '*.json')))).toEqual(
    files.map((file) => relative('', file)),
  )
})

test('the keys that end the input depend on the operating system', () => {
  expect([endOfInput('linux'), endOfInput('darwin'), endOfInput('win32')]).toEqual([
    'Ctrl-D',
    'Ctrl-D',
    'Ctrl-Z, then Enter',
  ])
})

describe('a text file of Windows', () => {
  test('has its byte-order mark removed', () => {
    expect(withoutByteOrderMark('\ufeff{}\r\n')).toBe('{}\r\n')
  })

  test.each([
    ['little-endian', Buffer.from('\ufeff{}', 'utf16le')],
    ['big-endian', Buffer.from('\ufeff{}', 'utf16le').swap16()],
  ])('is named when it is UTF-16, %s', (_order, bytes) => {
    expect(() => withoutByteOrderMark(bytes.toString())).toThrow(/^it is UTF-16, /)
  })

  test('in another encoding is left to its reader', () => {
    const text = Buffer.from('Öl, Äpfel', 'latin1').toString()
    expect(withoutByteOrderMark(text)).toBe(text)
  })

  test.each([
    [['checks', 'list', '--config', 'utf16.json'], 'utf16.json is not valid JSON: it is UTF-16, '],
    [
      ['contract', 'check', '--base-url', 'http://127.0.0.1:9/v1', '--profile', 'utf16.json'],
      '--profile utf16.json is not valid JSON: it is UTF-16, ',
    ],
    [['scenario', 'run', 'utf16.json'], 'utf16.json: not valid JSON: it is UTF-16, '],
    [
      ['checks', 'list', '--api-key-file', 'utf16.json'],
      '--api-key-file: cannot read utf16.json: it is UTF-16, ',
    ],
  ])('is named by %j', async (args, says) => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'utf16.json'), Buffer.from('\ufeff{"data_dir": "a\\\\b"}\r\n', 'utf16le'))
    const { code, stderr } = await tabwire(args, { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(stderr).not.toContain('Write a backslash')
  })
})
