import { accepts } from './accepts.ts'
import { behaves } from './behaves.ts'
import type { ReceiverCase } from './case.ts'
import { control } from './control.ts'
import { converges } from './converges.ts'
import { refuses } from './refuses.ts'

/** The suite, in the order in which it runs. */
export const receiverCases: readonly ReceiverCase[] = [
  ...control,
  ...accepts,
  ...refuses,
  ...behaves,
  ...converges,
]

/** The cases chosen, and those that the verdicts of all rest on. */
export function withControl(cases: readonly ReceiverCase[]): readonly ReceiverCase[] {
  return [...control, ...cases.filter(({ group }) => group !== 'control')]
}
