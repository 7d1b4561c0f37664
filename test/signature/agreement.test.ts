import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import { Stripe } from 'stripe'
import { describe, expect, test } from 'vitest'
import * as node from '../../src/signature/node.ts'
import * as web from '../../src/signature/web.ts'
import { isSoak, seeded } from '../soak/seeded.ts'

const CASES = isSoak ? 10_000 : 2_000
const SECRETS = 20
const now = Math.floor(Date.now() / 1000)
const { signature: stripe, generateTestHeaderString } = new Stripe('sk_test_x').webhooks
const random = seeded(7)
const upTo = (bound: number) => Math.floor(random() * bound)

const damages = [
  'none',
  'none',
  'payload',
  'secret',
  'digit',
  'upper',
  'v0',
  'two',
  'time',
  'cut',
  'no t',
] as const
const secrets = Array.from({ length: SECRETS }, (_, at) => `whsec_${at}${text(1 + upTo(80))}`)
const cases = Array.from({ length: CASES }, () => ({
  // Stripe refuses an empty body.
  payload: text(1 + upTo(150)),
  secret: secrets[upTo(SECRETS)] ?? '',
  // Far from the bounds: Stripe's verifier reads the clock by itself.
  timestamp: now - upTo(2) * 10_000,
  damage: damages[upTo(damages.length)] ?? 'none',
}))

/** Text of any characters, half of them those of JSON; Stripe takes bodies as text alone, so it is whole. */
function text(length: number): string {
  return Array.from({ length }, () => {
    const kind = upTo(4)
    if (kind === 0) return String.fromCodePoint(0x10000 + upTo(0xffff))
    return String.fromCodePoint(kind === 1 ? 1 + upTo(0xd7ff) : 32 + upTo(95))
  }).join('')
}

describe(`for ${CASES} generated deliveries`, () => {
  test('node, web and stripe make the same header', async () => {
    const differing = await exceptionsTo(async (one) => {
      const header = node.sign(one)
      return header === generateTestHeaderString(one) && header === (await web.sign(one))
    })
    expect(differing).toEqual([])
  })

  test('node, web and stripe accept the same, intact and damaged, new and old', async () => {
    let taken = 0
    const differing = await exceptionsTo(async (one) => {
      // Messages tell how old a delivery is: both look at one clock.
      const given = { ...damaged(one), now: now * 1000 }
      const result = node.verify(given)
      if (result.ok) taken++
      return isDeepStrictEqual(await web.verify(given), result) && stripeTakes(given) === result.ok
    })
    expect(differing).toEqual([])
    expect(Math.min(taken, CASES - taken)).toBeGreaterThan(CASES / 10)
  })

  test.skipIf(!isSoak || spawnSync('openssl', ['version']).status !== 0)(
    'openssl makes the same signature',
    () => {
      for (const secret of secrets) {
        const own = cases.filter((one) => one.secret === secret)
        expect(openssl(own, secret)).toEqual(own.map((one) => node.sign(one).split('v1=')[1]))
      }
    },
  )
})

test('bytes that are not text are signed and verified alike by all implementations', async () => {
  for (let count = 0; count < (isSoak ? 300 : 30); count++) {
    const bytes = Uint8Array.from({ length: upTo(300) + 9 }, () => upTo(256))
    const forms = [
      bytes,
      Buffer.from(bytes),
      bytes.buffer,
      // Of another realm, as in some test runners.
      runInNewContext('Uint8Array.from(bytes).buffer', { bytes: [...bytes] }) as ArrayBuffer,
      new Uint8Array(bytes.buffer, 8),
      bytes.subarray(8),
    ]
    const headers = forms.map((payload) => node.sign({ payload, secret: 'whsec_x', timestamp: now }))
    expect(new Set(headers).size).toBe(2)
    for (const [at, payload] of forms.entries()) {
      expect(await web.sign({ payload, secret: 'whsec_x', timestamp: now })).toBe(headers[at])
      const given = { payload, header: headers[at], secret: ['whsec_y', 'whsec_x'] }
      expect([node.verify(given).ok, (await web.verify(given)).ok]).toEqual([true, true])
    }
  }
})

test('stripe accepts a timestamp in the future, and Tabwire refuses it', () => {
  const [payload, secret] = ['{"id":"evt_1"}', 'whsec_x']
  const header = node.sign({ payload, secret, timestamp: Math.floor(Date.now() / 1000) + 310 })
  expect(stripeTakes({ payload, header, secret })).toBe(true)
  expect(node.verify({ payload, header, secret })).toMatchObject({ ok: false, code: 'timestamp_in_future' })
})

/** The cases for which this does not hold. */
async function exceptionsTo(holds: (one: (typeof cases)[number]) => Promise<boolean>) {
  const outcomes = await Promise.all(cases.map(holds))
  return cases.filter((_, at) => outcomes[at] !== true)
}

function damaged({ payload, secret, timestamp, damage }: (typeof cases)[number]) {
  const header = node.sign({ payload, secret, timestamp })
  const zero = '0'.repeat(64)
  const headers: Partial<Record<typeof damage, string>> = {
    digit: header.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    upper: header.toUpperCase().replace('T=', 't=').replace('V1=', 'v1='),
    v0: header.replace('v1=', 'v0='),
    two: header.replace('v1=', `v1=${zero},v1=`),
    time: header.replace(/t=\d+/, `t=${timestamp - 1}`),
    cut: header.slice(0, -1),
    'no t': header.replace('t=', 'x='),
  }
  return {
    payload: damage === 'payload' ? `${payload} ` : payload,
    secret: damage === 'secret' ? `${secret}x` : secret,
    header: headers[damage] ?? header,
  }
}

function stripeTakes({ payload, secret, header }: ReturnType<typeof damaged>): boolean {
  try {
    return stripe?.verifyHeader(payload, header, secret, 300) ?? false
  } catch {
    return false
  }
}

/** Where thousands of small files take no time, if there is such a place. */
const shelf = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The signatures of deliveries with one secret, by one process, which takes each message from a file. */
function openssl(own: typeof cases, secret: string): string[] {
  const cwd = mkdtempSync(join(shelf, 'tabwire-openssl-'))
  try {
    const names = own.map(({ timestamp, payload }, at) => {
      writeFileSync(join(cwd, String(at)), `${timestamp}.${payload}`)
      return String(at)
    })
    const { stdout } = spawnSync('openssl', ['dgst', '-sha256', '-hmac', secret, ...names], { cwd })
    const lines = stdout.toString().trimEnd().split('\n')
    return lines.map((line) => line.split('= ')[1] ?? '')
  } finally {
    rmSync(cwd, { recursive: true })
  }
}
