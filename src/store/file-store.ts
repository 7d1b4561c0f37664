import { open, stat } from 'node:fs/promises'
import { Low } from 'lowdb'
import type { Everything, Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { createCommits, type OnBatch, createGate } from './commits.ts'
import { createChanges } from './snapshot/changes.ts'
import { createGroupCommit, unavailable, type GroupCommit } from './group-commit.ts'
import {
  openDurable,
  prepareDirectory,
  shownDirectory,
  storeFiles,
  type OpenFile,
  type StoreFile,
} from './disk.ts'
import { codeOf, unusable } from './errors.ts'
import { createCompaction, type Copy } from './compaction.ts'
import { createRetention, KEPT_EVENTS } from './retention.ts'
import { openJournal } from './journal/journal.ts'
import { recover, type OnNotice, saveTornLines } from './recover.ts'
import { acquireLock, type Lock } from './lock.ts'
import { emptySnapshot, type Snapshot } from './snapshot/text.ts'
import { snapshotAdapter } from './snapshot/adapter.ts'
import type { Store, DueQuery } from './store.ts'
import { pageOf } from './tables/table.ts'
import { createTables, type RecordCopies, type Tables } from './tables/tables.ts'
import { writesJson } from './journal/line.ts'
import { ReplacedNotSynced } from '../replace-file.ts'

export interface FileStoreOptions {
  /** Directory of the files; created if it is missing. */
  directory: string
  /** Receives messages about problems that do not stop the service: a torn last line, a failed compaction. */
  onNotice?: OnNotice
  /** The journal is compacted when it exceeds both this many bytes and the snapshot. */
  compactAtBytes?: number
  /** Events kept, with their deliveries; events with pending deliveries are kept in any case. */
  keepEvents?: number
  onBatch?: OnBatch
  /** Opens the files that are written. */
  openFile?: OpenFile
}

/** A start reads 16 MiB in 200 ms; compacting a smaller journal costs more than it saves. */
const COMPACT_AT_BYTES = 16 * 1024 * 1024

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
  const { directory, onNotice = () => {}, compactAtBytes = COMPACT_AT_BYTES, openFile = open } = options
  const { keepEvents = KEPT_EVENTS } = options
  const files = storeFiles(directory)
  const low = new Low(snapshotAdapter(files.snapshot, openFile), emptySnapshot())
  const changes = createChanges()
  const tables = createTables(changes.put)
  const recovered = await recover(low, files, tables, lock.leftOpen)
  await saveTornLines(files, recovered, onNotice)
  const journals = await openJournal(files, recovered, options.openFile ?? openDurable, lock.requireHeld)
  const compaction = createCompaction({
    journals,
    snapshotSize: await sizeOf(files.snapshot),
    unfinished: recovered.old !== undefined,
    closed: recovered.closed !== false,
    compactAtBytes,
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
  /** True while the last transactions could not be written. */
  let lastWriteFailed = false
  /** Set while it is unknown which records the disk holds, so that no transaction can follow them. */
  let notSynced: ReplacedNotSynced | undefined
  const groupCommit = createGroupCommit({
    sequence: recovered.sequence,
    undo: tables.apply,
    onBatch: options.onBatch,
    async write(lines, sequence) {
      if (notSynced !== undefined) throw notSynced
      // Not while writes fail: nothing would end the copies.
      const toCompact = !lastWriteFailed && compaction.isWanted() ? copy() : undefined
      const failedBefore = lastWriteFailed
      lastWriteFailed = true
      await journals.append(lines)
      lastWriteFailed = false
      if (failedBefore) compaction.endBackoff()
      if (toCompact !== undefined) await compaction.begin(toCompact, sequence)
    },
  })
  const replaceBy = async (after: Everything) => {
    const { records, install } = await tables.prepare(after)
    await compaction
      .replace({ records, forget: changes.begin(), isReplacement: true }, groupCommit.sequence() + 1)
      .catch((error: unknown) => {
        if (error instanceof ReplacedNotSynced) notSynced = error
        throw unavailable(error)
      })
    notSynced = undefined
    groupCommit.skip()
    install()
    return after
  }
  return storeOver(tables, groupCommit, createRetention(tables, keepEvents), replaceBy, async () => {
    await compaction.finish(copy(), groupCommit.sequence())
    await journals.close().finally(() => lock.release(journals.size() === 0))
  })
}

/** Answers from memory, once the records that an answer depends on are durable. */
function storeOver(
  tables: Tables,
  queue: GroupCommit,
  expire: () => readonly Write[],
  replaceBy: (after: Everything) => Promise<Everything>,
  release: () => Promise<void>,
): Store {
  const commit = (writes: readonly Write[]) => {
    if (writes.length === 0) return
    // Serialised first, so that values that JSON cannot hold do not reach memory.
    const text = writesJson(writes)
    const undo = tables.apply(writes)
    const expired = expire()
    if (expired.length === 0) queue.add(`[${text}]`, undo)
    else queue.add(`[${text},${writesJson(expired)}]`, [...tables.apply(expired), ...undo])
  }
  let closing: Promise<void> | undefined
  const gate = createGate()
  const { announce, replaced, ...commits } = createCommits()
  const answer = async <T>(work: () => T, awaitDurable = true): Promise<T> => {
    if (closing !== undefined)
      throw new Refusal('shutting_down', 'The store is closed. Start the service again.')
    try {
      return work()
    } finally {
      if (awaitDurable) await queue.flushed()
    }
  }
  const end = async () => {
    while (gate.closed !== undefined) await gate.closed
    await queue.flushed().catch(() => {}) // The callers of these transactions get the refusal.
    await release()
  }
  const orUnwritten = (isBusy: DueQuery['isBusy']) => (id: string) =>
    isBusy?.(id) === true || queue.isUnwritten(id)
  return {
    ...commits,
    async transact(reads, decide) {
      while (gate.closed !== undefined) await gate.closed
      const decision = await answer(() => {
        const decided = decide(tables.read(reads), commits.generation())
        commit(decided.writes)
        return decided
      })
      if (decision.writes.length > 0) announce(decision.writes)
      return decision
    },
    get: (collection, id) => answer(() => tables.of(collection).records.get(id), queue.isUnwritten(id)),
    find: (collection, index, key) => answer(() => [...tables.of(collection).find(index, key)]),
    async list(collection, query) {
      // Read before the flush, so all its records are durable.
      const { page } = await answer(() => ({ page: pageOf(tables.of(collection).records, query) }))
      return page
    },
    // Changes that are not durable yet do not count; their commit is announced.
    due: (query) => answer(() => tables.due({ ...query, isBusy: orUnwritten(query.isBusy) }), false),
    unfinished: (query) =>
      answer(() => tables.unfinished({ ...query, isBusy: orUnwritten(query.isBusy) }), false),
    everything: () => answer(() => tables.all()),
    replace: (make) =>
      gate.alone(() => replaced(answer(() => tables.all()).then((all) => replaceBy(make(all))))),
    close: () => (closing ??= end()),
  }
}

function valuesOf(records: RecordCopies): Snapshot['records'] {
  const values = Object.entries(records).map(([name, all]) => [
    name,
    // Iterable more than once, unlike the result of `values`.
    { [Symbol.iterator]: () => all.values()[Symbol.iterator]() },
  ])
  return Object.fromEntries(values) as Snapshot['records']
}

async function sizeOf({ path }: StoreFile): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found?.size ?? 0
}
