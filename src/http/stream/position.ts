/**
 * A place in the stream: after which messages. A stream has two sequences, commits and requests, and each rises. So a
 * position means the same at every instance of a shared sandbox, though each may mix the two in another order.
 */
export interface Position {
  /** Number of replacements of all records. */
  generation: number
  /** The last transaction whose messages were all sent. */
  sequence: number
  /** Messages that were sent of the transactions after it. */
  messages: number
  /** Number of the last request. */
  request: number
}

/** Yields the messages of a transaction, each with the position after it. `before` is the position before the first one. */
export function* positioned<M>(
  before: Position,
  sequence: number,
  messages: readonly M[],
): Generator<[M, Position]> {
  for (const [index, message] of messages.entries()) {
    const isLast = index === messages.length - 1
    yield [message, isLast ? { ...before, sequence, messages: 0 } : { ...before, messages: index + 1 }]
  }
}

/** Writes positions as ids of messages, and reads them. `token` tells the ids of one sandbox from those of another. */
export function createPositions(token: string) {
  const pattern = /^([\w-]+):(\d{1,15}):(\d{1,15}):(\d{1,15}):(\d{1,15})$/
  return {
    textOf: ({ generation, sequence, messages, request }: Position): string =>
      [token, generation, sequence, messages, request].join(':'),
    /** Returns `undefined` for an id of another sandbox or process, and for any other text. */
    read(text: string | null | undefined): Position | undefined {
      const [, of, ...numbers] = pattern.exec(text ?? '') ?? []
      if (of !== token) return undefined
      const [generation = 0, sequence = 0, messages = 0, request = 0] = numbers.map(Number)
      return { generation, sequence, messages, request }
    },
    /** Returns true for a position that this sandbox has not reached, such as one before a backup was restored. */
    isAhead: (one: Position, now: Position): boolean =>
      one.generation > now.generation || one.sequence > now.sequence,
  }
}
