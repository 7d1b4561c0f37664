import type { LookupFunction } from 'node:net'
import { createClient } from '../client.ts'
import type { FetchText } from '../client.ts'
import { simulatorEndpoints } from '../cli/endpoint-urls.ts'
import { usageError } from '../cli/errors.ts'
import { paginate } from '../client/reads.ts'
import type { PageQuery } from '../client/types.ts'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { packageVersion } from '../package-file.ts'
import { createMcpServer } from './server.ts'

/** The service, as its MCP server uses it. */
interface ServiceParts {
  url: string
  /** Calls the service in this process. */
  fetch: FetchText
  serviceName: string
  /** Validates a URL: returns its normal form, or why deliveries to it are refused. */
  judgeDestination: (url: string) => Promise<{ url: string } | { reason: string }>
  /** Resolves names for connections to a port, and refuses addresses that deliveries must not reach. */
  lookup: (port: number) => LookupFunction
  /** Authorities that the service trusts, in PEM. */
  authorities: () => Promise<readonly string[]>
}

/**
 * Answers one MCP request at the service, without sessions: its tools call the service in this process, with the caller's
 * key. `message` is the parsed body.
 */
export async function answerAtService(
  parts: ServiceParts,
  request: Request,
  message: unknown,
  apiKey: string,
): Promise<Response> {
  const client = createClient({ url: parts.url, apiKey, fetch: parts.fetch })
  const context = {
    connect: async () => client,
    explain: async (error: Error) => error,
    hidden: () => [apiKey],
    serviceName: async () => parts.serviceName,
    authorities: parts.authorities,
    lookup: parts.lookup,
    async receiver(text: string) {
      const url = URL.canParse(text) ? new URL(text).href : text
      // Needs the scope `simulate`, as resending does.
      for await (const endpoint of paginate((query?: PageQuery) => simulatorEndpoints(client, query)))
        if (endpoint.url === url) {
          const judged = await parts.judgeDestination(url)
          if ('reason' in judged) throw usageError(`url ${judged.reason}.`)
          return new URL(judged.url)
        }
      throw usageError(
        `url must be the URL of a registered webhook endpoint, got ${JSON.stringify(text)}. The tool endpoints lists them. \`tabwire mcp\` checks other receivers.`,
      )
    },
  }
  const handler = createMcpHandler(() => createMcpServer(context, packageVersion()))
  return handler.fetch(request, { parsedBody: message })
}
