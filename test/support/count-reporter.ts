import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with one plain line of true counts, which any CI can read: `12 passed, 0 failed, 1 skipped`. */
export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      if (!module.ok() && [...module.children.allTests('failed')].length === 0) counts.failed++
    }
    const { passed, failed, skipped } = counts
    process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  }
}
