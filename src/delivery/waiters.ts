/** Those who wait for one and the same thing. */
export interface Waiters<T> {
  wait(): Promise<T>
  /** Takes out those who wait now: whoever comes from here on waits for what comes after. */
  take(): Taken<T>
  release(value: T): void
}

export interface Taken<T> {
  release(value: T): void
  fail(error: unknown): void
  /** They go on waiting, with those who have come meanwhile. */
  putBack(): void
}

export function createWaiters<T>(): Waiters<T> {
  let waiting: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = []
  const take = (): Taken<T> => {
    const taken = waiting
    waiting = []
    return {
      release: (value) => taken.forEach(({ resolve }) => resolve(value)),
      fail: (error) => taken.forEach(({ reject }) => reject(error)),
      putBack: () => void waiting.push(...taken),
    }
  }
  return {
    wait: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    take,
    release: (value) => take().release(value),
  }
}
