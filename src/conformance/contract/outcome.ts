/** What was seen breaks the rule of the case. The message says what was seen. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** This run cannot see whether the rule holds. The message says why, and which flag would make it visible. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

/** Resolves with why something cannot be seen, where that is so. @throws whatever else the work throws. */
export function unlessNotChecked<T>(work: Promise<T>): Promise<T | NotChecked> {
  return work.catch((error: unknown) => {
    if (error instanceof NotChecked) return error
    throw error
  })
}

/** Resolves with `undefined` where the work shows a broken rule or cannot be seen, which is for other cases to say. */
export function ifPossible<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof NotChecked || error instanceof Broken) return undefined
    throw error
  })
}

/** @throws Broken unless `holds`. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Broken(otherwise)
}
