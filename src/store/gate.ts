/** Keeps transactions waiting while all records are replaced. */
export interface Gate {
  /** Runs work at once, or when nothing is being replaced any more. */
  pass<T>(work: () => Promise<T>): Promise<T>
  /** Runs a task while all other work waits. */
  alone<T>(task: () => Promise<T>): Promise<T>
  /** Resolves when nothing is being replaced. */
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
