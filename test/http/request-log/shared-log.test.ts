import { describe, expect, it, onTestFinished } from 'vitest'
import type { RequestEntry } from '../../../src/http/request-context.ts'
import { openSharedLog } from '../../../src/http/request-log/shared-log.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import { requestEntry } from '../../support/request-log.ts'
import type {
  RequestRow,
  RequestCheckpoint,
  RequestRows,
} from '../../../src/model/simulator/request-entry.ts'

/** The rows of a database that can be away. */
function openRows() {
  const stored: (RequestRow & { number: number })[] = []
  const ids = new Set<string>()
  let saved: RequestCheckpoint | undefined
  let removed = 0
  let number = 0
  const database = { isAway: false, failures: 0 }
  const reachable = () => {
    if (!database.isAway) return
    database.failures += 1
    throw new Refusal('storage_unavailable', 'The database cannot be used.')
  }
  const rows: RequestRows = {
    async append(added) {
      reachable()
      for (const row of added) {
        number += 1
        if (!ids.has(row.id)) stored.push({ ...row, number })
        ids.add(row.id)
      }
    },
    async after(last) {
      reachable()
      const page = stored.slice(stored.findLastIndex((row) => row.number <= last) + 1).slice(0, 500)
      const lastId = stored.find((row) => row.number === last)?.id
      const rest = { generation: 0, lastId, checkpoint: saved?.number ?? 0 }
      return { rows: page, more: page.length === 500, isLost: last < removed, ...rest }
    },
    async checkpoint() {
      reachable()
      return saved
    },
    async keep(checkpoint) {
      reachable()
      removed = saved?.number ?? 0
      saved = checkpoint
      stored.splice(0, stored.findLastIndex((row) => row.number <= removed) + 1)
    },
  }
  /** Loses the last row, as a crash does, whose number is given again. */
  const lose = () => {
    stored.pop()
    number = stored.at(-1)?.number ?? 0
  }
  return { rows, stored, database, lose, saved: () => saved }
}

async function openLog(
  { rows }: Pick<ReturnType<typeof openRows>, 'rows'>,
  readChecks = () => {},
  onError: (error: unknown) => void = (error) => expect.unreachable(String(error)),
) {
  const log = await openSharedLog({
    rows,
    onError,
    clock: { now: () => new Date() },
    newId: () => 'state',
    service: {
      onCommit: () => () => undefined,
      async list() {
        readChecks()
        return { data: [], more: false }
      },
      generation: () => 0,
      sequence: () => 0,
      bringUpToDate: async () => undefined,
    },
  })
  onTestFinished(() => log.close())
  return log
}

/** Opens a log whose rows are stored once `store` is called. */
async function openHeldLog() {
  const { rows } = openRows()
  let store = () => {}
  const stored = new Promise<void>((resolve) => (store = resolve))
  const append: RequestRows['append'] = async (added) => {
    await stored
    return rows.append(added)
  }
  return { log: await openLog({ rows: { ...rows, append } }), store: () => store() }
}

function entry(number: number, about: Partial<RequestEntry> = {}): RequestEntry {
  return requestEntry({ id: `req_${String(number).padStart(6, '0')}`, ...about })
}

const refused = (number: number) =>
  entry(number, {
    method: 'PUT',
    path: `/v1/checks/external/check-${number}`,
    status: 422,
    request_body: '{}',
    response_body: '{"error":{"code":"validation_failed","message":"No."}}',
  })

