/**
 * Makes a function that runs `task` now, or once more when it is running already, however often it is called meanwhile:
 * what it looked at may have changed since. `task` must not reject.
 */
export function oneAtATime(task: () => Promise<void>): () => void {
  let running = false
  let again = false
  const run = async () => {
    running = true
    do {
      again = false
      await task()
    } while (again)
    running = false
  }
  return () => {
    again = true
    if (!running) void run()
  }
}
