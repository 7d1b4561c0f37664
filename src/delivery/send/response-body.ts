/** How much of a receiver's answer is kept (contract section 9). */
const KEPT_BYTES = 4096

/**
 * Collects the first 4 KiB of a response as text, with U+FFFD for what is no UTF-8. A body that goes on, hangs or breaks
 * off is cut where it was: the status has decided the attempt already.
 */
export function startOfBody() {
  const chunks: Buffer[] = []
  let size = 0
  return {
    /** Takes what has come, and tells whether that is more than is kept. */
    add(chunk: Buffer): boolean {
      if (size <= KEPT_BYTES) chunks.push(chunk)
      size += chunk.length
      return size > KEPT_BYTES
    },
    text: () => (size === 0 ? '' : decode(Buffer.concat(chunks), size > KEPT_BYTES)),
  }
}

/** A cut must not leave half a character behind: a decoder in the middle of a stream keeps that to itself. */
function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: cut })
}

/**
 * Bounds how many bodies of one origin are read at a time. Attempts free their place when the headers are there, so a
 * receiver that drips its bodies would otherwise have any number of them. Past the bound, the oldest is cut where it is.
 */
export function createBodyLimit(perOrigin: number) {
  const reading = new Map<string, Set<() => void>>()
  /** `cut` ends a body that is read; the result takes it off the count. */
  return (origin: string, cut: () => void): (() => void) => {
    const bodies = reading.get(origin) ?? new Set()
    reading.set(origin, bodies.add(cut))
    const [oldest] = bodies
    if (bodies.size > perOrigin) oldest?.()
    return () => {
      bodies.delete(cut)
      if (bodies.size === 0 && reading.get(origin) === bodies) reading.delete(origin)
    }
  }
}
