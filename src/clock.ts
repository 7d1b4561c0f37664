/** The time that the service lives by. Deliveries are signed with real time, everything else follows this clock. */
export interface Clock {
  now(): Date
  /** Runs `task` once, at `time` or soon after; the returned function takes that back. */
  at(time: Date, task: () => void): () => void
}

/** setTimeout fires at once for anything longer (2³¹ − 1 ms, 24.8 days), so longer waits are made of several. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** The machine's own time. A pending task does not keep the process alive. */
export const systemClock: Clock = {
  now: () => new Date(),
  at(time, task) {
    let timer: NodeJS.Timeout
    const wait = () => {
      const left = time.getTime() - Date.now()
      timer = setTimeout(
        left > LONGEST_TIMEOUT_MS ? wait : task,
        Math.min(Math.max(left, 0), LONGEST_TIMEOUT_MS),
      )
      timer.unref()
    }
    wait()
    return () => clearTimeout(timer)
  },
}
