/** The service breaks the rule of the case. The message says how. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** This run cannot see whether the rule holds. The message says why, and which flag would make it visible. */
export class NotChecked extends Error {
  override readonly name = 'NotChecked'
}

/** Resolves with NotChecked instead of rejecting with it. @throws other errors of the work. */
export function unlessNotChecked<T>(work: Promise<T>): Promise<T | NotChecked> {
  return work.catch((error: unknown) => {
    if (error instanceof NotChecked) return error
    throw error
  })
}

/** Resolves with `undefined` instead of rejecting with Broken or NotChecked: another case reports these. */
export function ifPossible<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof NotChecked || error instanceof Broken) return undefined
    throw error
  })
}

/** Puts a sentence before the message of a Broken: what had happened. @throws other errors of the work. */
export function explained<T>(work: Promise<T>, before: string): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof Broken) throw new Broken(`${before} ${error.message}`)
    throw error
  })
}

/** @throws Broken unless `holds`. */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Broken(otherwise)
}
