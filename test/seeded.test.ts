import { describe, expect, it } from 'vitest'
import type { FaultsBody } from '../src/model/simulator/fault.ts'
import { startSimulator } from '../src/simulator.ts'
import type { Handle, Receiver } from './support/https-receiver.ts'
import {
  check,
  openReceiver,
  openSimulator,
  openStream,
  temporaryDirectory,
  totals,
} from './support/simulator.ts'

const faults: FaultsBody['faults'] = [
  { on: 'deliveries', duplicate: 0.3, reorder: 0.5, delay: 0.5, drop: 0.2 },
  { on: 'deliveries', drop: 0.5, event_types: ['check.updated'], times: 3 },
]

interface RunOptions {
  seed: number
  signTime?: 'real' | 'virtual'
  /** Looks on, and lets each delivery be made before the next push; without it pushes overtake deliveries. */
  watched?: boolean
  /** Receivers refuse some requests. */
  refusing?: boolean
}

/** Refuses every third request, so that the order in which they come shows in the log. */
function everyThirdRefused(): Handle {
  let count = 0
  return (response) => response.writeHead(++count % 3 === 0 ? 500 : 200).end()
}

const openReceivers = () => Promise.all([openReceiver(), openReceiver()])

/** Makes the same calls to a new service. Returns all results. */
async function run(
  receivers: readonly Receiver[],
  { watched = false, refusing = false, ...options }: RunOptions,
) {
  for (const receiver of receivers) receiver.answer(refusing ? everyThirdRefused() : 200)
  const earlier = receivers.map(({ requests }) => requests.length)
  const simulator = await openSimulator(options)
  const { client, call, push, idle } = simulator
  if (watched) await openStream(simulator)
  const endpoints = []
  for (const { url } of receivers)
    endpoints.push(await client.endpoints.create({ url, event_types: ['check.created', 'check.updated'] }))
  await client.endpoints.ping(endpoints[0]?.id ?? '')
  await client.faults.set({ faults })
  for (let n = 0; n < 12; n++) {
    await push(`check-${n % 3}`, { totals: totals(n * 100) })
    if (watched) await client.checks.get(`check-${n % 3}`)
    if (watched) await idle()
  }
  const { offset_ms: _real, ...report } = await client.clock.advance('2h')
  await push('check-0', { totals: totals(9900) })
  await client.clock.advance('36h')
  const texts = await Promise.all(
    ['/_sim/deliveries?limit=100', '/_sim/events?limit=100', '/_sim/keys', '/v1/checks'].map(
      async (path) => (await call(`GET ${path}`)).text,
    ),
  )
  await simulator.close()
  const received = receivers.map(({ requests }, index) =>
    requests.slice(earlier[index]).map(({ body, headers }) => ({ body: body.toString(), headers })),
  )
  return { apiKey: simulator.apiKey, endpoints, texts, report, received }
}

const bodies = ({ received }: Awaited<ReturnType<typeof run>>) =>
  received.map((requests) => requests.map(({ body }) => body).sort())

describe('a seeded run', () => {
  it('repeats log, keys, secrets and requests byte for byte, and with virtual time also signatures', async () => {
    const receivers = await openReceivers()
    const one = await run(receivers, { refusing: true, seed: 7, signTime: 'virtual', watched: true })
    const other = await run(receivers, { refusing: true, seed: 7, signTime: 'virtual', watched: true })
    expect(other).toEqual(one)
    expect(one.texts[0]).toContain('"faults":["drop"]')
    expect(one.texts[0]).toMatch(/"held_ms":[1-9]/)
    expect(one.texts[0]).toContain('"outcome":"bad_status"')
    expect(one.texts[0]).not.toMatch(/"duration_ms":[1-9]/)
  })

  it('differs with another seed in identifiers, secrets and faults', async () => {
    const receivers = await openReceivers()
    const one = await run(receivers, { refusing: true, seed: 7 })
    const other = await run(receivers, { refusing: true, seed: 8 })
    expect(other.apiKey).not.toBe(one.apiKey)
    expect(other.endpoints[0]?.signing_secret).not.toBe(one.endpoints[0]?.signing_secret)
    expect(other.texts[0]).not.toBe(one.texts[0])
    const faultsIn = (text = '') => [...text.matchAll(/"faults":\[[^\]]*\]/g)].map(String)
    expect(faultsIn(other.texts[0])).not.toEqual(faultsIn(one.texts[0]))
  })

  it('does not depend on subscribers or on the speed of calls', async () => {
    const receivers = await openReceivers()
    const hurried = await run(receivers, { seed: 3 })
    const watched = await run(receivers, { seed: 3, watched: true })
    expect(watched.texts).toEqual(hurried.texts)
    expect(bodies(watched)).toEqual(bodies(hurried))
  })

  it('has a frozen clock that moves only by advance, and shows no real time', async () => {
    const { client, call, push } = await openSimulator({ seed: 1 })
    expect(await client.clock.show()).toMatchObject({ now: '2026-01-01T00:00:00.000Z', frozen: true })
    await client.clock.advance('90s')
    await push('a')
    expect(await client.checks.get('a')).toMatchObject({ created_at: '2026-01-01T00:01:30.000Z' })
    expect(await client.health()).toMatchObject({ started_at: '2026-01-01T00:00:00.000Z' })
    const { text } = await call('GET /_sim/requests')
    expect(text).not.toMatch(/"duration_ms":[^0]/)
  })

  it('starts at the given time', async () => {
    const startAt = new Date('2026-11-21T18:00:00Z')
    const { client } = await openSimulator({ seed: 1, startAt })
    expect(await client.clock.show()).toMatchObject({ now: startAt.toISOString(), frozen: true })
  })

  it('refuses a data directory, because the next start would repeat identifiers', async () => {
    const dataDirectory = await temporaryDirectory()
    await expect(startSimulator({ port: 0, seed: 1, dataDirectory })).rejects.toThrow(
      'seed cannot be combined with dataDir. With stored data, a seeded run would repeat identifiers.',
    )
  })
})

describe('the same seed of faults', () => {
  it('causes the same faults in an unseeded service', async () => {
    const receiver = await openReceiver()
    const mishaps = async () => {
      const { client, push } = await openSimulator()
      await client.clock.freeze(true)
      await client.endpoints.create({ url: receiver.url, event_types: ['check.created', 'check.updated'] })
      await client.faults.set({ seed: 5, faults })
      for (let n = 0; n < 20; n++) await push('a', check({ totals: totals(n) }))
      await client.clock.advance('36h')
      const { data } = await client.deliveries.list({ limit: 100 })
      return data.map(({ attempts }) => attempts.map((attempt) => attempt.faults ?? []))
    }
    const one = await mishaps()
    expect(one.flat().flat()).toEqual(expect.arrayContaining(['duplicate', 'reorder', 'delay', 'drop']))
    expect(await mishaps()).toEqual(one)
  })
})
