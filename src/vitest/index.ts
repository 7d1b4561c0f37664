import { expect } from 'vitest'
import type { JsonText } from '../client.ts'
import type { PushInput } from '../model/check.ts'
import type { EventType } from '../model/event.ts'
import { toBeSignedBy, type SignedOptions } from './matchers/to-be-signed-by.ts'
import { toConverge, type ConvergeOptions } from './matchers/to-converge.ts'
import { toHaveDelivered, type DeliveredOptions } from './matchers/to-have-delivered.ts'
import { toHaveNoFindings, type FindingsOptions } from './matchers/to-have-no-findings.ts'

export { simulatorFixtures, simulatorTest, type SimulatorFixtures } from './fixtures.ts'
export type { ReceivedDelivery, SignedOptions } from './matchers/to-be-signed-by.ts'
export type { ConvergeOptions } from './matchers/to-converge.ts'
export type { DeliveredOptions } from './matchers/to-have-delivered.ts'
export type { FindingsOptions } from './matchers/to-have-no-findings.ts'

/** What `expect` knows once this module is imported. Each must be awaited. */
export interface SimulatorMatchers {
  /**
   * The simulator has delivered such an event, or does so in time; with `times`, so often and no more.
   * @example
   * await expect(simulator).toHaveDelivered('check.fully_paid', { check: 'table-12', times: 1 })
   */
  toHaveDelivered(type: EventType | 'ping', options?: DeliveredOptions): Promise<void>
  /**
   * These pushes of one check, or all that the simulator has received, end in one state in any order and repeated.
   * @example
   * await expect(simulator).toConverge()
   */
  toConverge(pushes?: readonly (PushInput | JsonText)[], options?: ConvergeOptions): Promise<void>
  /**
   * Nothing is wrong with the pushes that the simulator has received.
   * @example
   * await expect(simulator).toHaveNoFindings({ except: ['totals_mismatch'] })
   */
  toHaveNoFindings(options?: FindingsOptions): Promise<void>
  /**
   * A received request bears a signature of this secret, over exactly these bytes, of about now.
   * @example
   * await expect({ headers: request.headers, body: rawBody }).toBeSignedBy(signing_secret)
   */
  toBeSignedBy(secret: string, options?: SignedOptions): Promise<void>
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- This is how Vitest's own is added to.
  interface Matchers<T> extends SimulatorMatchers {}
}

expect.extend({ toBeSignedBy, toConverge, toHaveDelivered, toHaveNoFindings })
