import { isInstalled } from '../support/programs.ts'
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { sign } from '../../src/signature/index.ts'
import { secret, vectors } from './vectors.ts'

const opensslIsHere = isInstalled('openssl', 'version')

describe.each(vectors)('$name', ({ t, payload, v1 }) => {
  test('has the recorded signature of OpenSSL', () => {
    expect(sign({ payload, secret, timestamp: t })).toBe(`t=${t},v1=${v1}`)
  })

  test('has the same signature as text and as bytes', () => {
    const bytes = new TextEncoder().encode(payload)
    expect(sign({ payload: bytes, secret, timestamp: t })).toBe(sign({ payload, secret, timestamp: t }))
  })

  test.skipIf(!opensslIsHere)('has the signature that openssl on this machine makes', () => {
    expect(openssl(`${t}.${payload}`)).toBe(v1)
  })
})

test.skipIf(!opensslIsHere)('bytes that are not UTF-8 are signed unchanged', () => {
  const payload = Uint8Array.from([0, 255, 254, 128, 10])
  const signed = Buffer.concat([Buffer.from('1700000000.'), payload])
  expect(sign({ payload, secret, timestamp: 1700000000 })).toBe(`t=1700000000,v1=${openssl(signed)}`)
})

test('the header is t and one v1 in lower-case hex, and nothing else', () => {
  expect(sign({ payload: 'x', secret, timestamp: 1700000000 })).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
})

test('the key is the whole secret: without whsec_ the signature differs', () => {
  const bare = secret.slice('whsec_'.length)
  const [first] = vectors
  expect(sign({ payload: first.payload, secret: bare, timestamp: first.t })).toMatch(
    /v1=f06fd958[0-9a-f]+081d4b2b$/,
  )
})

test.each([-1, 1.5, NaN, Infinity, -Infinity, 2 ** 53])('a timestamp of %s is a TypeError', (timestamp) => {
  expect(() => sign({ payload: 'x', secret, timestamp })).toThrow(TypeError)
})

test('an empty secret is a TypeError', () => {
  expect(() => sign({ payload: 'x', secret: '', timestamp: 1 })).toThrow(TypeError)
})

test.each([{}, null, undefined, 12, ['x']])(
  'a payload of %j is a TypeError that asks for the raw body',
  (parsed) => {
    const payload = parsed as string
    expect(() => sign({ payload, secret, timestamp: 1 })).toThrow(/raw body/)
  },
)

function openssl(input: string | Uint8Array): string {
  const { stdout } = spawnSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input })
  return stdout.toString().trim().split(' ').at(-1) ?? ''
}
