import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { receiverExamples } from '../../../src/cli/conformance/receiver.ts'
import { emptyDirectory, fixtures } from '../../support/cli.ts'
import { receiverCases } from '../../../src/conformance/receiver/check.ts'
import {
  checked,
  failed,
  idsOf,
  idsWith,
  isHere,
  type Announcement,
  type Program,
  visibleCases,
} from './check.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'

const folder = join(fixtures, 'receivers')
const made = (name: string) => fileURLToPath(new URL(`./made/${name}.mjs`, import.meta.url))
const wrong = (name: string) => join(folder, 'wrong', `${name}.mjs`)
const source = (name: string) => join(folder, name)

interface Runtime {
  /** Ends with 0 where the language is here. */
  probe: Program
  /** Run first, in an empty directory: compiling within the program would leave files behind. */
  build?: Program
  command: Program
  /** Where it says that it listens, and in which words. */
  says?: Announcement
}

const runtimes: Record<string, Runtime> = {
  node: { probe: [process.execPath, '--version'], command: [process.execPath, source('node.mjs')] },
  python: { probe: ['python3', '--version'], command: ['python3', source('python.py')] },
  java: { probe: ['javac', '--version'], command: ['java', source('java.java')] },
  go: {
    probe: ['go', 'version'],
    build: ['go', 'build', '-o', 'receiver', source('go.go')],
    command: ['./receiver'],
  },
  php: {
    probe: ['php', '-r', 'exit(PHP_VERSION_ID < 80000 ? 1 : 0);'],
    command: ['php', '-S', '127.0.0.1:0', source('php.php')],
    says: { stream: 'stderr', pattern: /\(http:[^)]+/ },
  },
  ruby: { probe: ['ruby', '-e', "require 'webrick'"], command: ['ruby', source('ruby.rb')] },
}

/** ASP.NET Core needs a project, whose packages come over the network. */
const unrun = ['csharp']

test('every language of the examples has a runtime here, or is listed as not run', () => {
  expect([...Object.keys(runtimes), ...unrun].sort()).toEqual(Object.keys(receiverExamples))
})

describe.concurrent('a correct receiver passes every case, advice included', () => {
  for (const [language, { command, probe, build, says }] of Object.entries(runtimes))
    // Compilers take seconds of a processor. `java` compiles what it runs.
    test.skipIf((!isSoak && (build !== undefined || language === 'java')) || !isHere(probe))(
      `in ${language}`,
      async () => {
        const cwd = await emptyDirectory()
        if (build !== undefined) execFileSync(build[0], build.slice(1), { cwd, stdio: 'ignore' })
        const report = await checked(command, {}, { cwd, says })
        expect(failed(report)).toEqual([])
        expect(report.totals).toMatchObject({ failed: 0, advised: 0, not_checked: 0, observed: 0 })
      },
    )
  for (const language of unrun)
    test.skip(`in ${language} (its packages come over the network)`, () => undefined)
})

const checks = idsOf('accepts', 'event_check_')
const others = ['payment', 'claim', 'feedback'].flatMap((noun) => idsOf('accepts', `event_${noun}`))
const json = ['odd_white_space', 'odd_numbers', 'odd_escapes', 'odd_keys']
const otherTypes = idsOf('refuses', 'content_type_').filter((id) => id !== 'content_type_charset')

interface Prediction {
  fails?: readonly string[]
  /** Cases that rest on advice. */
  advised?: readonly string[]
}

