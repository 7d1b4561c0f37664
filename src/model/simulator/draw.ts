/**
 * A number from 0 up to 1 that follows from a seed and from what is drawn for, and from nothing else: draws may be made
 * in any order, at the same time and more than once.
 */
export function draw(seed: number, ...subject: readonly (string | number)[]): number {
  // FNV-1a, and the last steps of MurmurHash3, without which neighbouring numbers would draw alike.
  let hash = 0x811c9dc5
  for (const character of `${seed}/${subject.join('/')}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