/** Waits for a condition that other work makes true. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

describe('the request log of a shared sandbox', () => {
  it('has one order at all instances, which is that of the database', async () => {
    const shared = openRows()
    const logs = [await openLog(shared), await openLog(shared)]
    const told: string[][] = [[], []]
    for (const [index, log] of logs.entries()) log.onAdd(({ id }) => told[index]?.push(id))
    await Promise.all(Array.from({ length: 200 }, async (_, number) => logs[number % 2]?.add(entry(number))))
    for (const log of logs) await log.bringUpToDate()
    const ids = shared.stored.map(({ id }) => id)
    expect(ids).toHaveLength(200)
    expect(told).toEqual([ids, ids])
    for (const log of logs)
      expect(log.list({ order: 'asc', limit: 1_000 }).data.map(({ id }) => id)).toEqual(ids)
  })

  it('returns a request that is still being stored', async () => {
    const { log, store } = await openHeldLog()
    // As for a response that cannot wait, such as that to invalid HTTP.
    void log.add(entry(1))
    const fresh = log.bringUpToDate()
    setImmediate(store)
    await fresh
    expect(log.list({ order: 'asc', limit: 10 }).data).toEqual([entry(1)])
  })

  it('returns a request that a slow database stores after its response', async () => {
    const { log, store } = await openHeldLog()
    await log.add(entry(1))
    const fresh = log.bringUpToDate()
    // Takes as long as a response waits.
    await log.add(entry(2))
    store()
    await fresh
    expect(log.list({ order: 'asc', limit: 1 }).data).toEqual([entry(1)])
  })

  it('continues from a checkpoint with the numbers and findings of removed rows', async () => {
    const shared = openRows()
    const log = await openLog(shared)
    let count = 0
    while (count < 10_000) {
      const last = shared.saved()?.number ?? 0
      for (; count < last + 5_250; count += 1) await log.add(refused(count))
      await log.bringUpToDate()
      await until(() => (shared.saved()?.number ?? 0) > last)
    }
    await log.bringUpToDate()
    expect(shared.stored.length).toBeLessThan(count)
    const other = await openLog(shared)
    expect(other.report(undefined)).toEqual(log.report(undefined))
    expect(other.report(undefined)).toMatchObject({ pushes: count, findings: [{ count }] })
    expect(other.newest()).toBe(log.newest())
    expect(other.after(count - 10)?.map(({ number }) => number)).toEqual(
      log.after(count - 10)?.map(({ number }) => number),
    )
    expect(other.after(1)).toBeUndefined()
  })

  it('makes a checkpoint soon after one could not be stored', async () => {
    const shared = openRows()
    let failures = 0
    const log = await openLog({
      rows: {
        ...shared.rows,
        async keep(checkpoint) {
          if (++failures === 1) throw new Refusal('storage_unavailable', 'The database cannot be used.')
          return shared.rows.keep(checkpoint)
        },
      },
    })
    await Promise.all(Array.from({ length: 5_000 }, async (_, number) => log.add(entry(number))))
    await until(() => shared.saved()?.number === 5_000)
  })

  it('accepts requests without the database, stores the newest 10,000 later', async () => {
    const shared = openRows()
    const log = await openLog(shared)
    shared.database.isAway = true
    await Promise.all(Array.from({ length: 10_200 }, async (_, number) => log.add(entry(number))))
    await expect(log.bringUpToDate()).rejects.toMatchObject({ code: 'storage_unavailable' })
    await until(() => shared.database.failures > 2)
    shared.database.isAway = false
    await until(() => shared.stored.length === 10_000)
    await log.bringUpToDate()
    expect(log.list({ limit: 1 }).data).toMatchObject([{ id: 'req_010199' }])
    expect(shared.stored[0]?.id).toBe('req_000200')
  })

  it('is not blocked by rows that cannot be read, at running and new instances', async () => {
    const shared = openRows()
    const errors: unknown[] = []
    const open = () => openLog(shared, undefined, (error) => errors.push(error))
    const log = await open()
    const broken = { ...refused(1), response_body: '{"error":{"code":"unauthorized",…"No."}}' }
    for (const doc of [JSON.stringify({ request: broken }), 'no JSON', '{"request":null}'])
      await shared.rows.append([{ id: `req_${shared.stored.length}`, generation: 0, sequence: 0, doc }])
    await log.add(entry(2))
    await log.bringUpToDate()
    const other = await open()
    // The text and the null, at both. The first row is only cut.
    expect(errors).toEqual(Array.from({ length: 4 }, () => expect.any(Error) as Error))
    for (const each of [log, other])
      expect(each.list({ order: 'asc', limit: 9 }).data.map(({ id }) => id)).toEqual([
        'req_000001',
        'req_000002',
      ])
  })

  it('is read again when a restarted database has lost its end, and announces nothing twice', async () => {
    const shared = openRows()
    const log = await openLog(shared)
    const told: string[] = []
    log.onAdd(({ id }) => told.push(id))
    for (const number of [1, 2, 3]) await log.add(entry(number))
    await log.bringUpToDate()
    shared.lose()
    await log.add(entry(4))
    await log.bringUpToDate()
    expect(log.list({ order: 'asc', limit: 9 }).data.map(({ id }) => id)).toEqual([
      'req_000001',
      'req_000002',
      'req_000004',
    ])
    expect(told).toEqual(['req_000001', 'req_000002', 'req_000003', 'req_000004'])
  })

  it('is read again after a failed read, and does not change until then', async () => {
    const shared = openRows()
    let failing: 'checkpoint' | 'checks' | undefined
    let reads = 0
    const fail = () => {
      throw new Refusal('storage_unavailable', 'The database cannot be used.')
    }
    const log = await openLog(
      {
        rows: {
          ...shared.rows,
          checkpoint: async () => (failing === 'checkpoint' ? fail() : shared.rows.checkpoint()),
        },
      },
      () => (failing === 'checks' ? fail() : (reads += 1)),
    )
    const ids = () => log.list({ order: 'asc', limit: 9 }).data.map(({ id }) => id)
    for (const number of [1, 2, 3]) await log.add(entry(number))
    await log.bringUpToDate()
    shared.stored.pop()
    for (failing of ['checkpoint', 'checks'] as const) {
      await expect(log.bringUpToDate()).rejects.toMatchObject({ code: 'storage_unavailable' })
      expect(ids()).toEqual(['req_000001', 'req_000002', 'req_000003'])
    }
    failing = undefined
    await log.bringUpToDate()
    expect(ids()).toEqual(['req_000001', 'req_000002'])
    expect(reads).toBe(2)
  })
})
