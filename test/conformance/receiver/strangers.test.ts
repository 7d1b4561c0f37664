import { readdirSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { receiverCases, type ReceiverCheck } from '../../../src/conformance/receiver/check.ts'
import { checked, failed, idsWith, isHere, type Program } from './check.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'

const folder = fileURLToPath(new URL('./made/right/', import.meta.url))

interface Runtime {
  interpreter: string
  /** Ends with 0 where the language is here. */
  probe: Program
}

const runtimes: Record<string, Runtime> = {
  '.mjs': { interpreter: process.execPath, probe: [process.execPath, '--version'] },
  '.py': { interpreter: 'python3', probe: ['python3', '--version'] },
  '.pl': { interpreter: 'perl', probe: ['perl', '-MDigest::SHA', '-e', '1'] },
  // A source file is compiled first.
  '.java': { interpreter: 'java', probe: ['javac', '--version'] },
}

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')

interface Right {
  /** Cases that rest on advice which this receiver does not follow. */
  advised?: readonly string[]
  /** Cases that this receiver refuses for another reason than the signature. */
  unchecked?: readonly string[]
  change?: Partial<ReceiverCheck>
  env?: Record<string, string>
  /** Whether this machine has what the receiver needs. */
  isHere?: boolean
}

const payments = ['payment.succeeded', 'payment.refunded'] as const

/** Right receivers, written from the specification with choices of their own. */
const rights: Record<string, Right> = {
  'Receiver.java': {},
  'early-refusal.mjs': { isHere: hasIpv6 },
  'express-raw.mjs': {},
  'h3-text.mjs': {},
  'lenient.mjs': { advised: ['malformed_semicolons'] },
  'payments-only.mjs': {
    change: { events: payments },
    advised: ['unknown_event_type', 'ping'],
    unchecked: [
      ...receiverCases.map(({ id }) => id).filter((id) => /^event_(check|claim|feedback)_/.test(id)),
      'unknown_type_unsigned',
      'ping_unsigned',
    ],
  },
  'queue.mjs': { advised: ['header_twice'] },
  'rate-limited.mjs': {},
  'replay-cache.mjs': {},
  'resets.mjs': { advised: ['refuses_with_4xx'] },
  'rotation.mjs': { env: { NEXT_SECRET: 'whsec_bmV4dA' } },
  // Slow enough for cases to run side by side.
  'slow.mjs': { env: { DELAY_MS: '400' }, change: { slowMs: 300 } },
  'sockets.pl': {},
  'streams.py': {},
  'strict.mjs': {
    advised: ['extra_v1'],
    unchecked: ['content_type_text', 'content_type_form', 'content_type_missing'],
  },
  'validates.mjs': {},
  'web-crypto.mjs': { advised: ['header_twice'] },
  'wsgi.py': {},
}

test('every correct receiver is checked', () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(rights).sort())
})

describe.concurrent('a correct receiver with other choices passes', () => {
  // A compiler takes seconds of a processor.
  const light = Object.entries(rights).filter(([name]) => isSoak || name !== 'Receiver.java')
  for (const [name, right] of sampled(light, 12)) {
    const { interpreter, probe } = runtimes[extname(name)] ?? { interpreter: '', probe: [''] }
    test.skipIf(right.isHere === false || !isHere(probe))(name, async () => {
      const { advised = [], unchecked = [], change, env = {} } = right
      const report = await checked([interpreter, join(folder, name)], change, { env })
      expect({
        failed: failed(report),
        advised: idsWith(report, 'advised'),
        unchecked: idsWith(report, 'not_checked'),
      }).toEqual({ failed: [], advised, unchecked })
      expect(report.ok).toBe(true)
    })
  }

  test.runIf(isSoak)('when its answers take 3 s, also in the cases about time', async () => {
    const times = /^(just_in_time_|expired|from_the_future|t_in_1970|t_far_ahead|tampered_t)/
    const cases = receiverCases.filter(({ id }) => times.test(id))
    const report = await checked([process.execPath, join(folder, 'slow.mjs')], { cases, slowMs: 300 })
    expect(report.totals).toMatchObject({ failed: 0, advised: 0, not_checked: 0 })
    expect(idsWith(report, 'passed')).toEqual(expect.arrayContaining(cases.map(({ id }) => id)))
  })
})
