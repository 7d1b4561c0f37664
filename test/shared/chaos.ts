import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Envelope } from '../../src/model/event.ts'
import { retryInMs } from '../../src/model/retry-schedule.ts'
import { isSoak, seeded } from '../soak/seeded.ts'
import { runChild, type Child } from '../store/child.ts'
import { checkBody } from '../support/cli.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { startReceiver, type Handle } from '../support/https-receiver.ts'
import type { Cluster } from '../support/postgres.ts'

/**
 * - `kill` ends an instance by SIGKILL.
 * - `stop` stops one by SIGSTOP for longer than its lease.
 * - `cut` stalls the connections of one to the database for longer than its lease.
 * - `database` ends the database by SIGKILL and starts it again.
 */
export type Disturbance = 'kill' | 'stop' | 'cut' | 'database'

/** Violations, and what was counted. */
export interface Outcome {
  acknowledged: number
  requests: number
  /** Times from the end of an instance until each endpoint got a request again, in milliseconds. */
  takeovers: number[]
  /** Acknowledged pushes whose check is not stored. */
  lost: string[]
  /** Acknowledged pushes whose event an endpoint never accepted. */
  undelivered: string[]
  /** Deliveries with two requests at a time. */
  overlapping: string[]
  /** Endpoints with more than eight requests at a time. */
  crowded: string[]
  /** Deliveries with an attempt before it was due. */
  early: string[]
}

const INSTANCES = 3
/** So many that each instance delivers to some. */
const ENDPOINTS = 12
const WORKERS = 2
/** Pause of a worker between pushes, in milliseconds. */
const PAUSE = isSoak ? 80 : 300
/** Shortest time until an answer, in milliseconds: an aborted request is noticed before. */
const ANSWER_MS = 10
/** The clock of the instances is so many times as fast as the real one: the first retry is due after one second. */
const SPEED = 60
export const deliveryTimes = {
  timeoutMs: 800,
  bodyTimeoutMs: 100,
  leaseMs: 2_500,
  renewMs: 300,
  pollMs: 50,
}

/** An instance, as it was built: Node 20 reads no TypeScript. */
const program = `
  import { createSimulator } from './index.js'
  const { began, speed, ...options } = JSON.parse(process.argv[1])
  const now = () => new Date(began + (Date.now() - began) * speed)
  const at = (time, task) => {
    const timer = setTimeout(task, Math.max(0, Math.min(2 ** 31 - 1, (time - now()) / speed)))
    return () => clearTimeout(timer)
  }
  const { url, apiKey } = await createSimulator({ ...options, clock: { now, at }, ref: true, onError() {} })
  console.log(JSON.stringify({ url, apiKey }))
`

interface Instance {
  child: Child
  url: string
  apiKey: string
  isUp: boolean
}

