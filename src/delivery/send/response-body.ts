/** Bytes of a response body that are kept (contract section 9). */
const KEPT_BYTES = 4096

/**
 * Collects the first 4 KiB of a response as text, with U+FFFD for invalid UTF-8. A body that is longer, hangs or breaks off
 * is cut, since the status has already decided the attempt.
 */
export function startOfBody() {
  const chunks: Buffer[] = []
  let size = 0
  return {
    /** Adds a chunk; returns true when the body is longer than what is kept. */
    add(chunk: Buffer): boolean {
      if (size <= KEPT_BYTES) chunks.push(chunk)
      size += chunk.length
      return size > KEPT_BYTES
    },
    text: () => (size === 0 ? '' : decode(Buffer.concat(chunks), size > KEPT_BYTES)),
  }
}

/** Decodes a cut body without a partial last character, which a streaming decoder holds back. */
function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: cut })
}

/**
 * Limits the bodies of one origin that are read at a time. Attempts leave the queue when their headers arrive, so a receiver
 * with slow bodies could otherwise keep any number open. Above the limit, the oldest body is cut.
 */
export function createBodyLimit(perOrigin: number) {
  const reading = new Map<string, Set<() => void>>()
  /** Adds a body, which `cut` ends; the result removes it. */
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
