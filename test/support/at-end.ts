const tasks: (() => Promise<unknown>)[] = []

/**
 * Registers `task`, which undoes what the tests of a file started or created. Data shared between files survives it. The
 * last task that was registered runs first, since it may need what was there before it.
 */
export function atEnd(task: () => Promise<unknown>): void {
  tasks.push(task)
}

export async function endAll(): Promise<void> {
  for (const task of tasks.toReversed()) await task()
}
