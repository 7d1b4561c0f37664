import { join } from 'node:path'
import { openAuthority } from '../../src/certificates/authority.ts'
import type { Envelope } from '../../src/model/event.ts'
import type { Check } from '../../src/model/check.ts'
import { checkBody, emptyDirectory, startService, type ServiceProcess } from '../support/cli.ts'
import { startReceiver, type Received, type Receiver } from '../support/https-receiver.ts'
import { seeded } from './seeded.ts'

/** Violations over all rounds. */
export interface Outcome {
  rounds: number
  acknowledged: number
  deliveries: number
  /** Acknowledged pushes that were not there after a restart. */
  lost: string[]
  /** Acknowledged pushes whose event never arrived, by endpoint. */
  undelivered: string[]
  /** Output of failed starts. */
  refused: string[]
  /** Events that came with different bytes. */
  changed: string[]
}

const WORKERS = 8
/** Two endpoints of one receiver, so that each event has deliveries that are stored together and made one by one. */
const PATHS = ['/one', '/two'] as const
/** A round is killed after at most this many acknowledgements. */
const MOST = 60

/**
 * Kills a service in the midst of pushes and deliveries, again and again, and keeps account. The moment is chosen by
 * `seed`: after so many acknowledgements and turns of the event loop.
 */
export async function killAgainAndAgain(rounds: number, seed: number): Promise<Outcome> {
  const random = seeded(seed)
  const cwd = await emptyDirectory()
  const authority = await openAuthority(join(cwd, '.tabwire'))
  const receiver = await startReceiver({ tls: await authority.issue(['127.0.0.1']) })
  const account = accountOf(receiver, rounds)
  const { outcome } = account
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const service = await start(cwd, outcome)
      if (service === undefined) break
      if (round === 0) for (const path of PATHS) await register(service, new URL(path, receiver.url).href)
      await account.compare(service)
      if (round < rounds) await pushUntilKilled(service, round, random, account)
      else await account.settle(service)
    }
  } finally {
    await receiver.close()
  }
  return outcome
}

async function start(cwd: string, outcome: Outcome): Promise<ServiceProcess | undefined> {
  try {
    return await startService(['--disable-after', '0'], { cwd })
  } catch (error) {
    outcome.refused.push(String(error))
    return undefined
  }
}

async function register(service: ServiceProcess, url: string): Promise<void> {
  const event_types = ['check.created', 'check.updated', 'check.closed']
  const answer = await service.call('POST', '/v1/webhook-endpoints', { url, event_types })
  if (!answer.ok) throw new Error(await answer.text())
}

/** Each worker makes checks and changes them, one push after the other, until the service is gone. */
async function pushUntilKilled(
  service: ServiceProcess,
  round: number,
  random: () => number,
  account: Account,
): Promise<void> {
  let left = Math.floor(random() * MOST)
  const ticks = Math.floor(random() * 20)
  const work = async (worker: number) => {
    for (let push = 0; ; push += 1) {
      const id = `r${round}-w${worker}-${push >> 2}`
      const body = checkBody({ table: { number: String(push) } })
      const answer = await service.call('PUT', `/v1/checks/external/${id}`, body)
      account.acknowledge((await answer.json()) as Check)
      if (left-- === 0) await killAfter(service, ticks)
    }
  }
  // Each ends with the connection, when the service does.
  await Promise.allSettled(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  await service.process.ended
}

async function killAfter(service: ServiceProcess, ticks: number): Promise<void> {
  for (let turn = 0; turn < ticks; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  service.process.child.kill('SIGKILL')
}

type Account = ReturnType<typeof accountOf>

/** Records acknowledged pushes and received deliveries. */
function accountOf(receiver: Receiver, rounds: number) {
  const nothing = { acknowledged: 0, deliveries: 0, lost: [], undelivered: [], refused: [], changed: [] }
  const outcome: Outcome = { rounds, ...nothing }
  const newest = new Map<string, Check>()
  const awaited = new Set<string>()
  const bodies = new Map<string, string>()
  const seen = new Set<string>()
  let allCame = () => {}
  const keyOf = (check: Check, path: string) => `${check.external_id} ${check.updated_at} at ${path}`
  const take = (received: Received) => {
    const body = received.body.toString()
    const { id, data } = JSON.parse(body) as Envelope & { data: Check }
    if ((bodies.get(id) ?? body) !== body) outcome.changed.push(id)
    bodies.set(id, body)
    outcome.deliveries += 1
    const key = keyOf(data, received.url)
    seen.add(key)
    awaited.delete(key)
    if (awaited.size === 0) allCame()
  }
  receiver.answer((response, received) => {
    take(received)
    response.writeHead(204).end()
  })
  let compared = new Map<string, Check>()
  return {
    outcome,
    acknowledge(check: Check) {
      outcome.acknowledged += 1
      newest.set(check.external_id, check)
      compared.set(check.external_id, check)
      for (const key of PATHS.map((path) => keyOf(check, path))) if (!seen.has(key)) awaited.add(key)
    },
    /** Asserts that the last round's acknowledged pushes, or newer ones in flight at its end, are stored. */
    async compare(service: ServiceProcess) {
      for (const [id, check] of compared) await expectStored(service, id, check, outcome.lost)
      compared = new Map()
    },
    /** In the end: everything ever acknowledged is there, and its event has come. */
    async settle(service: ServiceProcess) {
      for (const [id, check] of newest) await expectStored(service, id, check, outcome.lost)
      const came = new Promise<void>((resolve) => (allCame = resolve))
      if (awaited.size > 0) await Promise.race([came, untilNothingIsDue(service)])
      outcome.undelivered.push(...awaited)
      await service.stop()
    },
  }
}

async function expectStored(
  service: ServiceProcess,
  id: string,
  check: Check,
  lost: string[],
): Promise<void> {
  const answer = await service.call('GET', `/v1/checks/external/${id}`)
  const stored = answer.ok ? ((await answer.json()) as Check) : undefined
  const newer = stored !== undefined && stored.updated_at > check.updated_at
  if (!newer && JSON.stringify(stored) !== JSON.stringify(check)) lost.push(id)
}

/** Polls until no delivery waits for its first attempt; missing ones are lost then. */
async function untilNothingIsDue(service: ServiceProcess): Promise<void> {
  for (;;) {
    const answer = await service.call('GET', '/_sim/deliveries?status=pending&limit=1')
    const { data } = (await answer.json()) as { data: unknown[] }
    if (data.length === 0) return
  }
}
