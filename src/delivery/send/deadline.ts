import { timers } from '../../timers.ts'

/**
 * Calls `action` after so many milliseconds, once what has already arrived at sockets is read: when a timer fires late
 * (the process was stopped, or busy), an answer may have been there in time. The result ends the wait.
 */
export function setDeadline(action: () => void, milliseconds: number): () => void {
  let turn: NodeJS.Immediate | undefined
  // Timers fire before sockets are read, immediates after that.
  const timer = timers.setTimeout(() => (turn = timers.setImmediate(action)), milliseconds)
  return () => {
    timers.clearTimeout(timer)
    timers.clearImmediate(turn)
  }
}
