import { createHmac } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Agent, request } from 'undici'
import type { Figure } from './figure.ts'
import { API_KEY, run, startReceiver, startTabwire, type Program } from './processes.ts'
import { register } from './pushes.ts'

const DELIVERIES = 12_000
/** The first ones are the compiler's, on both sides: they are sent and not counted. */
const WARM_UP = 8_000
/** Limit of attempts in flight per endpoint. */
const CONCURRENCY = 8
const HANGING = 10
/** More than the attempts that may be in flight at a time. */
const MANY_HANGING = 64
const SAMPLES = 100
const SECONDS = 4

interface Count {
  received: number
  milliseconds: number
}

interface Certs {
  cert: string
  key: string
}

/** Rates of deliveries over TLS, and the cost of receivers that hang for all others. */
export async function deliveryFigures(directory: (name: string) => string, certs: Certs): Promise<Figure[]> {
  // Each runs between two runs of its baseline, since the machine's speed changes.
  const bareBefore = await bareLoop(certs)
  const leastBefore = await leastLoop(certs, directory('least-1'))
  const ours = await drain(directory('drain'), certs)
  const least = (leastBefore + (await leastLoop(certs, directory('least-2')))) / 2
  const bare = (bareBefore + (await bareLoop(certs))) / 2
  const aloneBefore = await besideHanging(directory('before'), certs, 0)
  const beside = await besideHanging(directory('beside'), certs, HANGING)
  const besideMany = await besideHanging(directory('many'), certs, MANY_HANGING)
  const aloneAfter = await besideHanging(directory('after'), certs, 0)
  const alone = {
    p99: (aloneBefore.p99 + aloneAfter.p99) / 2,
    delivered: (aloneBefore.delivered + aloneAfter.delivered) / 2,
  }
  return [
    { name: 'bare undici loop over TLS', value: bare, unit: 'req/s' },
    { name: 'least durable deliveries over TLS', value: least, unit: 'req/s' },
    { name: 'signed deliveries over TLS', value: ours, unit: 'req/s' },
    { name: 'deliveries / least durable ones', value: ours / least, unit: '×', target: { atLeast: 0.8 } },
    { name: 'deliveries / bare loop', value: ours / bare, unit: '×', target: { atLeast: 0.5 } },
    {
      name: `p99 of a push beside ${HANGING} hanging endpoints / alone`,
      value: beside.p99 / Math.max(alone.p99, 1),
      unit: '×',
      target: { atMost: 2 },
    },
    {
      name: `p99 of a push beside ${MANY_HANGING} hanging endpoints / alone`,
      value: besideMany.p99 / Math.max(alone.p99, 1),
      unit: '×',
      target: { atMost: 5 },
    },
    {
      name: `healthy delivery beside ${HANGING} hanging endpoints / alone`,
      value: beside.delivered / alone.delivered,
      unit: '×',
      target: { atMost: 2 },
    },
  ]
}

const BODY = JSON.stringify({ padding: 'x'.repeat(800) })

const bareLoop = (certs: Certs) => loop(certs, () => ({}))

/** The least that delivers durably: each request is signed, and its outcome is a line that is synced before the next one. */
async function leastLoop(certs: Certs, path: string): Promise<number> {
  const file = await open(path, 'a')
  const sign = () => {
    const t = Math.floor(Date.now() / 1000)
    const digest = createHmac('sha256', 'whsec_bench').update(`${t}.${BODY}`).digest('hex')
    return { 'x-bench-signature': `t=${t},v1=${digest}` }
  }
  const rate = await loop(certs, sign, async (status, headers) => {
    await file.appendFile(`${JSON.stringify({ at: new Date(), status, headers })}\n`)
    await file.datasync()
  })
  await file.close()
  return rate
}

