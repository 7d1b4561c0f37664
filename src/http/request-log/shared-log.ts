import type { Check } from '../../model/check.ts'
import type { SavedLog } from '../../model/simulator/bundle.ts'
import type { RequestRow, RequestRows } from '../../model/simulator/request-entry.ts'
import type { Service } from '../../service.ts'
import { timers } from '../../timers.ts'
import { withoutSecrets } from '../redact.ts'
import type { RequestEntry } from '../request-context.ts'
import {
  type AddListener,
  createRequestLog,
  type LocalLog,
  type LogParts,
  type RequestLog,
  sizeOf,
} from './log.ts'

/** An input of the log: a request, or the state of a check after a push that is not logged. */
type Input = { request: RequestEntry } | { applied: Check }

/** An input that is to be stored, with the state of the records when it came. */
interface Unstored {
  id: string
  generation: number
  sequence: number
  input: Input
}

interface Waiting extends Unstored {
  /** Called when the answer may be sent. */
  written: () => void
}

interface SharedLogParts extends Omit<LogParts, 'service' | 'saved' | 'numbers'> {
  service: Pick<Service, 'onCommit' | 'list' | 'generation' | 'sequence' | 'bringUpToDate'>
  rows: RequestRows
  /** Returns a text that no other instance uses. */
  newId: () => string
  /** Receives errors of single inputs: unreadable rows, such as those of another version, and bugs of the log. */
  onError: (error: unknown) => void
}

/** Limits of the requests that wait for the database. The oldest are dropped. */
const MOST_WAITING = { requests: 10_000, characters: 16 * 1024 * 1024 }
/** Most requests, and about the most characters, of one statement. */
const BATCH = { requests: 256, characters: 4 * 1024 * 1024 }
/** Most milliseconds that an answer waits until its request is stored, and that a read of the log waits for earlier ones. */
const WRITE_WAIT_MS = { answer: 250, read: 2_000 }
/** Milliseconds between two reads of the requests of all instances: after a request of this one, and without. */
const READ_MS = { soon: 50, later: 250 }
/** Milliseconds until a failed statement is repeated. */
const RETRY_MS = 250
/** Requests, and characters of them, after which a checkpoint is made. */
const CHECKPOINT = { requests: 5_000, characters: 64 * 1024 * 1024 }
/** Checks whose current state an instance reads at its start: as many as the log watches. */
const WATCHED_CHECKS = 1_000

/**
 * Opens the request log of a shared sandbox. Each instance writes its requests to the database. In the order of the
 * database, it feeds the requests of all instances into a log in memory. So all instances have the same entries and findings.
 * An answer is sent once its request is stored: what a client does next has a higher number, at whichever instance.
 * @throws Refusal `storage_unavailable`.
 */
