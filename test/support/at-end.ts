const tasks: (() => Promise<unknown>)[] = []

/** Registers `task`, which undoes what the tests of a file started or created. Data shared between files survives it. */
export function atEnd(task: () => Promise<unknown>): void {
  tasks.push(task)
}

export async function endAll(): Promise<void> {
  for (const task of tasks) await task()
}
