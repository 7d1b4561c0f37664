import { timers } from '../timers.ts'

/**
 * Makes a function that has `task` run before the next turn of the event loop, once however often it is called until
 * then; called while it runs, once more afterwards: what it looked at may have changed. `task` must not reject.
 */
export function oncePerTurn(task: () => Promise<void>): () => void {
  let wanted = false
  let planned = false
  const run = async () => {
    wanted = false
    await task()
    planned = wanted
    if (planned) plan()
  }
  const plan = () => timers.setImmediate(() => void run())
  return () => {
    wanted = true
    if (planned) return
    planned = true
    plan()
  }
}
