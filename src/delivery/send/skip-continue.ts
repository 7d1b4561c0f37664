import type { Socket } from 'node:net'

/** Observes the responses of one connection. */
export interface ResponseReader {
  /** Must be called when a request is about to be written. */
  expectResponse(): void
  /** True when a byte of the response has arrived. */
  hasReceived(): boolean
}

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
/** Bytes needed to tell whether a response is `100`. */
const TELLING = 'HTTP/1.1 100 '.length
/** undici's limit for response headers, in bytes. */
const LONGEST_HEAD = 16 * 1024

/**
 * Removes `100 Continue` before a response. undici skips all other informational responses, but ends the connection for this
 * one, which some receivers send unasked.
 */
export function skipContinue(socket: Socket): ResponseReader {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  let held: Buffer | undefined
  let received = false
  socket.read = (size?: number) => {
    const chunk = read(size)
    if (chunk === null || size === 0) return chunk
    received = true
    if (held === undefined) return chunk
    const rest = withoutContinue(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
    held = rest.isWhole ? undefined : rest.bytes
    return rest.isWhole ? rest.bytes : null
  }
  return {
    expectResponse() {
      held = Buffer.alloc(0)
      received = false
    },
    hasReceived: () => received,
  }
}

/** Strips `100 Continue` from the start of a response. `isWhole` is false while more bytes are needed to tell. */
function withoutContinue(bytes: Buffer): { bytes: Buffer; isWhole: boolean } {
  const start = bytes.toString('latin1', 0, TELLING)
  if (start.length < TELLING && 'HTTP/1.1 100 '.startsWith(start.replace('1.0', '1.1')))
    return { bytes, isWhole: false }
  if (!CONTINUE.test(start)) return { bytes, isWhole: true }
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return { bytes, isWhole: bytes.length > LONGEST_HEAD }
  return withoutContinue(bytes.subarray(end + 4))
}