export async function openSharedLog({
  service,
  rows,
  newId,
  onError,
  ...parts
}: SharedLogParts): Promise<RequestLog> {
  const listeners = new Set<AddListener>()
  /** Inputs of this instance that are not in the log yet, by id. */
  const own = new Map<string, Input>()
  const queue = createWriteQueue(rows, { onStored: readSoon, onDropped: (id) => own.delete(id) })
  let closed = false
  /** Number of the last row that the log has, and of the newest checkpoint. */
  let lastRow = 0
  let checkpoint = 0
  /** Id of the last row; `undefined` at a checkpoint. */
  let lastId: string | undefined
  let charactersSince = 0
  /** True when the log must start again, such as after this instance has read all records again: that empties the log. */
  let isOutdated = false
  let generation = service.generation()
  const unsubscribe = service.onCommit((_writes, kind) => {
    if (kind === 'replacement' && generation === service.generation()) isOutdated = true
    generation = service.generation()
  })
  let log = await restart()

  /** Returns the log as of the checkpoint. When that fails, the log stays as it is. */
  async function restart(outdated?: LocalLog) {
    // A restarted log reads requests again that listeners have. A database that crashed gives their numbers again.
    const [oldest = 0] = outdated?.numbers() ?? []
    const known = new Set(outdated?.after(oldest - 1)?.map(({ id }) => id))
    const found = await rows.checkpoint()
    isOutdated = false
    const isCurrent = found !== undefined && found.generation === service.generation()
    const saved = isCurrent ? (JSON.parse(found.doc) as { log: SavedLog; numbers: number[] }) : undefined
    const started = createRequestLog({ service, ...parts, saved: saved?.log, numbers: saved?.numbers })
    started.onAdd((request) => {
      if (request.number < oldest || known.has(request.id)) return
      for (const listener of listeners) listener(request)
    })
    try {
      // The current checks, whose changes before the start the log has not seen.
      const { data } = await service.list('checks', { limit: WATCHED_CHECKS })
      started.catchUp(data.toReversed())
    } catch (error) {
      isOutdated = true
      await started.close()
      throw error
    }
    lastRow = found?.number ?? 0
    lastId = undefined
    return started
  }

  /** Adds an input to the log. One that the log cannot take is reported, and does not keep it from the next ones. */
  function put(id: string, number: number, doc: string | null): void {
    try {
      const input = own.get(id) ?? (doc === null ? undefined : (JSON.parse(doc) as Input))
      if (input === undefined) return
      charactersSince += inputSize(input)
      if ('request' in input) log.add(input.request, number)
      else log.applied(input.applied)
    } catch (error) {
      onError(error)
    }
  }

  /** Feeds the log with everything that is stored. */
  async function readPages(): Promise<void> {
    for (;;) {
      const page = await rows.after(lastRow)
      // A crash of the server empties the table, and numbers are given again.
      isOutdated ||= page.isLost || (lastId !== undefined && page.lastId !== lastId)
      if (isOutdated) {
        const outdated = log
        log = await restart(outdated)
        await outdated.close()
        continue
      }
      if (page.checkpoint > checkpoint) charactersSince = 0
      checkpoint = Math.max(checkpoint, page.checkpoint)
      const isBehind = (row: { generation: number; sequence: number }) =>
        row.generation > service.generation() || row.sequence > service.sequence()
      // A log has the commit of a push before its request.
      if (page.generation > service.generation() || page.rows.some(isBehind)) await service.bringUpToDate()
      for (const { doc, id, number, ...place } of page.rows) {
        // Requests from before a replacement of all records refer to checks that no longer exist.
        if (place.generation === service.generation()) put(id, number, doc)
        own.delete(id)
        lastRow = number
        lastId = id
      }
      if (!page.more) return
    }
  }

  let reading: Promise<void> = Promise.resolve()
  let nextRead: Promise<void> | undefined
  /** Reads once more, after the current read, whose caller gets its error. */
  function read(): Promise<void> {
    nextRead ??= reading
      .catch(() => {})
      .then(() => {
        nextRead = undefined
        reading = readPages()
        return reading
      })
    return nextRead
  }

  let timer: NodeJS.Timeout | undefined
  let isSoon = false
  const plan = (ms: number) => {
    timers.clearTimeout(timer)
    timer = timers.setTimeout(() => void poll(), ms)
    timer.unref()
  }
  async function poll(): Promise<void> {
    isSoon = false
    // Without the database, the next poll reads and saves.
    await read()
      .then(saveCheckpoint)
      .catch(() => {})
    if (!closed && !isSoon) plan(READ_MS.later)
  }
  function readSoon(): void {
    if (isSoon || closed) return
    isSoon = true
    plan(READ_MS.soon)
  }

  async function saveCheckpoint(): Promise<void> {
    if (lastRow - checkpoint < CHECKPOINT.requests && charactersSince < CHECKPOINT.characters) return
    const number = lastRow
    const doc = JSON.stringify({ log: log.save(), numbers: log.numbers() })
    await rows.keep({ number, generation: service.generation(), doc })
    checkpoint = Math.max(checkpoint, number)
    charactersSince = 0
  }

  function enqueue(id: string, input: Input): Promise<void> | undefined {
    own.set(id, input)
    return queue.add({ id, input, generation: service.generation(), sequence: service.sequence() })
  }

  await readPages()
  plan(READ_MS.later)
  return {
    add(entry) {
      const kept = withoutSecrets(entry)
      return enqueue(kept.id, { request: kept })
    },
    applied(check) {
      void enqueue(newId(), { applied: check })
    },
    async bringUpToDate() {
      await queue.stored()
      await read()
    },
    get: (id) => log.get(id),
    list: (query) => log.list(query),
    report: (since, at) => log.report(since, at),
    accounted: (at) => log.accounted(at),
    save: () => log.save(),
    newest: () => log.newest(),
    after: (number) => log.after(number),
    onAdd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      timers.clearTimeout(timer)
      unsubscribe()
      await Promise.all([queue.close(), reading.catch(() => {})])
      await log.close()
    },
  }
}

