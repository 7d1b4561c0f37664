import { expect, test } from 'vitest'
import type { Check } from '../../../src/model/check.ts'
import type { Received } from '../../support/https-receiver.ts'
import { isSoak } from '../../soak/seeded.ts'
import { openReceiver, openSimulator, totals } from '../../support/simulator.ts'

const SEEDS = isSoak ? 100 : 25
const CHECKS = ['table-1', 'table-2']
const PUSHES = 3

const faults = [
  { on: 'deliveries' as const, duplicate: 0.3, reorder: 0.5, delay: 1, delay_ms: 5_000, drop: 0.2 },
]

/** Keeps the newest state of each check, as a receiver should: duplicates by their id, newer ones by `updated_at`. */
function createCopy() {
  const seen = new Set<string>()
  const checks = new Map<string, Check>()
  const counts = { duplicates: 0, overtaken: 0 }
  return {
    checks,
    counts,
    take({ body }: Received): void {
      const { id, data } = JSON.parse(body.toString()) as { id: string; data: Check }
      if (seen.has(id)) counts.duplicates++
      if (seen.has(id)) return
      seen.add(id)
      const known = checks.get(data.external_id)
      if (known !== undefined && known.updated_at >= data.updated_at) counts.overtaken++
      else checks.set(data.external_id, data)
    },
  }
}

test(`a receiver that knows duplicates and old states ends with the state of GET, for ${SEEDS} seeds of faults`, async () => {
  const copy = createCopy()
  const receiver = await openReceiver((response, received) => {
    copy.take(received)
    response.writeHead(204).end()
  })
  const { client, push } = await openSimulator()
  await client.clock.freeze(true)
  await client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created', 'check.updated', 'check.closed'],
  })
  let dropped = 0
  for (let seed = 0; seed < SEEDS; seed++) {
    await client.faults.set({ seed, faults })
    const ids = CHECKS.map((name) => `${name}-${seed}`)
    for (let cents = 100; cents <= PUSHES * 100; cents += 100)
      for (const id of ids)
        await push(id, { totals: totals(cents), status: cents === 300 ? 'closed' : 'open' })
    await client.clock.advance('36h')
    dropped += (await client.faults.show()).faults[0]?.happened?.drop ?? 0
    for (const id of ids) expect(copy.checks.get(id)).toEqual(await client.checks.get(id))
  }
  expect((await client.deliveries.list({ status: 'pending' })).data).toEqual([])
  const least = SEEDS / 2
  expect(copy.counts.duplicates).toBeGreaterThan(least)
  expect(copy.counts.overtaken).toBeGreaterThan(least)
  expect(dropped).toBeGreaterThan(least)
}, 60_000)
