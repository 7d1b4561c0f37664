import type { CollectionName } from '../../model/records.ts'

/** Which records are no longer as the snapshot on the disk has them. */
export interface Changes {
  /** A record was put: a `fresh` one, or in the place of one that was there. One taken away is not asked for again. */
  put(collection: CollectionName, id: string, fresh: boolean): void
  has(collection: CollectionName, id: string): boolean
  /**
   * From now on it is noted what a snapshot of this moment will not hold. Once it is on the disk the returned function
   * forgets what came before; when it never gets there, nothing is forgotten.
   */
  begin(): () => void
}

/**
 * What has changed since one moment. Identifiers sort by the time of their making, so of all that is fresh the first is
 * noted; where a clock was set back, more counts as changed than is.
 */
interface Generation {
  firstFresh: Map<CollectionName, string>
  replaced: Set<string>
}

export function createChanges(): Changes {
  let newest = newGeneration()
  let generations = [newest]
  return {
    put(collection, id, fresh) {
      if (isFresh(newest, collection, id)) return
      if (fresh) newest.firstFresh.set(collection, id)
      else newest.replaced.add(id)
    },
    has: (collection, id) => generations.some((one) => isFresh(one, collection, id) || one.replaced.has(id)),
    begin() {
      const before = generations
      newest = newGeneration()
      generations = [...before, newest]
      return () => {
        generations = generations.filter((one) => !before.includes(one))
      }
    },
  }
}

function newGeneration(): Generation {
  return { firstFresh: new Map(), replaced: new Set() }
}

function isFresh({ firstFresh }: Generation, collection: CollectionName, id: string): boolean {
  const first = firstFresh.get(collection)
  return first !== undefined && id >= first
}