/** Disturbs instances under load, and counts what is lost, late or made twice. */
export async function disturb(
  cluster: Cluster,
  disturbances: readonly (readonly Disturbance[])[],
  seed: number,
): Promise<Outcome> {
  const random = seeded(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const began = Date.now()
  const proxy = await startDatabaseProxy(cluster)
  const account = createAccount()
  const receiver = await startReceiver({
    answer(response, received, index) {
      account.handle(response, received, index)
      // Hundreds of thousands of requests in memory would block the receiver for longer than an attempt may take.
      receiver.requests.length = 0
    },
  })
  const sandbox = `chaos_${seed}`

  /** The last instance reaches the database through the proxy. */
  async function start(number: number): Promise<Instance> {
    const store = number === INSTANCES - 1 ? proxy.url : cluster.url
    const options = { store, sandbox, allowHttpLoopback: true, disableAfter: 0, keepEvents: 1_000_000 }
    const child = runChild(program, JSON.stringify({ began, speed: SPEED, deliveryTimes, ...options }))
    const line = await child.line()
    if (line === undefined) throw new Error('The instance ended before it was ready.')
    return { child, isUp: true, ...(JSON.parse(line) as Pick<Instance, 'url' | 'apiKey'>) }
  }

  /** Starts an instance as often as a service manager would: a start ends when the database is away. */
  async function restart(number: number, tries = 20): Promise<Instance> {
    try {
      return await start(number)
    } catch (error) {
      if (tries === 0) throw error
      await pause(500)
      return restart(number, tries - 1)
    }
  }

  const instances: Instance[] = []
  const isUp = ({ isUp: up }: Instance) => up
  const anyUp = () => {
    const up = instances.filter(isUp)
    return up[below(up.length)]
  }
  let isOver = false
  const load = async (worker: number) => {
    for (let number = 0; !isOver; number += 1) {
      const one = anyUp()
      const id = `w${worker}-${number}`
      const answer = one && (await call(one, 'PUT', `/v1/checks/external/${id}`, checkBody()))
      if (answer?.ok === true) account.acknowledge(id)
      await pause(PAUSE)
    }
  }

  const kinds: Record<Disturbance, () => Promise<void>> = {
    async kill() {
      const number = below(INSTANCES)
      const one = instances[number]
      if (one === undefined) return
      one.isUp = false
      await one.child.kill()
      await account.everyEndpoint()
      instances[number] = await restart(number)
    },
    async stop() {
      const one = instances[below(INSTANCES - 1)]
      if (one === undefined) return
      one.isUp = false
      process.kill(one.child.pid, 'SIGSTOP')
      await pause(deliveryTimes.leaseMs + below(1_000))
      process.kill(one.child.pid, 'SIGCONT')
      one.isUp = true
    },
    async cut() {
      proxy.stall()
      await pause(deliveryTimes.leaseMs + below(1_000))
      if (below(2) === 0) proxy.cut()
      proxy.resume()
    },
    async database() {
      await cluster.kill()
      await pause(below(500))
      await cluster.restart()
    },
  }

  try {
    const first = await start(0)
    instances.push(first)
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const body = { url: `${receiver.url}${endpoint}`, event_types: ['check.created'] }
      const answer = await call(first, 'POST', '/v1/webhook-endpoints', body)
      if (answer?.ok !== true) throw new Error(`The endpoint was refused: ${await answer?.text()}`)
    }
    instances.push(...(await Promise.all([start(1), start(2)])))
    const loads = Array.from({ length: WORKERS }, (_, worker) => load(worker))
    for (const together of disturbances) {
      // Instances take their share of the endpoints again.
      await pause(500 + below(500))
      await Promise.all(together.map((kind) => kinds[kind]()))
    }
    isOver = true
    await Promise.all(loads)
    const one = instances.find(isUp)
    if (one !== undefined) await account.settle(one)
  } finally {
    isOver = true
    for (const { child } of instances) await child.kill()
    account.end()
    await receiver.close()
    await proxy.close()
  }
  return account.outcome
}

/** Resolves with `undefined` when the instance does not answer in time. */
async function call({ url, apiKey }: Instance, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(5_000)
  const text = body === undefined ? null : JSON.stringify(body)
  return fetch(url + path, { method, headers, body: text, signal }).catch(() => undefined)
}

/** Interval at which the receiver sees whether it ran, and time after a pause in which no overlap counts, in milliseconds. */
const [WATCH_MS, BLOCKED_MS] = [20, 1_000]

