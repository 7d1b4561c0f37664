import { expect, test } from 'vitest'
import { killAgainAndAgain } from './kill.ts'

/** A few rounds among all other tests; `npm run soak` is the whole of it. */
const usual = process.env.npm_lifecycle_event === 'soak' ? 200 : 2
const rounds = Number(process.env.TABWIRE_SOAK_ROUNDS ?? usual)
const seed = Number(process.env.TABWIRE_SOAK_SEED ?? 20_261_121)

test(
  `${rounds} times kill -9 under load, seed ${seed}: no acknowledged push is lost or delivered with other bytes`,
  async () => {
    const outcome = await killAgainAndAgain(rounds, seed)
    process.stderr.write(
      `soak: ${outcome.acknowledged} pushes acknowledged, ${outcome.deliveries} deliveries\n`,
    )
    expect(outcome).toMatchObject({ lost: [], undelivered: [], refused: [], changed: [] })
    expect(outcome.acknowledged).toBeGreaterThan(rounds)
  },
  20_000 + rounds * 10_000,
)
