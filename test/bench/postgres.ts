import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { postgresPrograms, startCluster } from '../support/postgres.ts'
import type { Figure } from './figure.ts'
import { API_KEY, run, startTabwire } from './processes.ts'
import { median } from './pushes.ts'
import { compileSources } from './sources.ts'

const ROUNDS = 3
const SECONDS = 3
/** Callers at a time, as many as a batch takes. */
const CALLERS = 64
const TRANSACTIONS = 4_000
const RECORDED = 20_000
const RECORDED_AT_ONCE = 100

/** A store, as far as the figures need it. */
interface Store {
  transact(reads: object, decide: (records: { found?: Row }) => { writes: object[] }): Promise<unknown>
  due(query: object): Promise<{ deliveries: readonly Row[] }>
  replace(make: (all: object) => object): Promise<void>
  close(): Promise<void>
}
type Row = Record<string, unknown> & { id: string }
type OpenStore = (options: object) => Promise<Store>

/** A shared store beside the file store, with the same work, by turns. The server syncs every commit. */
export async function postgresFigures(directory: (name: string) => string): Promise<Figure[]> {
  if (postgresPrograms === undefined) {
    process.stderr.write('There is no PostgreSQL server here: its figures are skipped.\n')
    return []
  }
  const openPostgresStore = await compiledStore()
  const cluster = await startCluster({ fsync: 'on', shared_buffers: '256MB' })
  try {
    const pushes = await measurePushes(directory, cluster.url)
    const starts = await measureStarts(directory, cluster.url)
    const options = { url: cluster.url, keepEvents: 10_000_000 }
    const grouped = await transactionsPerSecond(
      openPostgresStore,
      { ...options, sandbox: 'grouped' },
      CALLERS,
    )
    const single = await transactionsPerSecond(openPostgresStore, { ...options, sandbox: 'single' }, 1)
    const recorded = await recordedPerSecond(openPostgresStore, { ...options, sandbox: 'recorded' })
    const few = await dueLag(openPostgresStore, { ...options, sandbox: 'few' }, 1_000)
    const many = await dueLag(openPostgresStore, { ...options, sandbox: 'many' }, 1_000_000)
    return [
      { name: 'pushes, file store', value: pushes.files, unit: 'req/s' },
      { name: 'pushes, PostgreSQL', value: pushes.postgres, unit: 'req/s' },
      {
        name: 'pushes, PostgreSQL / file store',
        value: pushes.ratio,
        unit: '×',
        target: { atLeast: 0.6 },
      },
      {
        name: 'transactions, 64 callers / one at a time',
        value: grouped / single,
        unit: '×',
        target: { atLeast: 2.5 },
      },
      {
        name: 'deliveries claimed and recorded, 100 at once',
        value: recorded,
        unit: '/s',
        target: { atLeast: 10_000 },
      },
      { name: 'due deliveries of 1,000', value: few, unit: 'ms' },
      {
        name: 'due deliveries, of 1,000,000 / of 1,000',
        value: many / few,
        unit: '×',
        target: { atMost: 2 },
      },
      {
        name: 'start to first answer, PostgreSQL / file store',
        value: starts,
        unit: '×',
        target: { atMost: 1.5 },
      },
    ]
  } finally {
    await cluster.stop()
  }
}

/** The store from the sources: the package does not export it. */
async function compiledStore(): Promise<OpenStore> {
  const compiled = compileSources('store')
  const path = pathToFileURL(resolve(compiled, 'store/postgres/postgres-store.js')).href
  const { openPostgresStore } = (await import(path)) as { openPostgresStore: OpenStore }
  return openPostgresStore
}

async function measurePushes(directory: (name: string) => string, url: string) {
  const files = await startTabwire(directory('files'))
  const postgres = await startTabwire(directory('postgres'), '--store', url, '--sandbox', 'pushes')
  let first = 1
  const measure = (program: { url: string }, seconds: number) =>
    run({ url: program.url, seconds, first: (first += 10_000_000) })
  const results: [files: number[], postgres: number[]] = [[], []]
  for (let round = -1; round < ROUNDS; round++)
    for (const [at, program] of [files, postgres].entries()) {
      const { perSecond } = await measure(program, SECONDS)
      // The first round is the compiler's.
      if (round >= 0) results[at]?.push(perSecond)
    }
  await files.end()
  await postgres.end()
  const ratios = results[1].map((one, round) => one / (results[0][round] ?? Number.NaN))
  return { files: median(results[0]), postgres: median(results[1]), ratio: median(ratios) }
}