/** The cases that are not kept, by the name of the receiver: those, and no others. */
const predictions: Record<string, Prediction> = {
  'answers-before-verifying': { fails: ['verifies_first'] },
  'assumes-a-missing-t': { fails: ['malformed_no_t', 'malformed_bare_hex'] },
  'bans-after-abuse': { fails: ['keeps_working'] },
  'compares-both-ends': { fails: ['v1_wrong_middle'] },
  'compares-decoded-bytes': { fails: ['v1_truncated', 'malformed_v1_not_hex', 'malformed_v1_not_ascii'] },
  'compares-eight-digits': { fails: ['v1_right_beginning'] },
  'compares-eight-digits-of-any-length': { fails: ['v1_right_beginning'] },
  'compares-every-v1': { fails: ['malformed_no_v1'], advised: ['extra_v1', 'malformed_only_v0'] },
  'compares-numbers': { fails: ['v1_right_number'] },
  'compares-the-beginning': { fails: ['v1_truncated'] },
  'compares-the-last-digits': { fails: ['v1_right_end'] },
  'compares-times-as-text': { fails: ['t_in_1970', 't_far_ahead'] },
  'crashes-on-unequal-lengths': { advised: ['refuses_with_4xx'] },
  'dates-by-the-date-header': { fails: ['expired'] },
  'decodes-each-chunk': { fails: ['in_two_pieces'] },
  'decodes-percent-escapes': { fails: ['odd_characters'] },
  'decodes-the-secret': { fails: ['genuine_accepted'] },
  'drops-leading-zeros': { fails: ['zeros_accepted'] },
  'drops-zeros-of-bytes': { fails: ['zeros_accepted'] },
  'ends-with-a-broken-connection': { advised: ['survives_a_broken_connection'] },
  'ends-without-a-header': { fails: ['no_header', 'keeps_working'] },
  'escapes-letters': { fails: json, advised: ['refuses_with_4xx'] },
  'forgets-the-period': { fails: ['genuine_accepted'] },
  'has-an-unset-second-secret': { fails: ['unset_secret'] },
  'has-another-secret': { fails: ['genuine_accepted'] },
  'ignores-further-digits': { fails: ['v1_extended'] },
  'ignores-the-days': { fails: ['t_whole_days_off'] },
  'ignores-the-future': { fails: ['from_the_future'] },
  'ignores-the-past': { fails: ['expired'] },
  'ignores-the-time': { fails: ['expired'] },
  'ignores-what-is-not-json': { fails: ['unsigned_junk'] },
  'knows-checks-alone': { fails: others, advised: ['ping'] },
  'knows-one-spelling-of-the-header': { advised: ['header_in_lower_case'] },
  'knows-payments-alone': { fails: checks, advised: ['ping'] },
  'lets-long-bodies-pass': { fails: ['long_body_unsigned'] },
  'lets-pings-pass': { fails: ['ping_unsigned'] },
  'lets-t-be-moved': { fails: ['tampered_t'] },
  'lets-unsigned-pass': { fails: ['no_header', 'empty_header'] },
  'limits-the-age-of-events': { fails: ['retry_after_a_day'] },
  'limits-bodies-to-100-kib': { advised: ['one_mebibyte'] },
  'looks-at-the-first-v1': { advised: ['extra_v1'] },
  'looks-up-the-id-first': { fails: ['known_id_unsigned'] },
  'normalises-unicode': { fails: ['odd_unicode'] },
  'parses-before-verifying': { fails: ['unsigned_junk', 'keeps_working'] },
  'reads-another-header': { fails: ['genuine_accepted'] },
  'reads-latin-1': { fails: ['non_ascii'] },
  'reads-semicolons': { advised: ['malformed_semicolons'] },
  'reads-the-digits-that-t-begins-with': { fails: ['body_moved_into_t'], advised: ['header_twice'] },
  redirects: { fails: ['genuine_accepted'] },
  'refuses-by-crashing': { advised: ['refuses_with_4xx'] },
  'refuses-duplicates': { fails: ['duplicates'] },
  'refuses-older-states': { fails: ['out_of_order_pair'] },
  'refuses-pings': { advised: ['ping'] },
  'refuses-unknown-types': { advised: ['unknown_event_type', 'ping'] },
  'refuses-with-200': { fails: ['forged_rejected'] },
  'remembers-bodies': { fails: ['known_id_unsigned'] },
  'remembers-headers': { fails: ['header_reused'] },
  'reserialises-the-body': { fails: json, advised: ['refuses_with_4xx'] },
  'rewrites-line-endings': { fails: ['odd_white_space'] },
  'reveals-the-signature': { advised: ['reveals_nothing'] },
  'signs-the-body-alone': { fails: ['genuine_accepted'] },
  'skips-feedback': { fails: ['each_type_unsigned'] },
  'stores-the-id-first': { fails: ['known_id_unsigned'] },
  'strips-the-prefix-of-the-secret': { fails: ['genuine_accepted'] },
  'takes-any-t': {
    fails: ['body_moved_into_t'],
    advised: ['malformed_empty_t', 'malformed_t_not_a_number'],
  },
  'takes-empty-bodies': { fails: ['empty_body'] },
  'takes-milliseconds-for-the-tolerance': { fails: ['expired'] },
  'takes-one-at-a-time': { advised: ['twenty_in_parallel'] },
  'takes-t-and-the-tolerance-for-milliseconds': { fails: ['genuine_accepted'] },
  'takes-t-for-milliseconds': { fails: ['genuine_accepted'] },
  'takes-the-first-header': { advised: ['header_twice'] },
  'takes-the-last-header': { advised: ['header_twice'] },
  'takes-v0': { advised: ['malformed_only_v0'] },
  'takes-zero-for-no-time': { fails: ['t_in_1970'] },
  'tolerates-a-minute': { fails: ['just_in_time_past', 'just_in_time_future'] },
  'tolerates-ten-minutes': { fails: ['expired'] },
  'trims-the-body': { fails: ['odd_trailing_newline'] },
  'tries-other-amounts': { fails: ['tampered_body'] },
  'trusts-forwarded-addresses': { fails: ['claims_to_be_local'] },
  'trusts-health-checks': { fails: ['claims_to_be_a_probe'] },
  'verifies-composed-letters-too': { fails: ['unicode_form_changed'] },
  'verifies-json-alone': { fails: otherTypes },
  'verifies-known-types-alone': { fails: ['unknown_type_unsigned', 'ping_unsigned'] },
  'verifies-nothing': { fails: ['forged_rejected'] },
  'verifies-one-content-type': { fails: ['content_type_charset', ...otherTypes] },
  'verifies-one-t-and-dates-by-another': { fails: ['malformed_two_t'] },
  'verifies-parsed-json-too': { fails: ['white_space_added'] },
  'verifies-the-first-chunk': { fails: ['in_two_pieces'] },
  'verifies-the-first-kilobytes': { fails: ['long_body'] },
  'wants-any-header': { fails: ['forged_rejected'] },
  'wraps-t-at-32-bits': { fails: ['t_far_ahead'] },
}

