import { readFileSync } from 'node:fs'
import { createHmac } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { atEnd } from '../support/at-end.ts'
import { bin, cleanEnvironment, type RunningService } from '../support/cli.ts'

/** A connected client of the official SDK. */
export interface Connected {
  client: Client
  /** Calls a tool. */
  call<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<Result<T>>
}

/** Result of a tool: its text, its data, and whether it is an error. */
export interface Result<T> {
  text: string
  data: T
  isError: boolean
}

const clients = new Set<Client>()
atEnd(async () => {
  await Promise.all([...clients].map((client) => client.close()))
})

interface StdioOptions {
  env?: Record<string, string>
  mode?: Mode
}

/** `auto` uses the newest version of the protocol that the server has; most clients use an older one. */
type Mode = 'legacy' | 'auto'

/** Starts `tabwire mcp` in a folder. */
export async function overStdio(cwd: string, { env = {}, mode }: StdioOptions = {}): Promise<Connected> {
  const inherited = Object.fromEntries(
    Object.entries(cleanEnvironment()).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  ) as Record<string, string>
  return connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'mcp'],
      cwd,
      env: { ...inherited, ...env },
      stderr: 'pipe',
    }),
    mode,
  )
}

/** Connects to `/mcp` of a service. */
export function overHttp({ url, key }: Pick<RunningService, 'url' | 'key'>, mode?: Mode): Promise<Connected> {
  const headers = { authorization: `Bearer ${key}` }
  return connected(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
    mode,
  )
}

async function connected(
  transport: Parameters<Client['connect']>[0],
  mode: Mode = 'legacy',
): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  clients.add(client)
  await client.connect(transport)
  return {
    client,
    async call(name: string, args: Record<string, unknown> = {}) {
      const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args })
      const [first] = content
      if (first?.type !== 'text') throw new Error('The result has no text.')
      return { text: first.text, data: structuredContent as never, isError }
    },
  }
}

/** Computes a signature as a receiver does. */
export function isSigned(header: string, body: string, secret: string): boolean {
  const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})/.exec(header) ?? []
  return createHmac('sha256', secret).update(`${t}.${body}`).digest('hex') === v1
}

/** Names of all tools, in the order of the list. */
export const toolNames: readonly string[] = [
  'push',
  'checks',
  'trigger',
  'guests',
  'endpoints',
  'deliveries_list',
  'deliveries_show',
  'deliveries_wait',
  'deliveries_resend',
  'verify',
  'receiver_check',
  'report',
  'clock',
  'faults',
  'guide_search',
]

/** Version of the package. */
export const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }
