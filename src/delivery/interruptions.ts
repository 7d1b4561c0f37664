/** Keeps others from beginning while something is done that they must not see half done. */
export function createInterruptions() {
  let current: Promise<void> | undefined
  let begun = 0
  return {
    /** Resolves when it is over; `undefined` when there is none. */
    underWay: () => current,
    /** How many there have been, so that who waited for something else can tell whether one came and went. */
    begun: () => begun,
    async during(work: () => Promise<void>): Promise<void> {
      begun += 1
      const done = work()
      const over = done.catch(() => {})
      current = over
      try {
        await done
      } finally {
        if (current === over) current = undefined
      }
    },
  }
}
