import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CountReporter } from './test/support/count-reporter.ts'

/** Files that take longer than five seconds of a processor, or wait for as long; in the soak, minutes. */
const long = new RegExp(
  [
    'cli/scenario/explore[.]',
    'commands/(clock|contract-check|doctor-and-start|exec|faults|first-examples|listen)[.]',
    'commands/(receiver-check|replay|scenario|start-options|tail|terminal-widths)[.]',
    'conformance/(contract|receiver)/',
    'delivery/send/send[.]',
    'documented/documented[.]',
    'hostile/(bodies|documented|every-command|stopping)[.]',
    'http/sim/offers[.]',
    'library/hundred[.]',
    'mcp/(diagnosis|tools)[.]',
    'operations/guests-money[.]',
    'pages/(docs|guest/(page|paying)|inspector/)',
    'release/downloads[.]',
    'shared/(chaos|conformance|deliveries|equal-stores|listen|sandbox-state|streams)[.]',
    'signature/published/',
    'soak/(install|kill|large-state|load|long-run|matrix|model|power-loss)',
    'store/(damage|lock|namespaces|postgres/(instances|outage|slots))[.]',
    'test/(ci-script|github|package|pipelines)[.]',
  ].join('|'),
)

/** The file that takes an hour in the soak. */
const longest = /soak\/long-run/

/** Files that `npm test` leaves to the soak: other files test the same in part. Named on a command line, they run. */
const onlyInSoak = [
  'test/commands/{conformance-interrupted,scenario-explore,start-trace,tail-restarts}.test.ts',
  'test/http/sim/clock-under-load.test.ts',
  'test/pages/guest/{looks,slow-phones,states}.test.ts',
  'test/pages/inspector/{chart,clock-moves,lists}.test.ts',
  'test/shared/{conformance,listen,rolling}.test.ts',
  'test/soak/{closed-loop,stalled-readers}.test.ts',
  'test/store/postgres/slots.test.ts',
]

/** The files in any order, by the seed that is told, but the long ones first: at the end they would run alone. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence
    const placeOf = ({ moduleId }: TestSpecification) =>
      createHash('sha256').update(`${seed} ${moduleId}`).digest('hex')
    const inAnyOrder = [...files].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    const rankOf = ({ moduleId }: TestSpecification) =>
      [longest, long, /$/].findIndex((group) => group.test(moduleId))
    return inAnyOrder.sort((one, other) => rankOf(one) - rankOf(other))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env.npm_lifecycle_event === 'suites' ? onlyInSoak : [])],
    reporters: ['default', new CountReporter()],
    // Half of the tests wait for child processes, so four keep both of two cores busy.
    maxWorkers: availableParallelism() + 2,
    // Files clean up after themselves, and loading everything anew for each takes as long as a third of the tests.
    isolate: false,
    globalSetup: ['test/support/cache-setup.ts', 'test/support/postgres-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    sequence: { shuffle: true, sequencer: LongFilesFirst },
    // Tests that run at once mostly wait for a child process or a foreign service.
    maxConcurrency: 8,
    // A test that starts ten processes takes long on a busy machine, and is none the worse for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
  },
})
