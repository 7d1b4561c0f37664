import { SEED_OF_RUN } from '../support/cache-setup.ts'

/** Mulberry32: the same numbers from 0 up to 1 on every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whether this is `npm run soak`, and not one test run among others. */
export const isSoak = process.env.npm_lifecycle_event === 'soak'

/** The seed of the run, which Vitest prints; `--sequence.seed` sets it. 0 for a file that runs without it. */
const seed = Number(process.env[SEED_OF_RUN] ?? 0)

/** Every `every`-th element, and at least one: others in each run, by its seed. In the soak, all. */
export function sampled<T>(all: readonly T[], every: number): T[] {
  const step = Math.min(every, all.length)
  return all.filter((_one, index) => isSoak || (index + seed) % step === 0)
}
