const tasks: (() => Promise<unknown>)[] = []

/**
 * Has something done whenever the tests of a file are over: what they share with other files outlives them, but not what
 * they have started and made.
 */
export function atEnd(task: () => Promise<unknown>): void {
  tasks.push(task)
}

export async function endAll(): Promise<void> {
  for (const task of tasks) await task()
}
