import { defineConfig } from 'vitest/config'
import { CountReporter } from './test/support/count-reporter.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', new CountReporter()],
    sequence: { shuffle: true },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    restoreMocks: true,
  },
})