function createAccount() {
  const acknowledged = new Set<string>()
  const accepted = new Set<string>()
  const requestsOf = new Map<string, number>()
  const open = new Map<string, number>()
  const last = new Map<string, ServerResponse>()
  const lists = { lost: [], undelivered: [], overlapping: [], crowded: [], early: [] }
  const outcome: Outcome = { acknowledged: 0, requests: 0, takeovers: [], ...lists }
  let arrived = (_path: string) => {}
  // A receiver that did not run reads requests that the sender has given up meanwhile, together with their repetition.
  let [ranAt, blockedAt] = [performance.now(), -Infinity]
  const watch = setInterval(() => {
    const now = performance.now()
    if (now - ranAt > deliveryTimes.timeoutMs / 2) blockedAt = now
    ranAt = now
  }, WATCH_MS)
  const isBlocked = () => performance.now() - blockedAt < BLOCKED_MS
  const add = (key: string, change: 1 | -1) => {
    const now = (open.get(key) ?? 0) + change
    open.set(key, now)
    return now
  }
  /** Refuses the first request of some deliveries, so that they are retried. */
  const handle: Handle = (response, { url, body }) => {
    const { id, data } = JSON.parse(body.toString()) as Envelope & { data: { external_id: string } }
    const delivery = `${url} ${id}`
    const path = url
    outcome.requests += 1
    const number = (requestsOf.get(delivery) ?? 0) + 1
    requestsOf.set(delivery, number)
    const earlier = last.get(delivery)
    last.set(delivery, response)
    if (add(delivery, 1) > 1)
      earlier?.once('close', () => void (isBlocked() || outcome.overlapping.push(delivery)))
    if (add(path, 1) > 8) outcome.crowded.push(path)
    response.once('close', () => {
      if (last.get(delivery) === response) last.delete(delivery)
      add(delivery, -1)
      add(path, -1)
    })
    arrived(path)
    const [hash = 0, slow = 0] = createHash('sha256').update(`${delivery} ${number}`).digest()
    const isRefused = number === 1 && hash < 40
    setTimeout(
      () => {
        if (!isRefused) accepted.add(`${path} ${data.external_id}`)
        response.writeHead(isRefused ? 500 : 204).end()
      },
      ANSWER_MS + slow / 4,
    )
  }
  return {
    outcome,
    handle,
    end: () => clearInterval(watch),
    acknowledge(id: string) {
      outcome.acknowledged += 1
      acknowledged.add(id)
    },
    /** Resolves when each endpoint has got a request from now on. */
    async everyEndpoint(): Promise<void> {
      const missing = new Set(Array.from({ length: ENDPOINTS }, (_, endpoint) => `/${endpoint}`))
      const began = performance.now()
      await new Promise<void>((resolve) => {
        arrived = (path) => {
          missing.delete(path)
          if (missing.size === 0) resolve()
        }
      })
      arrived = () => {}
      outcome.takeovers.push(Math.round(performance.now() - began))
    },
    /** Waits until no delivery is pending, and compares what is stored with what was acknowledged. */
    async settle(instance: Instance): Promise<void> {
      for (;;) {
        const answer = await call(instance, 'GET', '/_sim/deliveries?status=pending&limit=1')
        if (answer?.ok === true && ((await answer.json()) as Page).data.length === 0) break
        await pause(100)
      }
      for (const id of acknowledged) {
        const answer = await call(instance, 'GET', `/v1/checks/external/${id}`)
        if (answer?.ok !== true) outcome.lost.push(id)
        for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1)
          if (!accepted.has(`/${endpoint} ${id}`)) outcome.undelivered.push(`/${endpoint} ${id}`)
      }
      let cursor = ''
      do {
        const answer = await call(instance, 'GET', `/_sim/deliveries?limit=100${cursor}`)
        if (answer === undefined) throw new Error('The instance does not answer.')
        const { data, next_cursor } = (await answer.json()) as Page
        for (const delivery of data) if (isEarly(delivery)) outcome.early.push(JSON.stringify(delivery))
        cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
      } while (cursor !== '')
    },
  }
}

interface Page {
  data: readonly Delivery[]
  next_cursor: string | null
}

/** True when an attempt began before the retry schedule allows it after the one before. */
function isEarly({ attempts, event_type }: Delivery): boolean {
  return attempts.some(({ number, started_at }, index) => {
    const before = attempts[index - 1]
    if (number !== index + 1) return true
    if (before === undefined) return false
    const gap = Date.parse(started_at) - Date.parse(before.started_at)
    return gap < (retryInMs(before.number, event_type) ?? Infinity)
  })
}
