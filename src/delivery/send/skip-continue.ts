import type { Socket } from 'node:net'

/** What reads the answers that come over one connection. */
export interface ResponseReader {
  /** Called when a request is about to be written. */
  expectResponse(): void
  /** Whether a byte of the answer has arrived. */
  hasReceived(): boolean
}

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
/** As long as a beginning of an answer can be without telling whether it is `100`. */
const TELLING = 'HTTP/1.1 100 '.length
/** As undici bounds the headers of an answer. */
const LONGEST_HEAD = 16 * 1024

/**
 * Leaves out `100 Continue` before an answer. undici skips all informational answers but this one, for which it ends the
 * connection; some receivers send it though nobody asked.
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

/** What is left of the beginning of an answer; not `isWhole` while more must arrive to tell. */
function withoutContinue(bytes: Buffer): { bytes: Buffer; isWhole: boolean } {
  const start = bytes.toString('latin1', 0, TELLING)
  if (start.length < TELLING && 'HTTP/1.1 100 '.startsWith(start.replace('1.0', '1.1')))
    return { bytes, isWhole: false }
  if (!CONTINUE.test(start)) return { bytes, isWhole: true }
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return { bytes, isWhole: bytes.length > LONGEST_HEAD }
  return withoutContinue(bytes.subarray(end + 4))
}
