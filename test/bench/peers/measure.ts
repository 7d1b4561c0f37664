import { mkdirSync } from 'node:fs'
import { run } from '../processes.ts'
import { freePort, revisionAt, startInstance, write } from './instance.ts'
import type { Peer, Place } from './peer.ts'
import { whatArrives } from './webhooks.ts'

/** How many checks are stored while writes are counted. */
export const AMOUNTS = [10, 1_000, 10_000] as const
const WARM_SECONDS = 1
const SECONDS = 4
const KILLS = 5
/** Enough that a program which writes all of it each time is seen to. */
const STORED_AT_KILL = 1_000

/** Results of a peer. Each list follows `AMOUNTS`. */
export interface Measured {
  /** Writes acknowledged per second; of a peer that keeps nothing, answers. */
  perSecond: number[]
  /** Answers to the load that were no success; anything but 0 makes the figure void. */
  failed: number[]
  /** Milliseconds from start to first answer. */
  start: number[]
  /** Of so many kills, how many left the write that had just been acknowledged. */
  survived: number
  kills: number
  webhooks: 'none' | 'unsigned' | 'signed'
}

interface Bench {
  node: string
  installed: string
  /** A new directory for each purpose. */
  directory: (name: string) => string
}

export async function measure(peer: Peer, bench: Bench): Promise<Measured> {
  const measured: Measured = {
    perSecond: [],
    failed: [],
    start: [],
    survived: 0,
    kills: peer.keepsNothing === true ? 0 : KILLS,
    webhooks: await webhooks(peer, bench),
  }
  for (const records of AMOUNTS) await underLoad(peer, bench, records, measured)
  measured.survived = await survivors(peer, bench, measured.kills)
  return measured
}

async function placeFor({ installed, directory }: Bench, purpose: string, records: number): Promise<Place> {
  const own = directory(purpose)
  mkdirSync(own, { recursive: true })
  return { installed, directory: own, port: await freePort(), records, hook: undefined }
}

const firstCheck = ({ path }: Peer) => `${path}check-0`

async function underLoad(peer: Peer, bench: Bench, records: number, into: Measured): Promise<void> {
  const place = await placeFor(bench, `load-${records}`, records)
  const args = peer.prepare(place)
  const start = () => startInstance(bench.node, args, place.port, peer.firstAsked ?? firstCheck(peer))
  let instance = await start()
  if (peer.seedStore !== undefined) {
    await peer.seedStore(instance.url, place)
    await instance.kill()
    instance = await start()
  }
  const load = { url: instance.url, path: peer.path, checks: records }
  await run({ ...load, seconds: WARM_SECONDS, first: 1_000_000 })
  const result = await run({ ...load, seconds: SECONDS, first: 10_000_000 })
  await instance.kill()
  into.start.push(instance.milliseconds)
  into.perSecond.push(result.perSecond)
  into.failed.push(result.failed)
}

/** Kills it right after the response to a write, and looks for the write. */
async function survivors(peer: Peer, bench: Bench, kills: number): Promise<number> {
  if (kills === 0) return 0
  const place = await placeFor(bench, 'killed', STORED_AT_KILL)
  const args = peer.prepare(place)
  const start = () => startInstance(bench.node, args, place.port, peer.firstAsked ?? firstCheck(peer))
  const first = await start()
  await peer.seedStore?.(first.url, place)
  await first.kill()
  let survived = 0
  for (let kill = 1; kill <= kills; kill++) {
    const instance = await start()
    await write(instance.url + firstCheck(peer), kill * 1_000_000)
    await instance.kill()
    const again = await start().catch(() => undefined)
    if (again === undefined) break // What it left behind, it cannot read.
    if ((await revisionAt(again.url + firstCheck(peer))) === kill * 1_000_000) survived++
    await again.kill()
  }
  return survived
}

function webhooks(peer: Peer, bench: Bench): Promise<Measured['webhooks']> {
  return whatArrives(async (hook) => {
    const place = { ...(await placeFor(bench, 'webhooks', 10)), hook }
    const instance = await startInstance(
      bench.node,
      peer.prepare(place),
      place.port,
      peer.firstAsked ?? firstCheck(peer),
    )
    try {
      await peer.seedStore?.(instance.url, place)
      await write(instance.url + firstCheck(peer), 1_000_000)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    } finally {
      await instance.kill()
    }
  })
}
