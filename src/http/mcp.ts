import { Refusal } from '../model/refusal.ts'
import { type Authenticate, bearerOf } from './auth/api-key.ts'
import { statusOf, type HttpResponse } from './refusals.ts'
import type { Call, Route } from './route.ts'

/** Answers an MCP request for the caller with this API key. `message` is the parsed body. */
export type AnswerMcp = (request: Request, message: unknown, apiKey: string) => Promise<Response>

interface McpParts {
  authenticate: Authenticate
  answer: AnswerMcp
}

/**
 * `POST /mcp`: the MCP server, without sessions. Any key may call it. Each tool calls the API with that key, so the routes
 * of the API check its scopes.
 */
export function mcpRoutes({ authenticate, answer }: McpParts): Route[] {
  return [
    {
      method: 'POST',
      path: '',
      scope: null,
      async handle(call) {
        const authorization = call.header('authorization')
        await authenticate(authorization)
        const apiKey = bearerOf(authorization)
        const read = await bodyOf(call)
        if ('refusal' in read) return refused(read.refusal)
        return answerOf(await answer(requestOf(call), read.body, apiKey))
      },
    },
  ]
}

async function bodyOf(call: Call): Promise<{ body: unknown } | { refusal: Refusal }> {
  try {
    return { body: await call.body() }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

/** Codes of JSON-RPC 2.0 for a body that could not be read. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

/** Returns the refusal of a body in the form of JSON-RPC, which clients of MCP read. */
function refused({ code, message, details }: Refusal): HttpResponse {
  const error = {
    code: code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST,
    message,
    data: { code, ...details },
  }
  return {
    status: statusOf[code],
    headers: code === 'payload_too_large' ? { connection: 'close' } : {},
    body: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
  }
}

/** Returns the request without its body, which was read, and without its key. */
function requestOf(call: Call): Request {
  const headers = new Headers(call.request.headers)
  for (const name of ['authorization', 'cookie', 'content-length', 'transfer-encoding']) headers.delete(name)
  return new Request('http://localhost/mcp', { method: 'POST', headers, body: '{}', signal: call.gone() })
}

/** Headers of an MCP response that are passed on. */
const PASSED = ['content-type', 'cache-control', 'mcp-protocol-version', 'allow']

function answerOf({ status, headers, body }: Response): HttpResponse {
  const passed = PASSED.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status, headers: Object.fromEntries(passed), body }
}
