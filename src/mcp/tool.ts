import { pageLimit } from '../model/simulator/list-queries.ts'
import type { LookupFunction } from 'node:net'
import { z } from 'zod'
import type { Client } from '../client.ts'
import type { List } from '../client/types.ts'
import type { Scope } from '../model/api-key.ts'

/** Width of the texts of results, in columns. */
export const COLUMNS = 120

/** Context of a tool call. `tabwire mcp` and the service each make one. */
export interface ToolContext {
  /** Makes a client with the key of the caller. Rejects when the caller's settings name no usable service. */
  connect(): Promise<Client>
  /** Replaces an error by one that explains it better, such as a service without simulator. */
  explain(error: Error): Promise<Error>
  /** Secret for calls that name none; absent on the service. */
  secret?: string | undefined
  /** Returns further texts that no result may contain, such as the API key. */
  hidden(): readonly string[]
  /**
   * Parses the URL of a receiver to check.
   * @throws Error when this server must not send requests there.
   */
  receiver(url: string): Promise<URL>
  /** Resolves names for connections to a port of a receiver; by default as Node does. */
  lookup?: ((port: number) => LookupFunction) | undefined
  /** Authorities to trust beside Node's own, in PEM. */
  authorities(): Promise<readonly string[]>
  /** Returns the name in the signature header. */
  serviceName(): Promise<string>
}

/** Result of a tool: text for people and models, and data for programs. */
export interface ToolResult {
  text: string
  data: object
}

/** Effects of a tool, as MCP's annotations. */
interface Effects {
  /** Changes nothing in the service or a receiver. */
  readOnlyHint: boolean
  /** May end or replace something, such as the faults that are set. */
  destructiveHint: boolean
  /** A second call with the same arguments changes nothing more. */
  idempotentHint: boolean
  /** Contacts receivers, not just the service. */
  openWorldHint: boolean
}

/** A tool of the MCP server. */
export interface Tool {
  name: string
  /** One or two sentences. */
  description: string
  input: z.ZodObject
  effects: Effects
  /** Scopes that the API asks of the key; none when the tool does not call the service. */
  scopes: readonly Scope[]
  /** @throws Error that the caller gets as the tool's error. */
  run(context: ToolContext, input: unknown, signal: AbortSignal): Promise<ToolResult>
}

interface Definition<Input extends z.ZodObject> extends Omit<Tool, 'input' | 'run'> {
  input: Input
  run(context: ToolContext, input: z.infer<Input>, signal: AbortSignal): Promise<ToolResult>
}

/** Gives `run` the type of the validated input. */
export function defineTool<Input extends z.ZodObject>({ run, ...tool }: Definition<Input>): Tool {
  return { ...tool, run: (context, input, signal) => run(context, input as z.infer<Input>, signal) }
}

/** Effects of a tool that only reads from the service. */
export const reads: Effects = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** Effects of a tool that adds records, and never replaces or ends something. */
export const adds: Effects = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
}

/** Longest call of a tool in seconds: clients of MCP give it 60 s by default. */
export const LONGEST_CALL = 50

/** Arguments of a list. */
export const pageInput = {
  limit: z
    .int()
    .min(1)
    .max(pageLimit.max)
    .default(pageLimit.default)
    .describe(`Maximum number of records, ${pageLimit.default} by default.`),
  cursor: z.string().min(1).optional().describe('next_cursor of the previous page.'),
}

/** Begins the text of a list with how to get its next page, if there is one. Long texts are cut at their end. */
export function paged(text: string, { next_cursor }: Pick<List<unknown>, 'next_cursor'>): string {
  if (next_cursor === null) return text
  return `There are more records: pass cursor ${next_cursor}, or a limit up to ${pageLimit.max}.\n\n${text}`
}

/** Longest external id of a check, in characters (service reference). */
const LONGEST_ID = 255

export const checkId = z.string().min(1).max(LONGEST_ID)
