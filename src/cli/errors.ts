import { Errors } from '@oclif/core'
import { ApiError, TimedOut, Unreachable } from '../client/errors.ts'
import { printable } from './render/text.ts'
import { wrongUsage, type CommandShape } from './usage-errors.ts'
import { didYouMeanSentence } from '../model/text/did-you-mean.ts'

/** Exit codes (contract section 12). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  checkFailed: 3,
  keyRefused: 4,
  interrupted: 130,
} as const

/** An error that a command can explain: what happened, why, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string
  readonly exitCode: number

  constructor(code: string, message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.code = code
    this.exitCode = exitCode
  }
}

/** A mistake on the command line: exit code 2. */
export function usageError(message: string): CommandError {
  return new CommandError('usage', message, exitCodes.usage)
}

/** An error as a command prints it: for people, and for programs as `json`. */
export interface Failure {
  message: string
  issues: readonly { path: string; message: string }[]
  requestId: string | null
  exitCode: number
  json: object
}

/** Returns the message and the exit code for an error; `command` is the command that was typed. */
export function describeFailure(error: Error, command: CommandShape = UNKNOWN): Failure {
  const { message } = error
  const plain = { message, issues: [], requestId: null }
  if (error instanceof ApiError) return describeApiError(error, command)
  if (error instanceof CommandError)
    return { ...plain, exitCode: error.exitCode, json: { code: error.code, message } }
  if (error instanceof TimedOut)
    return { ...plain, exitCode: exitCodes.failed, json: { code: error.code, message } }
  if (error instanceof Unreachable) {
    const hint = `${message} ${hintFor(message)}`
    return {
      ...plain,
      message: hint,
      exitCode: exitCodes.failed,
      json: { code: 'unreachable', message: hint },
    }
  }
  if (error instanceof Errors.CLIError) {
    const text = wrongUsage(message, command)
    return { ...plain, message: text, exitCode: exitCodes.usage, json: { code: 'usage', message: text } }
  }
  return { ...plain, exitCode: exitCodes.failed, json: { code: 'failed', message } }
}

const UNKNOWN: CommandShape = { name: 'COMMAND', flags: {}, args: {}, typedAs: {} }

/** Codes of a 403 that concerns the origin or the host of a request, not its key. */
const NOT_THE_KEY: readonly string[] = ['forbidden_host', 'forbidden_origin']

function describeApiError(
  { status, body, message, requestId, code }: ApiError,
  command: CommandShape,
): Failure {
  const issues = ((Array.isArray(body.issues) ? body.issues : []) as Failure['issues']).map(guessed)
  const typed = typedWrongly({ code, message, issues }, command)
  if (typed !== undefined)
    return {
      message: `${typed} Run \`tabwire ${command.name} --help\`.`,
      issues: [],
      requestId,
      exitCode: exitCodes.usage,
      json: { ...body, code, message },
    }
  const refused = status === 401 || (status === 403 && !NOT_THE_KEY.includes(code))
  const exitCode = refused ? exitCodes.keyRefused : exitCodes.failed
  return { message: told(), issues, requestId, exitCode, json: { ...body, code, message } }

  function told(): string {
    const refusal = `${status} ${code}: `
    // The issues follow, one per line.
    if (issues.length > 0) return `${refusal}the body is not valid.`
    if (status === 401 && command.hasKey === false) return `${refusal}${NO_KEY}`
    const text = printable(message)
    return `${refusal}${status === 401 ? `${text} ${KEY_HINT}` : inCommands(text)}`
  }
}

/** Returns the message for a refusal that is caused by the typed words; `undefined` for any other. */
function typedWrongly(
  { code, message, issues }: Pick<ApiError, 'code' | 'message'> & Pick<Failure, 'issues'>,
  { typedAs }: CommandShape,
): string | undefined {
  if (code === 'validation_failed') {
    const told = issues.flatMap((issue) => {
      const name = issue.path.match(/[a-z_]+/g)?.findLast((field) => field in typedAs)
      return name === undefined ? [] : [`${typedAs[name]} ${issue.message.replace(/([^.?])$/, '$1.')}`]
    })
    return told.length > 0 && told.length === issues.length ? told.join(' ') : undefined
  }
  const [field = ''] = /^\w+/.exec(message) ?? []
  const isOfWords = code === 'invalid_query' || code === 'invalid_path'
  return isOfWords && field in typedAs ? message.replace(field, String(typedAs[field])) : undefined
}

/** Adds the word that was probably meant. */
function guessed({ path, message }: Failure['issues'][number]): Failure['issues'][number] {
  const [, known = '', word = ''] = /must be one of (.+), got "(.*)"$/.exec(message) ?? []
  const meant = known === '' ? '' : didYouMeanSentence(word, known.split(', '))
  return { path, message: meant === '' ? message : `${message}.${meant}` }
}

/** Commands that list what the API lists, by path. */
const lists: Readonly<Record<string, string>> = {
  '/webhook-endpoints': 'endpoints list',
  '/_sim/keys': 'keys list',
  '/claims': 'checks show CHECK',
  '/payments': 'events list --type payment.succeeded',
}

function inCommands(message: string): string {
  return message
    .replace(/\bGET (\/[\w/-]+)/, (all, path: string) => (path in lists ? `\`tabwire ${lists[path]}\`` : all))
    .replace(
      /^No (delivery|event) with this id\..*/,
      (all, noun: string) => `${all} Run \`tabwire ${plurals[noun]} list\`.`,
    )
}

const plurals: Readonly<Record<string, string>> = { delivery: 'deliveries', event: 'events' }

const KEY_HINT = 'Commands take the key from --api-key, TABWIRE_API_KEY or the data directory (--data-dir).'

const NO_KEY = 'No API key found. Run this where you started Tabwire, or pass --api-key or --data-dir.'

const RESTART_HINT = 'Start the service with `tabwire start`.'

/** Returns what to do when a service cannot be reached. */
function hintFor(message: string): string {
  if (/certificate|self-signed/i.test(message))
    return "The service's certificate is not trusted: pass the authority's certificate with --cacert."
  return message.startsWith('No service answers') ? NO_SERVICE_HINT : RESTART_HINT
}

const NO_SERVICE_HINT =
  'Run this where you started Tabwire, pass --data-dir or --url, or start a service with `tabwire start`.'
