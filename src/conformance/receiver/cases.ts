import { accepts } from './accepts.ts'
import { behaves } from './behaves.ts'
import type { ReceiverCase } from './case.ts'
import { converges } from './converges.ts'
import { refuses } from './refuses.ts'

/** The suite, in the order in which it runs. */
export const receiverCases: readonly ReceiverCase[] = [...accepts, ...refuses, ...behaves, ...converges]
