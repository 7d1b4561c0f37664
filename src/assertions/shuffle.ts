/** The elements in an order that the seed decides: the same seed, the same order (Fisher–Yates). */
export function shuffled<T>(elements: readonly T[], seed: number): T[] {
  const random = mulberry32(seed)
  const result: T[] = []
  for (const element of elements) {
    const place = Math.floor(random() * (result.length + 1))
    const displaced = result[place]
    result[place] = element
    if (displaced !== undefined) result.push(displaced)
  }
  return result
}

/** A small generator of numbers in [0, 1) whose whole state is one 32-bit seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
