const tasks: (() => Promise<unknown>)[] = []

/**
 * Registers `task`, which undoes what the tests of a file started or created. Data shared between files survives it. The
 * last task that was registered runs first, since it may need what was there before it.
 */
export function atEnd(task: () => Promise<unknown>): void {
  tasks.push(task)
}

/** Runs all tasks. @throws AggregateError when one of them failed. */
export async function endAll(): Promise<void> {
  const errors: unknown[] = []
  for (const task of tasks.toReversed()) await task().catch((error: unknown) => errors.push(error))
  if (errors.length > 0)
    throw new AggregateError(errors, `A test file could not be ended: ${errors.join(', ')}`)
}