/** Inputs on their way to the database, in order. */
interface WriteQueue {
  /** Resolves when the input is stored, or after the wait of an answer. Returns `undefined` while the database is away. */
  add(input: Unstored): Promise<void> | undefined
  /** Resolves when all inputs so far are stored, after the wait of a read, or when the database is away. */
  stored(): Promise<void>
  /** Stores what waits, unless the database is away. */
  close(): Promise<void>
}

/**
 * Creates the queue of inputs that this instance stores. A failed statement is repeated. Above MOST_WAITING, the oldest
 * inputs are dropped.
 */
function createWriteQueue(
  rows: Pick<RequestRows, 'append'>,
  { onStored, onDropped }: { onStored: () => void; onDropped: (id: string) => void },
): WriteQueue {
  const queue: Waiting[] = []
  /** Taken from the queue, and being stored. */
  let batch: readonly Waiting[] = []
  let characters = 0
  let isAway = false
  let closed = false
  let writing: Promise<void> | undefined

  function takeBatch(): Waiting[] {
    let size = 0
    const end = queue.findIndex(
      ({ input }, index) => index === BATCH.requests || (size += inputSize(input)) > BATCH.characters,
    )
    return queue.splice(0, end === -1 ? queue.length : Math.max(1, end))
  }

  function write(): void {
    writing ??= writeAll().finally(() => {
      writing = undefined
      // An answered client may have sent its next request by now.
      if (queue.length > 0 && !closed) write()
    })
  }

  /** Stores what waits. What came meanwhile is the next batch. */
  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      // Requests of one commit are answered together, and stored together.
      await timers.nextTurn()
      batch = takeBatch()
      try {
        await rows.append(batch.map(rowOf))
        isAway = false
        for (const { input, written } of batch) {
          characters -= inputSize(input)
          written()
        }
        batch = []
        onStored()
      } catch {
        isAway = true
        queue.unshift(...batch)
        batch = []
        for (const { written } of queue) written()
        if (closed) return
        trim()
        // The timer keeps the process alive: at a shutdown without the database, nothing else may.
        await timers.sleep(RETRY_MS)
      }
    }
  }

  function trim(): void {
    while (queue.length > MOST_WAITING.requests || characters > MOST_WAITING.characters) drop(queue.shift())
  }

  function drop(waiting: Waiting | undefined): void {
    if (waiting === undefined) return
    characters -= inputSize(waiting.input)
    onDropped(waiting.id)
    waiting.written()
  }

  /** Resolves when an input is stored, when the database is away, or after `mostMs`. */
  function whenWritten(waiting: Waiting, mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const late = timers.setTimeout(resolve, mostMs)
      const before = waiting.written
      waiting.written = () => {
        before()
        timers.clearTimeout(late)
        resolve()
      }
    })
  }

  return {
    add(unstored) {
      const waiting: Waiting = { ...unstored, written() {} }
      queue.push(waiting)
      characters += inputSize(waiting.input)
      trim()
      const done = isAway ? undefined : whenWritten(waiting, WRITE_WAIT_MS.answer)
      write()
      return done
    },
    async stored() {
      const newest = queue.at(-1) ?? batch.at(-1)
      if (newest !== undefined) await whenWritten(newest, WRITE_WAIT_MS.read)
    },
    async close() {
      closed = true
      await writing
    },
  }
}

function rowOf({ id, generation, sequence, input }: Waiting): RequestRow {
  return { id, generation, sequence, doc: JSON.stringify(input) }
}

/** Characters of a request's bodies; 0 for the state of a check. */
function inputSize(input: Input): number {
  return 'applied' in input ? 0 : sizeOf(input.request)
}
