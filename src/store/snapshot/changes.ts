import type { CollectionName } from '../../model/records.ts'

/**
 * Tracks which records differ from the snapshot on disk, so that compaction copies the lines of all others. When it serialises
 * every record, the longest wait of a push with 100,000 checks stored rises from 150 to 380 ms.
 */
export interface Changes {
  /** Notes a record that was put, `isNew` when there was none of its id. Removals need no note. */
  put(collection: CollectionName, id: string, isNew: boolean): void
  has(collection: CollectionName, id: string): boolean
  /**
   * Starts a change set for a snapshot of this moment. Call the result once the snapshot is on disk, to forget the changes
   * before it.
   */
  begin(): () => void
}

/**
 * Changes since one moment. Ids sort by creation time, so the first new id stands for all later ones. After the clock was
 * set back, unchanged records may count as changed.
 */
interface ChangeSet {
  firstNew: Map<CollectionName, string>
  replaced: Set<string>
}

export function createChanges(): Changes {
  let newest = newChangeSet()
  let sets = [newest]
  return {
    put(collection, id, isNew) {
      if (isNewIn(newest, collection, id)) return
      if (isNew) newest.firstNew.set(collection, id)
      else newest.replaced.add(id)
    },
    has: (collection, id) => sets.some((one) => isNewIn(one, collection, id) || one.replaced.has(id)),
    begin() {
      const before = sets
      newest = newChangeSet()
      sets = [...before, newest]
      return () => {
        sets = sets.filter((one) => !before.includes(one))
      }
    },
  }
}

function newChangeSet(): ChangeSet {
  return { firstNew: new Map(), replaced: new Set() }
}

function isNewIn({ firstNew }: ChangeSet, collection: CollectionName, id: string): boolean {
  const first = firstNew.get(collection)
  return first !== undefined && id >= first
}
