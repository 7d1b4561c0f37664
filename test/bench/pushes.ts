import type { Figure } from './figure.ts'
import {
  residentMiB,
  run,
  startBare,
  startReceiver,
  startTabwire,
  API_KEY,
  type Program,
} from './processes.ts'
import type { LoadResult } from './load.ts'

const SECONDS = 6
const STORED = 100_000

/** How quickly pushes are answered, each one durable, beside what the framework alone can do. */
export async function pushFigures(
  directory: (name: string) => string,
  certs: { cert: string; key: string },
): Promise<Figure[]> {
  const bare = await measureBare()
  const empty = await measure(directory('empty'))
  const full = await measureFull(directory('full'))
  const one = await measureWithEndpoints(directory('one'), certs, 1)
  const ten = await measureWithEndpoints(directory('ten'), certs, 10)
  return [
    { name: 'bare h3 handler', value: bare.perSecond, unit: 'req/s' },
    { name: 'durable pushes', value: empty.perSecond, unit: 'req/s' },
    {
      name: 'durable pushes / bare handler',
      value: empty.perSecond / bare.perSecond,
      unit: '×',
      target: { atLeast: 0.4 },
    },
    {
      name: `with ${STORED} checks stored / with none`,
      value: full.load.perSecond / empty.perSecond,
      unit: '×',
      target: { atLeast: 0.8 },
    },
    {
      name: 'with one endpoint / bare handler',
      value: one.perSecond / bare.perSecond,
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
      value: empty.p99 / Math.max(bare.p99, 1),
      unit: '×',
      target: { atMost: 5 },
    },
    {
      name: 'longest wait of a push',
      value: Math.max(empty.max, full.load.max),
      unit: 'ms',
      target: { atMost: 100 },
    },
    {
      name: `resident memory with ${STORED} checks`,
      value: full.memory,
      unit: 'MiB',
      target: { atMost: 400 },
    },
    {
      name: `start to first answer with ${STORED} checks`,
      value: full.start,
      unit: 'ms',
      target: { atMost: 2500 },
    },
  ]
}

async function measureBare(): Promise<LoadResult> {
  const bare = await startBare()
  const result = await loaded(bare)
  await bare.end()
  return result
}

async function measure(directory: string): Promise<LoadResult> {
  const service = await startTabwire(directory)
  const result = await loaded(service)
  await service.end()
  return result
}

/** The first seconds are the compiler's: they are run and not counted. */
async function loaded({ url }: Program): Promise<LoadResult> {
  await run({ url, seconds: 3 })
  return run({ url, seconds: SECONDS, first: 10_000_000 })
}

async function measureFull(directory: string) {
  const filling = await startTabwire(directory)
  await run({ url: filling.url, amount: STORED })
  await filling.end()
  const started = performance.now()
  const service = await startTabwire(directory)
  await fetch(`${service.url}/v1/locations`, { headers: { authorization: `Bearer ${API_KEY}` } })
  const start = performance.now() - started
  const memory = residentMiB(service.pid) ?? Number.NaN
  const load = await loaded(service)
  await service.end()
  return { load, memory, start }
}

async function measureWithEndpoints(directory: string, certs: { cert: string; key: string }, count: number) {
  const receiver = await startReceiver(certs, 'answer')
  const service = await startTabwire(directory, '--insecure')
  for (let n = 0; n < count; n++) await register(service.url, `${receiver.url}${n}`)
  const result = await loaded(service)
  await service.end('SIGKILL')
  await receiver.end()
  return result
}

export async function register(url: string, receiver: string): Promise<void> {
  const body = JSON.stringify({ url: receiver, event_types: ['check.created', 'check.updated'] })
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/webhook-endpoints`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(await response.text())
}