/** Receivers that leave requests without an answer, which silence.test.ts checks. */
const silent = ['leaves-forged-unanswered', 'never-answers']

describe('a wrong receiver', () => {
  test('has a prediction or a test of its own', () => {
    const names = readdirSync(join(folder, 'wrong')).map((name) => name.replace('.mjs', ''))
    expect(names.sort()).toEqual([...Object.keys(predictions), ...silent, 'receiver'].sort())
  })

  test.concurrent.each(sampled(Object.entries(predictions), 26))(
    'that %s fails exactly in the predicted cases',
    async (name, { fails = [], advised = [] }) => {
      const report = await checked([process.execPath, wrong(name)])
      expect({ fails: failed(report), advised: idsWith(report, 'advised') }).toEqual({ fails, advised })
      expect(report.ok).toBe(fails.length === 0)
    },
  )

  test.concurrent('that decodes each chunk is found on a busy machine, too', async () => {
    // The process stops for 80 ms again and again, and needs two turns to read what has arrived.
    const stop = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 80)'
    const busy = `data:text/javascript,setInterval(() => ${stop}, 20).unref()`
    const cases = receiverCases.filter(({ id }) => id === 'non_ascii' || id === 'in_two_pieces')
    const command = [process.execPath, '--import', busy, wrong('decodes-each-chunk')]
    expect(failed(await checked(command, { cases }))).toEqual(['in_two_pieces'])
  })

  test.concurrent('with constructEvent of Stripe accepts deliveries from the future, and gets three kinds of advice', async () => {
    const report = await checked([process.execPath, made('stripe')])
    expect(failed(report)).toEqual(['from_the_future'])
    expect(idsWith(report, 'advised')).toEqual([
      'header_twice',
      'malformed_t_not_a_number',
      'survives_a_broken_connection',
    ])
  })

  test.runIf(isSoak)('with a JSON parser of Express before it rejects reserialised JSON', async () => {
    expect(failed(await checked([process.execPath, made('express-json')]))).toEqual(json)
  })
})

test.concurrent('a receiver with a tolerance of 2 s passes with --tolerance 2', async () => {
  const report = await checked([process.execPath, made('tolerates-two-seconds')], { tolerance: 2 })
  expect({ failed: failed(report), advised: idsWith(report, 'advised') }).toEqual({ failed: [], advised: [] })
})

test('every case fails for at least one receiver', () => {
  const seen = Object.values(predictions).flatMap(({ fails = [], advised = [] }) => [...fails, ...advised])
  // Receivers of other files fail these.
  const others = ['answers_in_time', 'delayed_accepted', 'further_field']
  const expected = visibleCases.map(({ id }) => id).filter((id) => !others.includes(id))
  expect(expected.filter((id) => !seen.includes(id))).toEqual([])
})

test('every case has a unique id and a reason', () => {
  const ids = receiverCases.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { explainedBy = [], reason } of receiverCases) {
    expect(ids).toEqual(expect.arrayContaining([...explainedBy]))
    expect(reason).toMatch(/\.$/)
  }
})
