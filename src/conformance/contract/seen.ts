/** What only a simulator can do, and some rules cannot be seen without. */
export type Need = 'guests' | 'clock' | 'limited key'

/** A rule that does not hold, in words that say what was seen. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** Something that this run cannot find out. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

/** @throws Broken unless `holds`. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Broken(otherwise)
}
