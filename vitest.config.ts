import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CountReporter } from './test/support/count-reporter.ts'

/** Files that take longer than five seconds of a processor, or wait for as long. */
const long =
  /conformance\/(contract|receiver)\/|pages\/(docs|guest\/(looks|page)|inspector\/)|documented\/documented|hostile\/(bodies|every-command|stopping)|ci-script|package\.|soak\/(closed-loop|kill|stalled)|store\/(damage|lock|namespaces)|commands\/(contract-check|doctor-and-start|exec|faults|first-examples|listen|receiver-check|scenario|tail|tail-restarts|terminal-widths)\./

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
    globalSetup: ['test/support/browser-host.ts'],
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
