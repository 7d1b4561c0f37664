import { timers } from '../../timers.ts'

/**
 * Calls `action` after `milliseconds`, but first reads what has arrived at sockets: when the timer fires late because the
 * process was suspended or busy, a response may have come in time. The result cancels the deadline.
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
