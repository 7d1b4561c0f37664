import { test as plainTest, type TestAPI } from 'vitest'
import { createSimulator, type Simulator } from '../library/create-simulator.ts'
import type { SimulatorOptions } from '../simulator.ts'

/** What tests are given; each is started for those that ask for it, and closed behind them. */
export interface SimulatorFixtures {
  /** One of this test's own. */
  simulator: Simulator
  /** One for all tests of the file that ask for it. */
  fileSimulator: Simulator
}

type Fixture = (context: object, use: (simulator: Simulator) => Promise<void>) => Promise<void>

/**
 * Makes the fixtures for a `test.extend` of your own.
 * @default options is {}
 * @example
 * const test = base.extend<SimulatorFixtures & Mine>({ ...simulatorFixtures({ strict: true }), mine })
 */
export function simulatorFixtures(options: SimulatorOptions = {}): {
  simulator: Fixture
  fileSimulator: [Fixture, { scope: 'file' }]
} {
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads from a fixture's text what it asks for.
  const fixture: Fixture = async ({}, use) => {
    const simulator = await createSimulator(options)
    try {
      await use(simulator)
    } finally {
      await simulator.close()
    }
  }
  return { simulator: fixture, fileSimulator: [fixture, { scope: 'file' }] }
}

/**
 * Makes Vitest's `test` with a simulator for each test that asks for one.
 * @default options is {}
 * @example
 * const test = simulatorTest({ allowHttpLoopback: true })
 * test('takes a check', async ({ simulator }) => {
 *   await app.syncTable('12', simulator.baseUrl, simulator.apiKey)
 *   await expect(simulator).toHaveDelivered('check.created', { check: 'table-12' })
 * })
 */
export function simulatorTest(options: SimulatorOptions = {}): TestAPI<SimulatorFixtures> {
  return plainTest.extend<SimulatorFixtures>(simulatorFixtures(options))
}
