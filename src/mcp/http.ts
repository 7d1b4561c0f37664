import { createMcpHandler } from '@modelcontextprotocol/server'
import { createMcpServer } from './server.ts'
import type { ToolContext } from './tool.ts'

/**
 * Answers one MCP request over HTTP, without sessions: the client of each call has the key of its request. `message` is
 * the parsed body.
 */
export async function answerMcp(
  request: Request,
  message: unknown,
  context: ToolContext,
  version: string,
): Promise<Response> {
  const handler = createMcpHandler(() => createMcpServer(context, version))
  return handler.fetch(request, { parsedBody: message })
}
