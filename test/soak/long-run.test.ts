import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createClient, type Client } from '../../src/client.ts'
import { startReceiver, type Answer } from '../support/https-receiver.ts'
import { emptyDirectory } from '../support/cli.ts'
import { trendOf } from './process-figures.ts'
import { isSoak } from './seeded.ts'

/** Of the run; heap is judged from minute 20 on, when the history has its full length. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 60)
const JUDGED_FROM = Math.min(20, MINUTES / 2)
const CHECKS = 200
const MINUTE_MS = 60_000

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))

async function startProbed(cwd: string) {
  const args = ['--expose-gc', '--import', new URL('heap-probe.mjs', import.meta.url).href]
  const flags = ['start', '--json', '--port', '0', '--allow-http-loopback', '--disable-after', '0']
  const child = spawn(process.execPath, [...args, path('../../bin/run.js'), ...flags], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  if (child.stdout === null) throw new Error('There is no standard output.')
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  lines.resume()
  const { url, api_key } = JSON.parse(line) as { url: string; api_key: string }
  return { child, client: createClient({ url, apiKey: api_key }) }
}

/** In MiB, after a collection. */
async function heapOf(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message')
  child.send('heap')
  const [bytes] = (await answer) as [number]
  return bytes / 2 ** 20
}

function pushBody(number: number) {
  const revision = Math.floor(number / CHECKS) + 1
  const items = [
    { external_id: 'a', name: 'Skillet Cornbread', quantity: 20, price_cents: 1_000 },
    { external_id: 'b', name: `Lager ${revision}`, quantity: 10, price_cents: 700 },
  ]
  const totals = { subtotal_cents: 27_000, tax_cents: 0, total_cents: 27_000 }
  return { table: { number: '12' }, status: 'open' as const, revision, items, totals }
}

/** Answers after so many milliseconds. */
function after(ms: number): Answer {
  return (response) => {
    const timer = setTimeout(() => response.writeHead(200).end(), ms)
    response.on('close', () => clearTimeout(timer))
  }
}

/** Does something again and again, a number of times a second, until `signal` aborts; failures are counted. */
function steadily(perSecond: number, signal: AbortSignal, work: (count: number) => Promise<unknown>) {
  const state = { done: 0, failed: 0 }
  const timer = setInterval(() => {
    const count = state.done++
    work(count).catch(() => {
      if (!signal.aborted) state.failed += 1
    })
  }, 1_000 / perSecond)
  signal.addEventListener('abort', () => clearInterval(timer))
  return state
}

/** Claims an item of a check and releases it, or pays a cent. */
async function actAsGuest({ guests }: Client, count: number): Promise<void> {
  const check = `check-${count % CHECKS}`
  if (count % 10 === 9) await guests.pay(check, { amount_cents: 1 })
  else await guests.release(await guests.claim(check, { items: [{ external_id: 'a', quantity: 1 }] }))
}

/** Follows the stream for a minute at a time. */
async function follow(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const minute = AbortSignal.any([signal, AbortSignal.timeout(MINUTE_MS)])
    for await (const _message of client.stream({ signal: minute })) if (minute.aborted) break
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** The 99th of a hundred, and the list is emptied. */
function p99(values: number[]): number {
  const sorted = values.splice(0).sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}

test.skipIf(!isSoak)(
  `${MINUTES} minutes of traffic with a clock that moves each minute do not grow the heap`,
  async () => {
    const cwd = await emptyDirectory()
    const { child, client } = await startProbed(cwd)
    onTestFinished(() => void child.kill('SIGKILL'))
    const receivers = await Promise.all(
      [200, 500, after(400)].map(async (answer) => startReceiver({ answer })),
    )
    onTestFinished(async () => void (await Promise.all(receivers.map((receiver) => receiver.close()))))
    for (const { url } of receivers) await client.endpoints.create({ url })
    for (let number = 0; number < CHECKS; number += 1)
      await client.checks.push(`check-${number}`, pushBody(number))

    const end = new AbortController()
    const { signal } = end
    const [gets, syncs]: [number[], number[]] = [[], []]
    const disk = await open(join(cwd, 'synced'), 'w')
    onTestFinished(() => disk.close())
    onTestFinished(() => end.abort())
    const states = [
      steadily(10, signal, (count) =>
        client.checks.push(`check-${count % CHECKS}`, pushBody(count + CHECKS)),
      ),
      steadily(1, signal, (count) => actAsGuest(client, count)),
      steadily(10, signal, async (count) => {
        const lists = [client.checks, client.deliveries, client.requests] as const
        gets.push(await timed(async () => lists[count % lists.length]?.list({ limit: 20 })))
      }),
      // Duration of the disk alone at the same time.
      steadily(2, signal, async () => {
        const write = async () => {
          await disk.write('x'.repeat(4_096))
          await disk.datasync()
        }
        syncs.push(await timed(write))
      }),
    ]
    const streams = [follow(client, signal), follow(client, signal)]
    const heaps: number[] = []
    const started = performance.now()
    for (let minute = 1; minute <= MINUTES; minute += 1) {
      await sleep(started + minute * MINUTE_MS - performance.now())
      // Kept requests are the test's own, and not the service's.
      for (const { requests } of receivers) requests.length = 0
      const beforeMove = p99(gets)
      const move = await timed(() => client.clock.advance('36h'))
      const duringMove = p99(gets)
      heaps.push(await heapOf(child))
      process.stderr.write(
        `soak: minute ${minute}: heap ${heaps.at(-1)?.toFixed(1)} MiB; p99 of a GET ${beforeMove.toFixed(0)} ms, ${duringMove.toFixed(0)} ms in a move of ${(move / 1_000).toFixed(1)} s; p99 of a sync ${p99(syncs).toFixed(0)} ms\n`,
      )
    }
    end.abort()
    await Promise.allSettled(streams)
    const judged = heaps.slice(JUDGED_FROM)
    const trend = trendOf(judged)
    process.stderr.write(
      `soak: heap from minute ${JUDGED_FROM} on: ${Math.min(...judged).toFixed(1)} to ${Math.max(...judged).toFixed(1)} MiB, trend ${(trend * 100).toFixed(1)} %\n`,
    )
    expect(states.map(({ failed }) => failed)).toEqual([0, 0, 0, 0])
    expect(Math.abs(trend)).toBeLessThan(0.1)
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
  },
  (MINUTES + 30) * MINUTE_MS,
)
