import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CountReporter } from './test/support/count-reporter.ts'

/** Files that take longer than five seconds of a processor, or wait for as long. */
const long = new RegExp(
  [
    'cli/scenario/explore[.]',
    'commands/(conformance-interrupted|contract-check|doctor-and-start|exec|faults|first-examples|listen)[.]',
    'commands/(receiver-check|replay|scenario|scenario-explore|start-options|tail|tail-restarts|terminal-widths)[.]',
    'conformance/(contract|receiver)/',
    'delivery/send/send[.]',
    'documented/documented[.]',
    'hostile/(bodies|documented|every-command|stopping)[.]',
    'http/sim/clock-under-load[.]',
    'library/hundred[.]',
    'mcp/(diagnosis|tools)[.]',
    'operations/guests-money[.]',
    'pages/(docs|guest/(looks|page|paying|states)|inspector/)',
    'shared/(chaos|conformance|deliveries|rolling|sandbox-state)[.]',
    'soak/(closed-loop|kill|model|stalled)',
    'store/(damage|lock|namespaces|postgres/slots)[.]',
    'test/(ci-script|github|package|pipelines)[.]',
  ].join('|'),
)

/** The files in any order, by the seed that is told, but the long ones first: at the end they would run alone. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence
    const placeOf = ({ moduleId }: TestSpecification) =>
      createHash('sha256').update(`${seed} ${moduleId}`).digest('hex')
    const inAnyOrder = [...files].sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    const isLong = ({ moduleId }: TestSpecification) => long.test(moduleId)
    return [...inAnyOrder.filter(isLong), ...inAnyOrder.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new CountReporter()],
    // Half of the tests wait for child processes, so three keep both of two cores busy.
    maxWorkers: availableParallelism() + 1,
    // Files clean up after themselves, and loading everything anew for each takes as long as a third of the tests.
    isolate: false,
    globalSetup: ['test/support/postgres-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    sequence: { shuffle: true, sequencer: LongFilesFirst },
    // Tests that run at once mostly wait for a child process or a foreign service.
    maxConcurrency: 8,
    // A test that starts ten processes takes long on a busy machine, and is none the worse for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
  },
})
