import { expect, test as plainTest, type TestAPI } from 'vitest'
import type { JsonText } from '../client.ts'
import type { PushInput } from '../model/check.ts'
import type { EventType } from '../model/event.ts'
import {
  type DeliveredOptions,
  type FindingsOptions,
  type SignedOptions,
  toBeSignedBy,
  toHaveDelivered,
  toHaveNoFindings,
} from './matchers.ts'
import { toConverge, type ConvergeOptions } from './to-converge.ts'
import { createSimulator, type Simulator } from '../library.ts'
import type { SimulatorOptions } from '../simulator.ts'

export type { FindingsOptions, ReceivedDelivery, SignedOptions, DeliveredOptions } from './matchers.ts'
export type { ConvergeOptions } from './to-converge.ts'

/** Matchers that `expect` has after this import. Each must be awaited. */
export interface SimulatorMatchers {
  /**
   * Asserts that the simulator delivers such an event before the timeout; with `times`, exactly that often.
   * @example
   * await expect(simulator).toHaveDelivered('check.fully_paid', { check: 'table-12', times: 1 })
   */
  toHaveDelivered(type: EventType | 'ping', options?: DeliveredOptions): Promise<void>
  /**
   * Asserts that these pushes of one check, or all that the simulator has received, end in one state, also in other orders
   * and repeated.
   * @example
   * await expect(simulator).toConverge()
   */
  toConverge(pushes?: readonly (PushInput | JsonText)[], options?: ConvergeOptions): Promise<void>
  /**
   * Asserts that the pushes that the simulator has received have no findings.
   * @example
   * await expect(simulator).toHaveNoFindings({ except: ['totals_mismatch'] })
   */
  toHaveNoFindings(options?: FindingsOptions): Promise<void>
  /**
   * Asserts that a received request has a current signature of exactly its bytes with this secret.
   * @example
   * await expect({ headers: request.headers, body: rawBody }).toBeSignedBy(signing_secret)
   */
  toBeSignedBy(secret: string, options?: SignedOptions): Promise<void>
}

// Vitest's own interface of matchers has other type parameters in each major version. All of them extend this one.
declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Chai's types are a global namespace.
  namespace Chai {
    // oxlint-disable-next-line typescript/no-empty-object-type -- This is how an interface is added to.
    interface Assertion extends SimulatorMatchers {}
  }
}

expect.extend({ toBeSignedBy, toConverge, toHaveDelivered, toHaveNoFindings })

/** Fixtures; each is started for the tests that use it, and closed afterwards. */
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
