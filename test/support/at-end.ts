const tasks: (() => Promise<unknown>)[] = []

/** Runs `action` at the end of each test file. Data shared between files survives it. */
export function atEnd(task: () => Promise<unknown>): void {
  tasks.push(task)
}

export async function endAll(): Promise<void> {
  for (const task of tasks) await task()
}
