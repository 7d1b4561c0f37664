import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { CountReporter } from './test/support/count-reporter.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new CountReporter()],
    // Half of the tests wait for child processes, so three keep both of two cores busy.
    maxWorkers: availableParallelism() + 1,
    // Files clean up after themselves, and loading everything anew for each takes as long as a third of the tests.
    isolate: false,
    setupFiles: ['test/support/setup.ts'],
    sequence: { shuffle: true },
    // Tests that run at once mostly wait for a child process or a foreign service.
    maxConcurrency: 8,
    // A test that starts ten processes takes long on a busy machine, and is none the worse for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
  },
})
