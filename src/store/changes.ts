/** Which records are no longer as the snapshot on the disk has them. */
export interface Changes {
  /** The record with this id was put or taken away. */
  add(id: string): void
  has(id: string): boolean
  /**
   * From now on it is noted what a snapshot of this moment will not hold. Once it is on the disk the returned function
   * forgets what came before; when it never gets there, nothing is forgotten.
   */
  begin(): () => void
}

export function createChanges(): Changes {
  let newest = new Set<string>()
  let generations = [newest]
  return {
    add: (id) => void newest.add(id),
    has: (id) => generations.some((ids) => ids.has(id)),
    begin() {
      const before = generations
      newest = new Set()
      generations = [...before, newest]
      return () => {
        generations = generations.filter((ids) => !before.includes(ids))
      }
    },
  }
}
