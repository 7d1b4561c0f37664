import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { timers } from '../timers.ts'
import { createMcpServer } from './server.ts'
import type { ToolContext } from './tool.ts'

/** Longest line of a client, in bytes. */
const LONGEST_LINE = 1024 * 1024

/** How long the answers to the last lines may take after the end of the input, in milliseconds. */
const LAST_ANSWERS_MS = 2_000

interface Streams {
  input: AsyncIterable<Uint8Array>
  /** Writes a line. */
  write: (line: string) => void
  /** Reports an error that no answer can carry. */
  report: (message: string) => void
}

/** Serves MCP on streams, until the input ends. */
export async function serveOnStreams(context: ToolContext, version: string, streams: Streams): Promise<void> {
  const { transport, ended } = createLines(streams)
  const handle = serveStdio(() => createMcpServer(context, version), {
    transport,
    onerror: ({ message }) => streams.report(message),
  })
  await ended
  await handle.close()
}

/**
 * Creates a transport of one JSON-RPC message per line. Unlike the SDK's own, it answers a line that is not a message. It
 * keeps the connection after a line that is too long, and lets pending answers out before it closes.
 */
function createLines({ input, write }: Streams): { transport: Transport; ended: Promise<void> } {
  const pending = new Set<string | number>()
  let settled = () => {}
  let finish = () => {}
  const ended = new Promise<void>((resolve) => (finish = resolve))
  const refuse = (code: number, message: string, id: string | number | null = null) =>
    write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`)

  const transport: Transport = {
    async start() {
      // An input that cannot be read has ended.
      void readAll().catch(finish)
    },
    async send(message) {
      write(`${JSON.stringify(message)}\n`)
      if ('id' in message && message.id !== undefined && !('method' in message)) pending.delete(message.id)
      if (pending.size === 0) settled()
    },
    async close() {
      finish()
      transport.onclose?.()
    },
  }

  async function readAll(): Promise<void> {
    for await (const line of linesOf(input)) take(line)
    if (pending.size > 0) {
      const answered = new Promise<void>((resolve) => (settled = resolve))
      const late = new Promise((resolve) => timers.setTimeout(resolve, LAST_ANSWERS_MS).unref())
      await Promise.race([answered, late])
    }
    finish()
  }

  function take(line: string | null): void {
    if (line === null)
      return refuse(
        INVALID_REQUEST,
        `The message is longer than the limit of ${LONGEST_LINE} bytes. Send a shorter one.`,
      )
    if (line.trim() === '') return
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      return refuse(PARSE_ERROR, 'The message is not valid JSON. Send one JSON-RPC message per line.')
    }
    const message = messageOf(json)
    if (message === undefined)
      return refuse(
        INVALID_REQUEST,
        'The message is not a JSON-RPC 2.0 request, notification or response.',
        idOf(json),
      )
    if ('method' in message && 'id' in message) pending.add(message.id)
    if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: string | number }
      if (requestId !== undefined) pending.delete(requestId)
    }
    transport.onmessage?.(message)
  }

  return { transport, ended }
}

/** Codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

function messageOf(json: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(json)
  } catch {
    return undefined
  }
}

/** Returns the id of a malformed message, so that its sender can match the error. */
function idOf(json: unknown): string | number | null {
  const { id } = (typeof json === 'object' && json !== null ? json : {}) as { id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** Yields the lines of a stream, and `null` for each line that is too long, which is dropped. */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string | null> {
  let parts: Uint8Array[] = []
  let length = 0
  const end = () => {
    const line = length > LONGEST_LINE ? null : Buffer.concat(parts).toString()
    parts = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let start = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, at))
      yield end()
      start = at + 1
    }
    add(chunk.subarray(start))
  }
  if (length > 0) yield end()

  function add(part: Uint8Array): void {
    length += part.length
    if (length > LONGEST_LINE) parts = []
    else parts.push(part)
  }
}
