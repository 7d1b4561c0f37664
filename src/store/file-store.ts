import { open, stat } from 'node:fs/promises'
import { Low } from 'lowdb'
import type { Everything, Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { createChanges } from './snapshot/changes.ts'
import { createCommitQueue, unavailable, type CommitQueue } from './group-commit.ts'
import {
  openDurable,
  prepareDirectory,
  shownDirectory,
  storeFiles,
  type OpenFile,
  type StoreFile,
} from './disk.ts'
import { codeOf, unusable } from './errors.ts'
import { fannedOut } from './tables/fan-out.ts'
import { createFolding, type Copy } from './compaction.ts'
import { createGate } from './gate.ts'
import { createHistory, KEPT_EVENTS } from './retention.ts'
import { openJournals } from './journal/journal.ts'
import { load, type Notice, saveTornTails } from './recover.ts'
import { acquireLock, type Lock } from './lock.ts'
import { emptySnapshot, type Snapshot } from './snapshot/text.ts'
import { snapshotAdapter } from './snapshot/adapter.ts'
import type { Store, DueQuery } from './store.ts'
import { pageOf } from './tables/table.ts'
import { createTables, type RecordCopies, type Tables } from './tables/tables.ts'
import { writesText } from './journal/writes-json.ts'

export interface FileStoreOptions {
  /** Where the files are; it is made when there is none. */
  directory: string
  /** Told what somebody should know though it stops nothing: a torn last line, a fold that failed. */
  onNotice?: Notice
  /** The journal is folded when it is larger than the snapshot, and than this many bytes. */
  foldAtBytes?: number
  /** How many events are kept, with their deliveries; those still on their way are kept beyond it. */
  keepEvents?: number
  /** Opens the files that are written. */
  openFile?: OpenFile
}

/** Folding a smaller journal costs more than the start that it makes faster is worth: 16 MiB are read in 200 ms. */
const FOLD_AT_BYTES = 16 * 1024 * 1024

/**
 * A store in a directory: `db.json`, and in `journal.ndjson` what has changed since. One process at a time.
 * @throws StoreDamaged, DirectoryInUse, DirectoryUnusable
 *
 * @example
 * const store = await openFileStore({ directory: '.tabwire' })
 */
export async function openFileStore(options: FileStoreOptions): Promise<Store> {
  const { directory } = options
  await prepareDirectory(directory)
  let lock: Lock | undefined
  try {
    lock = await acquireLock(directory)
    return await openLocked(options, lock)
  } catch (error) {
    lock?.release()
    throw codeOf(error) === undefined ? error : unusable(shownDirectory(directory), error)
  }
}

async function openLocked(options: FileStoreOptions, lock: Lock): Promise<Store> {
  const { directory, onNotice = () => {}, foldAtBytes = FOLD_AT_BYTES, openFile = open } = options
  const { keepEvents = KEPT_EVENTS } = options
  const files = storeFiles(directory)
  const low = new Low(snapshotAdapter(files.snapshot, openFile), emptySnapshot())
  const changes = createChanges()
  const tables = createTables(changes.put)
  const loaded = await load(low, files, tables, lock.leftOpen)
  await saveTornTails(files, loaded, onNotice)
  const journals = await openJournals(files, loaded, options.openFile ?? openDurable)
  const folding = createFolding({
    journals,
    snapshotSize: await sizeOf(files.snapshot),
    unfinished: loaded.old !== undefined,
    closed: loaded.closed !== false,
    foldAtBytes,
    onNotice,
    async writeSnapshot({ records, forget, isReplacement = false }, sequence, closed) {
      const content = { sequence, closed, records: valuesOf(records) }
      low.data = isReplacement ? content : { ...content, changes }
      await low.write().finally(() => (low.data = emptySnapshot()))
      forget()
      return sizeOf(files.snapshot)
    },
  })
  const copy = (): Copy => ({ records: tables.copy(), forget: changes.begin() })
  /** The last transactions could not be written. */
  let isFull = false
  const queue = createCommitQueue({
    sequence: loaded.sequence,
    undo: tables.apply,
    async write(lines, sequence) {
      const toFold = folding.isWanted() ? copy() : undefined
      const wasFull = isFull
      isFull = true
      await journals.append(lines)
      isFull = false
      if (wasFull) folding.endBackoff()
      if (toFold !== undefined) await folding.begin(toFold, sequence)
    },
  })
  const replaceBy = async (after: Everything) => {
    const { records, install } = await tables.prepare(after)
    await folding
      .replace({ records, forget: changes.begin(), isReplacement: true }, queue.sequence() + 1)
      .catch((error: unknown) => {
        throw unavailable(error)
      })
    queue.skip()
    install()
  }
  return storeUpon(tables, queue, createHistory(tables, keepEvents), replaceBy, async () => {
    await folding.finish(copy(), queue.sequence())
    await journals.close().finally(() => lock.release(journals.size() === 0))
  })
}

/** Answers from memory, once what the answer rests upon is on the disk. */
function storeUpon(
  tables: Tables,
  queue: CommitQueue,
  leaving: () => readonly Write[],
  replaceBy: (after: Everything) => Promise<void>,
  letGo: () => Promise<void>,
): Store {
  const commit = (writes: readonly Write[]) => {
    if (writes.length === 0) return
    const fanned = fannedOut(writes)
    // Serialised first: what JSON cannot hold must not reach memory either.
    const text = writesText(fanned)
    const undo = tables.apply(fanned)
    const old = leaving()
    if (old.length === 0) queue.add(`[${text}]`, undo)
    else queue.add(`[${text},${writesText(old)}]`, [...tables.apply(old), ...undo])
  }
  let closing: Promise<void> | undefined
  const gate = createGate()
  const answer = async <T>(work: () => T, restsUponUnwritten = true): Promise<T> => {
    if (closing !== undefined)
      throw new Refusal('shutting_down', 'The store is closed. Start the service again.')
    try {
      return work()
    } finally {
      if (restsUponUnwritten) await queue.settled()
    }
  }
  const orTouched = (busy: DueQuery['busy']) => ({ has: (id: string) => busy.has(id) || queue.touches(id) })
  return {
    transact: (asks, decide) =>
      gate.pass(() =>
        answer(() => {
          const decision = decide(tables.give(asks))
          commit(decision.writes)
          return decision
        }),
      ),
    get: (collection, id) => answer(() => tables.of(collection).records.get(id), queue.touches(id)),
    find: (collection, lookup, key) => answer(() => [...tables.of(collection).find(lookup, key)]),
    async list(collection, query) {
      // Durable is what the page is begun upon, not what comes while it is searched for.
      const { page } = await answer(() => ({ page: pageOf(tables.of(collection).records, query) }))
      return page
    },
    // What is not yet durable has not yet happened: its commit tells of it.
    due: (query) => answer(() => tables.due({ ...query, busy: orTouched(query.busy) }), false),
    unfinished: (query) => answer(() => tables.unfinished({ ...query, busy: orTouched(query.busy) }), false),
    everything: () => answer(() => tables.all()),
    replace: (make) => gate.alone(async () => replaceBy(make(await answer(() => tables.all())))),
    close: () =>
      (closing ??= gate
        .opened()
        .then(() => queue.settled())
        .catch(() => {})
        .then(letGo)),
  }
}

function valuesOf(records: RecordCopies): Snapshot['records'] {
  const values = Object.entries(records).map(([name, all]) => [
    name,
    // Not what `from` returns, which can be walked once.
    { [Symbol.iterator]: () => all.from()[Symbol.iterator]() },
  ])
  return Object.fromEntries(values) as Snapshot['records']
}

async function sizeOf({ path }: StoreFile): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found?.size ?? 0
}
