/** Makes transactions wait while all records are replaced. */
export interface Gate {
  /** Runs work at once, or after the current replacement. */
  pass<T>(work: () => Promise<T>): Promise<T>
  /** Runs a task; other work waits for it. */
  alone<T>(task: () => Promise<T>): Promise<T>
  /** Resolves when no replacement runs. */
  opened(): Promise<void>
}

export function createGate(): Gate {
  let closed: Promise<void> | undefined
  const opened = async () => {
    while (closed !== undefined) await closed
  }
  return {
    pass: (work) => (closed === undefined ? work() : opened().then(work)),
    async alone(task) {
      await opened()
      const done = task()
      closed = done.then(
        () => void (closed = undefined),
        () => void (closed = undefined),
      )
      return done
    },
    opened,
  }
}
