import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSoak, seeded } from '../soak/seeded.ts'
import { postgresPrograms, startCluster, type Cluster } from '../support/postgres.ts'
import { deliveryTimes, disturb, type Disturbance } from './chaos.ts'

const seed = Number(process.env.TABWIRE_SOAK_SEED ?? 20_261_123)

/** A few disturbances among all other tests; in the soak 100 kills of an instance and 20 of the database. */
const kills = Number(process.env.TABWIRE_SOAK_ROUNDS ?? 100)
const disturbances = isSoak ? shuffled(kills, kills / 5) : [['kill'], ['database', 'stop', 'cut']]

function shuffled(kill: number, others: number): Disturbance[][] {
  const random = seeded(seed)
  const all = Object.entries({ kill, database: others, stop: others, cut: others }).flatMap(([kind, count]) =>
    Array.from({ length: count }, () => ({ kind: kind as Disturbance, place: random() })),
  )
  return all.sort((one, other) => one.place - other.place).map(({ kind }) => [kind])
}

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  it(
    `lose, delay and repeat nothing when instances, connections and the database end, seed ${seed}`,
    async () => {
      const outcome = await disturb(cluster, disturbances as Disturbance[][], seed)
      const { acknowledged, requests, takeovers } = outcome
      const sorted = takeovers.toSorted((one, other) => one - other)
      const median = sorted[sorted.length >> 1] ?? 0
      process.stderr.write(
        `chaos: ${acknowledged} pushes acknowledged, ${requests} requests, takeover within ${median} ms (median) and ${sorted.at(-1)} ms (longest), lease ${deliveryTimes.leaseMs} ms\n`,
      )
      expect(outcome).toMatchObject({ lost: [], undelivered: [], overlapping: [], crowded: [], early: [] })
      expect(acknowledged).toBeGreaterThan(disturbances.length)
      if (isSoak) expect(median).toBeLessThan(deliveryTimes.leaseMs + 2_000)
    },
    180_000 + disturbances.length * 20_000,
  )
})
