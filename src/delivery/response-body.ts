import type { Readable } from 'node:stream'

/** How much of a receiver's answer is kept (contract section 9). */
const KEPT_BYTES = 4096

/**
 * The first 4 KiB of a response as text, with U+FFFD for what is no UTF-8. A body that goes on, hangs longer than
 * `timeoutMs` or breaks off is cut where it was: the status has decided the attempt already.
 */
export async function readStart(body: Readable, timeoutMs: number): Promise<string> {
  const timer = setTimeout(() => body.destroy(), timeoutMs)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > KEPT_BYTES) break // and destroys the body, which closes the connection
    }
  } catch {
    // What has come is what there is.
  } finally {
    clearTimeout(timer)
  }
  return decode(Buffer.concat(chunks), size > KEPT_BYTES)
}

/** A cut must not leave half a character behind: a decoder in the middle of a stream keeps that to itself. */
function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: cut })
}