/** Sends as many requests at a time as the service to one endpoint. Returns their number per second. */
async function loop(
  certs: Certs,
  sign: () => Record<string, string>,
  record?: (status: number, headers: object) => Promise<void>,
): Promise<number> {
  const receiver = await startReceiver(certs, 'answer')
  const dispatcher = new Agent({ connections: CONCURRENCY, connect: { rejectUnauthorized: false } })
  const send = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const headers = { 'content-type': 'application/json', ...sign() }
      const response = await request(receiver.url, { method: 'POST', headers, body: BODY, dispatcher })
      await response.body.dump()
      await record?.(response.statusCode, response.headers)
    }
  }
  const all = (count: number) =>
    Promise.all(Array.from({ length: CONCURRENCY }, () => send(count / CONCURRENCY)))
  await all(WARM_UP)
  const started = performance.now()
  await all(DELIVERIES)
  const seconds = (performance.now() - started) / 1000
  await dispatcher.destroy()
  await receiver.end()
  return DELIVERIES / seconds
}

/** A receiver that holds back its first answers lets a queue grow; then it is drained. The first deliveries warm up. */
async function drain(directory: string, certs: Certs): Promise<number> {
  const receiver = await startReceiver(certs, 'gate')
  // On a slow machine the first attempts time out before the queue has grown.
  const service = await startTabwire(directory, '--insecure', '--disable-after', '0')
  await register(service.url, receiver.url)
  await run({ url: service.url, amount: WARM_UP + DELIVERIES })
  await receiver.ask<Count>('open')
  const ask = () => receiver.ask<Count>('count')
  const warm = await untilReceived(WARM_UP, ask)
  const all = await untilReceived(WARM_UP + DELIVERIES, ask)
  await service.end()
  await receiver.end()
  return (all.received - warm.received) / ((all.milliseconds - warm.milliseconds) / 1000)
}

async function untilReceived(number: number, ask: () => Promise<Count>): Promise<Count> {
  for (;;) {
    const count = await ask()
    if (count.received >= number) return count
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/**
 * The median time from a push to its delivery at a healthy receiver, and the pushes' p99, beside receivers that hang: each
 * push has as many deliveries more to make durable. Everything is compiled, and no place of theirs free, when it begins.
 */
async function besideHanging(directory: string, certs: Certs, count: number) {
  const healthy = await startReceiver(certs, 'answer')
  const hanging = await startReceiver(certs, 'hang')
  const service = await startTabwire(directory, '--insecure', '--disable-after', '0')
  await register(service.url, healthy.url)
  await run({ url: service.url, seconds: 3 })
  for (let n = 0; n < count; n++) await register(service.url, `${hanging.url}${n}`)
  await run({ url: service.url, amount: 200, first: 1_000_000 })
  await untilQuiet(healthy)
  const delivered = await medianDelivery(service.url, healthy)
  const pushes = await run({ url: service.url, seconds: SECONDS, first: 2_000_000 })
  await service.end('SIGKILL')
  await Promise.all([healthy.end(), hanging.end()])
  return { p99: pushes.p99, delivered }
}

async function untilQuiet(receiver: Program): Promise<void> {
  let before = -1
  for (let now = 0; now !== before;) {
    before = now
    await new Promise((resolve) => setTimeout(resolve, 200))
    now = (await receiver.ask<Count>('count')).received
  }
}

async function medianDelivery(url: string, receiver: Program): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < SAMPLES; n++) {
    const { received } = await receiver.ask<Count>('count')
    const started = performance.now()
    await push(url, 5_000_000 + n)
    while ((await receiver.ask<Count>('count')).received === received) continue
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)[SAMPLES / 2] ?? Number.NaN
}

async function push(url: string, revision: number): Promise<void> {
  const totals = { subtotal_cents: 0, tax_cents: 0, total_cents: 0 }
  const body = JSON.stringify({ table: { number: '1' }, status: 'open', revision, items: [], totals })
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/checks/external/single-${revision}`, {
    method: 'PUT',
    headers,
    body,
  })
  await response.text()
}
