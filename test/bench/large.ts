import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Figure } from './figure.ts'
import { API_KEY, output, residentMiB, run, startTabwire, type Program } from './processes.ts'

const CHECKS = 300_000
/** As many as a service keeps. */
const EVENTS = 10_000

/** Start, memory, saving, loading, searching and checking with 300,000 checks stored. It is run by its name alone. */
export async function largeFigures(directory: (name: string) => string): Promise<Figure[]> {
  const stored = directory('large')
  const file = join(directory('.'), 'large.json')
  const saved = join(directory('.'), 'saved.json')
  const first = await startTabwire(stored)
  await run({ url: first.url, checks: 100, first: 1, amount: 100 })
  await writeLarge(await answer<State>(first, '/_sim/state'), file)
  const load = await beside(first, () => tabwire(['state', 'load', '--file', file, ...at(first)]))
  const save = await beside(first, () => tabwire(['state', 'save', '--file', saved, ...at(first)]))
  const again = await beside(first, () => tabwire(['state', 'load', '--file', saved, ...at(first)]))
  await first.end()
  const started = performance.now()
  const second = await startTabwire(stored)
  const start = performance.now() - started
  const memory = residentMiB(second.pid) ?? Number.NaN
  const search = await medianOf(9, () => timed(() => answer(second, '/v1/checks?q=check-299999')))
  const doctor = await timed(() => tabwire(['doctor', '--data-dir', stored]))
  await second.end()
  const stalls = [load, save, again].map(({ longest }) => longest)
  return [
    seconds(`start to first answer with ${CHECKS} checks`, start, 4),
    { name: 'resident memory after it', value: memory, unit: 'MiB', target: { atMost: 350 } },
    seconds('state load', Math.max(load.ms, again.ms), 15),
    seconds('state save', save.ms, 15),
    {
      name: 'longest wait of a GET beside them',
      value: Math.max(...stalls),
      unit: 'ms',
      target: { atMost: 200 },
    },
    seconds('doctor', doctor, 5),
    { name: 'search', value: search, unit: 'ms', target: { atMost: 100 } },
  ]
}

interface State extends Record<string, unknown> {
  checks: Named[]
  events: (Named & { body: string })[]
}

interface Named {
  id: string
  external_id?: string
}

/** The state of a service with few checks, with many like them. */
async function writeLarge(state: State, file: string): Promise<void> {
  const out = createWriteStream(file)
  const write = async (text: string) => {
    if (!out.write(text)) await once(out, 'drain')
  }
  const records = { ...state, checks: checksLike(state.checks), events: eventsLike(state.events) }
  let before = '{'
  for (const [name, value] of Object.entries(records)) {
    await write(`${before}\n  "${name}": `)
    before = ','
    if (!isIterable(value)) await write(JSON.stringify(value))
    else {
      let separator = '['
      for (const record of value) {
        await write(`${separator}\n    ${JSON.stringify(record)}`)
        separator = ','
      }
      await write(separator === '[' ? '[\n  ]' : '\n  ]')
    }
  }
  out.end('\n}\n')
  await once(out, 'close')
}

function* checksLike(samples: readonly Named[]): Iterable<Named> {
  for (let number = 1; number <= CHECKS; number++) {
    const sample = samples[number % samples.length]
    yield { ...sample, id: idOf('chk', number), external_id: `check-${number}` }
  }
}

function* eventsLike(samples: State['events']): Iterable<Named> {
  for (let number = 1; number <= EVENTS; number++) {
    const sample = samples[number % samples.length]
    if (sample === undefined) return
    const id = idOf('evt', number)
    yield { ...sample, id, body: sample.body.replace(sample.id, id) } as Named
  }
}

function idOf(prefix: string, number: number): string {
  return `${prefix}_01J${number.toString().padStart(23, '0')}`
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

/** Does something while the clock is asked for again and again: how long it took, and the longest of those answers. */
async function beside(service: Program, work: () => Promise<unknown>) {
  let isDone = false
  let longest = 0
  const asking = (async () => {
    while (!isDone) {
      longest = Math.max(longest, await timed(() => answer(service, '/_sim/clock')))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  const ms = await timed(work)
  isDone = true
  await asking
  return { ms, longest }
}

async function answer<T>({ url }: Program, path: string): Promise<T> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${API_KEY}` } })
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

const at = ({ url }: Program) => ['--url', url, '--api-key', API_KEY]

async function tabwire(args: readonly string[]): Promise<void> {
  const { stdout } = await output(['bin/run.js', ...args, '--json'])
  if (stdout.includes('"error"')) throw new Error(stdout)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function medianOf(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  while (values.length < times) values.push(await measure())
  return values.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN
}

function seconds(name: string, ms: number, atMost: number): Figure {
  return { name, value: ms / 1_000, unit: 's', target: { atMost } }
}