async function measureStarts(directory: (name: string) => string, url: string): Promise<number> {
  const started = async (name: string, ...flags: string[]) => {
    const began = performance.now()
    const program = await startTabwire(directory(name), ...flags)
    await fetch(`${program.url}/v1/locations`, { headers: { authorization: `Bearer ${API_KEY}` } })
    const took = performance.now() - began
    await program.end()
    return took
  }
  const ratios: number[] = []
  for (let round = -1; round < 5; round++) {
    const files = await started('start-files')
    const postgres = await started('start-postgres', '--store', url, '--sandbox', 'starts')
    // The first round makes the directory and the schema.
    if (round >= 0) ratios.push(postgres / files)
  }
  return median(ratios)
}

async function transactionsPerSecond(open: OpenStore, options: object, callers: number): Promise<number> {
  const store = await open(options)
  const count = callers === 1 ? TRANSACTIONS / 4 : TRANSACTIONS
  let next = 0
  const call = async () => {
    while (next < count) {
      const id = `chk_${next++}`
      await store.transact({ found: { collection: 'checks', id } }, () => ({
        writes: [
          { collection: 'checks', put: record(id) },
          { collection: 'events', put: record(`evt_${id}`) },
        ],
      }))
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: callers }, call))
  const perSecond = count / ((performance.now() - began) / 1_000)
  await store.close()
  return perSecond
}

async function recordedPerSecond(open: OpenStore, options: object): Promise<number> {
  const store = await open(options)
  const pending = Array.from({ length: RECORDED }, (_, number) => pendingDelivery(number))
  await store.replace((all) => ({ ...all, deliveries: pending }))
  const began = performance.now()
  let recorded = 0
  while (recorded < RECORDED) {
    const { deliveries } = await store.due({
      now: new Date(),
      perEndpoint: RECORDED_AT_ONCE,
      wanted: RECORDED_AT_ONCE,
      busy: new Set(),
    })
    await Promise.all(
      deliveries.map((delivery) =>
        store.transact({ found: { collection: 'deliveries', id: delivery.id } }, ({ found }) => ({
          writes: [
            {
              collection: 'deliveries',
              put: { ...found, status: 'delivered', next_attempt_at: null, attempts: [attempt] },
            },
          ],
        })),
      ),
    )
    recorded += deliveries.length
  }
  const perSecond = RECORDED / ((performance.now() - began) / 1_000)
  await store.close()
  return perSecond
}

/** Milliseconds until due deliveries are known, the median of many questions. */
async function dueLag(open: OpenStore, options: object, pending: number): Promise<number> {
  const store = await open(options)
  const all = Array.from({ length: pending }, (_, number) => pendingDelivery(number))
  await store.replace((before) => ({ ...before, deliveries: all }))
  const times: number[] = []
  for (let round = 0; round < 200; round++) {
    const began = performance.now()
    const { deliveries } = await store.due({ now: new Date(), perEndpoint: 32, wanted: 8, busy: new Set() })
    if (deliveries.length === 0) throw new Error('Deliveries are due.')
    times.push(performance.now() - began)
  }
  await store.close()
  return median(times)
}

const started_at = '2026-01-01T12:00:00.000Z'

const attempt = {
  number: 1,
  started_at,
  duration_ms: 3,
  outcome: 'succeeded',
  response_status: 200,
  response_body: 'ok',
  error: null,
}

function pendingDelivery(number: number): Row {
  return {
    id: `dlv_${String(number).padStart(26, '0')}`,
    event_id: `evt_${number}`,
    event_type: 'check.updated',
    endpoint_id: `we_${number % 10}`,
    external_check_id: `check-${number}`,
    status: 'pending',
    attempts: [],
    next_attempt_at: started_at,
    dead_reason: null,
  }
}

function record(id: string): Row {
  return {
    id,
    external_id: id,
    external_check_id: id,
    location_id: 'loc_1',
    created_at: started_at,
    body: 'x'.repeat(600),
  }
}
