import { exitCodes } from '../errors.ts'

/** Tells the first signal from the second, which ends the process at once. */
export function listenForSignals() {
  let resolve = () => {}
  let raised = false
  const first = new Promise<void>((settle) => (resolve = settle))
  const raise = () => {
    if (raised) process.exit(exitCodes.interrupted)
    raised = true
    resolve()
  }
  return { first, raise }
}
