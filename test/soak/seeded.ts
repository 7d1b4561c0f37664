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

/** Every `every`-th element; in the soak, all. */
export function sampled<T>(all: readonly T[], every: number): T[] {
  return all.filter((_one, index) => isSoak || index % every === 0)
}
