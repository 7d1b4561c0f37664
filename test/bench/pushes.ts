import type { Figure } from './figure.ts'
import {
  residentMiB,
  run,
  startBare,
  startLeastDurable,
  startReceiver,
  startTabwire,
  API_KEY,
  type Program,
} from './processes.ts'
import type { LoadResult } from './load.ts'

/** Every program under comparison is measured once in each round, since the machine's own speed goes up and down. */
const ROUNDS = 3
const SECONDS = 2
const STORED = 100_000

/** Rates of durable pushes, against the bare framework and the least handler that is durable. */
export async function pushFigures(
  directory: (name: string) => string,
  certs: { cert: string; key: string },
): Promise<Figure[]> {
  const bare = warmed(await startBare())
  const least = warmed(await startLeastDurable(directory('least')))
  const { bares, leasts, empties, fulls, memory, start } = await measureStored(bare, least, directory)
  const before = await bare.measure(SECONDS)
  const one = await measureWithEndpoints(directory('one'), certs, 1)
  const after = await bare.measure(SECONDS)
  const ten = await measureWithEndpoints(directory('ten'), certs, 10)
  await bare.end()
  return [
    { name: 'bare h3 handler', value: median(bares.map(perSecond)), unit: 'req/s' },
    { name: 'least durable handler', value: median(leasts.map(perSecond)), unit: 'req/s' },
    { name: 'durable pushes', value: median(empties.map(perSecond)), unit: 'req/s' },
    {
      name: 'durable pushes / least durable handler',
      value: ratio(empties, leasts, perSecond),
      unit: '×',
      target: { atLeast: 0.65 },
    },
    {
      name: 'durable pushes / bare handler',
      value: ratio(empties, bares, perSecond),
      unit: '×',
      target: { atLeast: 0.28 },
    },
    {
      name: `with ${STORED} checks stored / with none`,
      value: ratio(fulls, empties, perSecond),
      unit: '×',
      target: { atLeast: 0.85 },
    },
    {
      name: 'with one endpoint / bare handler',
      value: one.perSecond / ((before.perSecond + after.perSecond) / 2),
      unit: '×',
      target: { atLeast: 0.2 },
    },
    {
      name: 'with ten endpoints / with one',
      value: ten.perSecond / one.perSecond,
      unit: '×',
      target: { atLeast: 0.5 },
    },
    {
      name: 'p99 of a push / p99 of the bare handler',
      value: ratio(empties, bares, ({ p99 }) => Math.max(p99, 1)),
      unit: '×',
      target: { atMost: 5 },
    },
    {
      name: 'longest wait of a push',
      value: Math.max(...[...empties, ...fulls].map(({ max }) => max)),
      unit: 'ms',
      target: { atMost: 150 },
    },
    {
      name: `resident memory with ${STORED} checks`,
      value: memory,
      unit: 'MiB',
      target: { atMost: 300 },
    },
    {
      name: `start to first answer with ${STORED} checks`,
      value: start,
      unit: 'ms',
      target: { atMost: 2500 },
    },
  ]
}

/** The bare and the least durable handler, a service without checks and one with many, in turns. */
async function measureStored(bare: Measured, least: Measured, directory: (name: string) => string) {
  const filling = await startTabwire(directory('full'))
  await run({ url: filling.url, amount: STORED })
  await filling.end()
  const started = performance.now()
  const full = await startTabwire(directory('full'))
  await fetch(`${full.url}/v1/locations`, { headers: { authorization: `Bearer ${API_KEY}` } })
  const start = performance.now() - started
  const memory = residentMiB(full.pid) ?? Number.NaN
  const programs = [bare, least, warmed(await startTabwire(directory('empty'))), warmed(full)] as const
  const results: [LoadResult[], LoadResult[], LoadResult[], LoadResult[]] = [[], [], [], []]
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, program] of programs.entries()) results[index]?.push(await program.measure(SECONDS))
  await Promise.all(programs.slice(1).map((program) => program.end()))
  const [bares, leasts, empties, fulls] = results
  return { bares, leasts, empties, fulls, memory, start }
}

async function measureWithEndpoints(directory: string, certs: { cert: string; key: string }, count: number) {
  const receiver = await startReceiver(certs, 'answer')
  const service = await startTabwire(directory, '--insecure')
  for (let n = 0; n < count; n++) await register(service.url, `${receiver.url}${n}`)
  const result = await warmed(service).measure(ROUNDS * SECONDS)
  await service.end('SIGKILL')
  await receiver.end()
  return result
}

interface Measured {
  /** Returns its number of responses within so many seconds. */
  measure(seconds: number): Promise<LoadResult>
  end: Program['end']
}

/** The first seconds are the compiler's: they are run and not counted. */
function warmed({ url, end }: Program): Measured {
  let first = 1
  const next = (seconds: number) => run({ url, seconds, first: (first += 10_000_000) })
  let isWarm = false
  return {
    async measure(seconds) {
      if (!isWarm) await next(3)
      isWarm = true
      return next(seconds)
    },
    end,
  }
}

/** The median over the rounds of one's figure to the other's in the same round. */
function ratio(
  ones: readonly LoadResult[],
  others: readonly LoadResult[],
  figure: (result: LoadResult) => number,
): number {
  return median(
    ones.map((one, round) => {
      const other = others[round]
      return other === undefined ? Number.NaN : figure(one) / figure(other)
    }),
  )
}

function perSecond(result: LoadResult): number {
  return result.perSecond
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

export async function register(url: string, receiver: string): Promise<void> {
  const body = JSON.stringify({ url: receiver, event_types: ['check.created', 'check.updated'] })
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/webhook-endpoints`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(await response.text())
}
