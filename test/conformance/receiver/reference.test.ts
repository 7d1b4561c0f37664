import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { receiverExamples } from '../../../src/cli/conformance/receiver-examples.ts'
import { emptyDirectory, fixtures } from '../../support/cli.ts'
import { checked, failed, idsOf, type Announcement } from './check.ts'

const folder = join(fixtures, 'receivers')
const made = (name: string) => fileURLToPath(new URL(`./made/${name}.mjs`, import.meta.url))
const wrong = (name: string) => join(folder, 'wrong', `${name}.mjs`)
const source = (name: string) => join(folder, name)

type Program = [file: string, ...args: string[]]

interface Runtime {
  /** Ends with 0 where the language is here. */
  probe: Program
  /** What is done before, in an empty directory: a program that compiles and then runs another would leave that behind. */
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

test('every language of the examples has a runtime here, or is known to have none', () => {
  expect([...Object.keys(runtimes), ...unrun].sort()).toEqual(Object.keys(receiverExamples))
})

describe.concurrent('a right receiver passes every case', () => {
  for (const [language, { command, probe, build, says }] of Object.entries(runtimes))
    test.skipIf(!isHere(probe))(`in ${language}`, async () => {
      const cwd = await emptyDirectory()
      if (build !== undefined) execFileSync(build[0], build.slice(1), { cwd, stdio: 'ignore' })
      const report = await checked(command, {}, { cwd, says })
      expect(failed(report)).toEqual([])
      // The state is not visible here.
      expect(report.totals).toMatchObject({ failed: 0, not_checked: idsOf('converges').length, observed: 0 })
    })
  for (const language of unrun) test.skip(`in ${language}`, () => undefined)
})

const accepts = idsOf('accepts')
const refuses = idsOf('refuses')
const odd = idsOf('accepts', 'odd_')
const others = ['payment', 'claim', 'feedback'].flatMap((noun) => idsOf('accepts', `event_${noun}`))

/** The cases that fail, by the name of the receiver. */
const predictions: Record<string, readonly string[]> = {
  'answers-before-verifying': [...refuses, 'verifies_first'],
  'bans-after-abuse': ['keeps_working'],
  'compares-the-beginning': ['v1_truncated'],
  'crashes-on-unequal-lengths': ['malformed_v1_not_hex', 'malformed_v1_not_ascii', 'v1_truncated'],
  'ends-without-a-header': ['no_header', 'empty_header', 'keeps_working'],
  'has-another-secret': [...accepts, 'keeps_working'],
  'ignores-the-future': ['from_the_future'],
  'ignores-the-time': ['expired', 'from_the_future'],
  'knows-checks-alone': others,
  'lets-t-be-moved': ['tampered_t'],
  'lets-unsigned-pass': ['no_header', 'empty_header'],
  'limits-bodies-to-100-kib': ['one_mebibyte'],
  'looks-at-the-first-v1': ['extra_v1'],
  'reads-latin-1': ['non_ascii'],
  redirects: [...accepts, 'does_not_redirect', 'keeps_working'],
  'refuses-by-crashing': refuses,
  'refuses-duplicates': ['duplicates'],
  'refuses-older-states': ['out_of_order_pair'],
  'refuses-unknown-types': ['unknown_event_type'],
  'reserialises-the-body': odd,
  'signs-the-body-alone': [...accepts, 'keeps_working'],
  'takes-any-t': ['malformed_empty_t', 'malformed_t_not_a_number'],
  'takes-one-at-a-time': ['twenty_in_parallel'],
  'takes-the-first-header': ['header_twice'],
  'takes-the-last-header': ['header_twice'],
  'takes-v0': ['malformed_only_v0'],
  'tolerates-a-minute': ['just_in_time_past', 'just_in_time_future'],
  'verifies-nothing': refuses,
  'verifies-one-t-and-dates-by-another': ['malformed_two_t'],
}

/** Those that leave requests waiting, which silence.test.ts looks at. */
const silent = ['leaves-forged-unanswered', 'never-answers']

describe('a wrong receiver', () => {
  test('has a prediction, or a test of its own', () => {
    const names = readdirSync(join(folder, 'wrong')).map((name) => name.replace('.mjs', ''))
    expect(names.sort()).toEqual([...Object.keys(predictions), ...silent, 'receiver'].sort())
  })

  test.concurrent.each(Object.entries(predictions))('that %s fails exactly there', async (name, cases) => {
    expect(failed(await checked([process.execPath, wrong(name)]))).toEqual(cases)
  })

  test.concurrent("with Stripe's constructEvent believes the future, a time that is no number, and one of two headers", async () => {
    expect(failed(await checked([process.execPath, made('stripe')]))).toEqual([
      'malformed_t_not_a_number',
      'from_the_future',
      'header_twice',
    ])
  })

  test.concurrent('with a JSON parser of Express in front refuses what is written otherwise', async () => {
    expect(failed(await checked([process.execPath, made('express-json')]))).toEqual(odd)
  })
})

test('every case of refusing and taking fails for some receiver by name', () => {
  const alone = new Set(Object.values(predictions).flat())
  expect([...accepts, ...refuses].filter((id) => !alone.has(id))).toEqual([])
})

function isHere([file, ...args]: Program): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
