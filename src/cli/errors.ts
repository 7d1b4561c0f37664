import { Errors } from '@oclif/core'
import { stripVTControlCharacters } from 'node:util'
import { ApiError, TimedOut, Unreachable } from '../client/errors.ts'
import { didYouMeanSentence, trustAdvice } from '../model/text/advice.ts'
import { printable } from './render/text.ts'

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

/** Returns a rejection handler: it returns `value` for an ApiError, such as that of a missing scope, and rethrows others. */
export function ifRefused<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ApiError) return value
    throw error
  }
}

/** A mistake on the command line: exit code 2. */
export function usageError(message: string): CommandError {
  return new CommandError('usage', message, exitCodes.usage)
}

/** An error as a command prints it: for people, and for programs as `json`. */
export interface CommandFailure {
  message: string
  issues: readonly { path: string; message: string }[]
  requestId: string | null
  exitCode: number
  json: object
}

/** Returns the message and the exit code for an error; `command` is the command that was typed. */
export function describeFailure(error: Error, command: CommandShape = UNKNOWN): CommandFailure {
  const message = `${namedAsGiven(error.message, command)}${unusedProxy(error.message, command)}`
  const plain = { message, issues: [], requestId: null }
  if (error instanceof ApiError) return describeApiError(error, command)
  if (error instanceof CommandError)
    return { ...plain, exitCode: error.exitCode, json: { code: error.code, message } }
  if (error instanceof TimedOut)
    return { ...plain, exitCode: exitCodes.failed, json: { code: error.code, message } }
  if (error instanceof Unreachable) {
    const hint = `${message} ${hintFor(error, command)}`
    return {
      ...plain,
      message: hint,
      exitCode: exitCodes.failed,
      json: { code: 'unreachable', message: hint },
    }
  }
  if (error instanceof Errors.CLIError) {
    const text = namedAsGiven(wrongUsage(error.message, command), command)
    return { ...plain, message: text, exitCode: exitCodes.usage, json: { code: 'usage', message: text } }
  }
  const text = systemFailure(error) ?? message
  return { ...plain, message: text, exitCode: exitCodes.failed, json: { code: 'failed', message: text } }
}

/** Words of an error for a host of another network: behind a firewall, names and addresses lead nowhere. */
const NO_ROUTE = /\b(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b|Connect Timeout Error/

/** Returns the sentence for an error that a proxy would have avoided; nothing where none is set. */
function unusedProxy(message: string, { proxyVariable }: CommandShape): string {
  return proxyVariable === undefined || !NO_ROUTE.test(message)
    ? ''
    : ` ${proxyVariable} is set, but Tabwire connects without a proxy.`
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the variable that names a proxy for URLs of these schemes, as curl reads it; `undefined` when there is none. */
export function proxyIn(environment: Environment, ...schemes: readonly string[]): string | undefined {
  const names = [...schemes, 'all'].map((scheme) => `${scheme}_proxy`)
  return names.flatMap((name) => [name, name.toUpperCase()]).find((name) => (environment[name] ?? '') !== '')
}

/** Returns the variable that names a proxy which commands do not use; `undefined` when there is none. */
export function unusedProxyIn(environment: Environment): string | undefined {
  // Node's own fetch then uses the proxy.
  return environment.NODE_USE_ENV_PROXY === '1' ? undefined : proxyIn(environment, 'https', 'http')
}

/** The flags that a message is about, at its start. `needs a value` is about a flag that was typed. */
const SUBJECT = /^--[\w-]+(?= (?:must|needs) (?!a value))|^Pass --[\w-]+ or --[\w-]+(?=, not both)/

/** Names the environment variable in place of a flag at the start of a message, when the value came from there. */
function namedAsGiven(message: string, { variables = {} }: CommandShape): string {
  return message.replace(SUBJECT, (flags) =>
    flags.replace(/--([\w-]+)/g, (flag, name: string) => variables[name] ?? flag),
  )
}

/** Returns the message for an error of the file system that no command explains; `undefined` for any other. */
function systemFailure(error: NodeJS.ErrnoException & { dest?: string }): string | undefined {
  const { code = '', syscall } = error
  if (syscall === 'uv_cwd') return 'The working directory no longer exists. Change to another one.'
  // Of a draft that could not replace a file, users know the file.
  const path = error.dest ?? error.path
  // Writing to an open file tells no path.
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `Cannot write ${path ?? 'a file'}: the disk is full. Free disk space, then run the command again.`
  const reason = refusals[code]
  if (path === undefined || reason === undefined) return undefined
  const advice = code === 'EBUSY' ? 'Close that program' : 'Check its permissions'
  return `Cannot use ${path}: ${reason}. ${advice}, or work in another directory.`
}

const refusals: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  // Windows reports so what another program has opened for itself alone.
  EBUSY: 'it is in use by another program',
}

const UNKNOWN: CommandShape = { name: 'COMMAND', flags: {}, args: {}, typedAs: {} }

/** Returns true for the statuses of a path that a service does not have. */
export function isMissingPath({ status }: Pick<ApiError, 'status'>): boolean {
  return [404, 405, 410, 501].includes(status)
}

/** Lists that the specification does not have. Commands always ask for a number of records, so the path has a query. */
const OPTIONAL_LIST = /^\/v1\/(checks|webhook-endpoints|claims|payments|feedback)\?/
const NO_LIST = 'The specification has no such list, so another deployment may not have it.'

/** Codes of a 403 that concerns the origin or the host of a request, not its key. */
const NOT_THE_KEY: readonly string[] = ['forbidden_host', 'forbidden_origin']

function describeApiError(
  { status, body, message, requestId, code, path }: ApiError,
  command: CommandShape,
): CommandFailure {
  const issues = ((Array.isArray(body.issues) ? body.issues : []) as CommandFailure['issues']).map(guessed)
  const typed = typedWrongly({ code, message, issues }, command)
  if (typed !== undefined)
    return {
      message: `${namedAsGiven(typed, command)} Run \`tabwire ${command.name} --help\`.`,
      issues: [],
      requestId,
      exitCode: exitCodes.usage,
      json: { ...body, code, message },
    }
  const refused =
    code !== 'fault_injected' && (status === 401 || (status === 403 && !NOT_THE_KEY.includes(code)))
  const exitCode = refused ? exitCodes.keyRefused : exitCodes.failed
  return { message: explained(), issues, requestId, exitCode, json: { ...body, code, message } }

  function explained(): string {
    const refusal = `${status} ${code}: `
    // The issues follow, one per line.
    if (issues.length > 0) return `${refusal}the body is not valid.`
    if (code === 'fault_injected') return `${refusal}${printable(message)}`
    if (status === 401 && command.hasKey === false) return `${refusal}${NO_KEY}`
    const text = printable(message)
    if (isMissingPath({ status }) && OPTIONAL_LIST.test(path ?? '')) return `${refusal}${text} ${NO_LIST}`
    if (status !== 401) return `${refusal}${inCommands(text)}`
    return `${refusal}${text.replace(SEND_HEADER, '')} ${keyHint(command)}`
  }
}

/** Returns the message for a refusal that is caused by the typed words; `undefined` for any other. */
function typedWrongly(
  { code, message, issues }: Pick<ApiError, 'code' | 'message'> & Pick<CommandFailure, 'issues'>,
  { typedAs }: CommandShape,
): string | undefined {
  if (code === 'validation_failed') {
    const sentences = issues.flatMap((issue) => {
      const name = issue.path.match(/[a-z_]+/g)?.findLast((field) => field in typedAs)
      const text = inCommands(issue.message.replace(/([^.?])$/, '$1.'))
      return name === undefined ? [] : [`${typedAs[name]} ${text}`]
    })
    return sentences.length > 0 && sentences.length === issues.length ? sentences.join(' ') : undefined
  }
  const [field = ''] = /^\w+/.exec(message) ?? []
  const isOfWords = code === 'invalid_query' || code === 'invalid_path'
  return isOfWords && field in typedAs ? message.replace(field, String(typedAs[field])) : undefined
}

/** Adds the word that was probably meant. */
function guessed({ path, message }: CommandFailure['issues'][number]): CommandFailure['issues'][number] {
  const [, known = '', word = ''] = /must be one of (.+), got "(.*)"$/.exec(message) ?? []
  const meant = known === '' ? '' : didYouMeanSentence(word, known.split(', '))
  return { path, message: meant === '' ? message : `${message}.${meant}` }
}

/** Commands that list what the API lists, by path. */
const lists: Readonly<Record<string, string>> = {
  '/webhook-endpoints': 'endpoints list',
  '/_sim/keys': 'keys list',
  '/locations': 'locations',
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

/** Advice for programs at the end of a 401: commands send this header. */
const SEND_HEADER = / Send the header Authorization: Bearer <API_KEY>\.$/

function keyHint({ profile, isKeyGiven }: CommandShape): string {
  if (profile !== undefined)
    return `The key comes from --api-key, or from the variable that api_key_env of the profile ${profile} names.`
  return isKeyGiven === false
    ? 'The key comes from the data directory. Run this where you started Tabwire, or pass --api-key or --data-dir.'
    : 'Commands take the key from --api-key, TABWIRE_API_KEY or the data directory (--data-dir).'
}

const NO_KEY = 'No API key found. Run this where you started Tabwire, or pass --api-key or --data-dir.'

const REPEAT_HINT = 'Check the result, then repeat the command. A repeated push changes nothing.'

const RESTART_HINT = 'Start the service with `tabwire start`.'

/** Returns what to do when a service cannot be reached. */
function hintFor({ failedWhile, connectionCode }: Unreachable, { isUrlGiven }: CommandShape): string {
  if (failedWhile === 'waiting') return REPEAT_HINT
  if (failedWhile === 'reading') return RESTART_HINT
  if (isUrlGiven === true && /^(ENOTFOUND|EAI_)/.test(connectionCode ?? '')) return UNKNOWN_HOST_HINT
  const noService = isUrlGiven === true ? WRONG_URL_HINT : NO_SERVICE_HINT
  return trustAdvice(connectionCode, UNTRUSTED_HINT) ?? noService
}

const UNTRUSTED_HINT =
  "The service's certificate is not trusted: pass the authority's certificate with --cacert."

const NO_SERVICE_HINT =
  'Run this where you started Tabwire, pass --data-dir or --url, or start a service with `tabwire start`.'

const WRONG_URL_HINT =
  'Start a service there with `tabwire start`, or correct the URL: it comes from --url, TABWIRE_URL or the profile.'

const UNKNOWN_HOST_HINT =
  'Check the network, or correct the URL: it comes from --url, TABWIRE_URL or the profile.'

/** Definition of the command that was typed. */
export interface CommandShape {
  /** The name as typed: `deliveries wait`. */
  name: string
  flags: Readonly<Record<string, { description?: string | undefined }>>
  args: Readonly<
    Record<string, { description?: string | undefined; options?: readonly string[] | undefined }>
  >
  /** Flag or argument of each field of the API: `guest_name` is `--name`, `rating` is `RATING`. */
  typedAs: Readonly<Record<string, string>>
  /** `false` when the command found no API key to send. */
  hasKey?: boolean
  /** `false` when the key was found in the data directory, and not given. */
  isKeyGiven?: boolean
  /** `true` when the URL of the service was given, and not found in the data directory. */
  isUrlGiven?: boolean
  /** Environment variables that give values, by flag. */
  variables?: Readonly<Record<string, string>>
  /** Environment variable that names a proxy, which commands do not use. */
  proxyVariable?: string | undefined
  /** The profile in use, which names the URL and the variable of the key. */
  profile?: string | undefined
}

/** Rewrites oclif's usage errors: what happened, why, and what to do. */
export function wrongUsage(message: string, command: CommandShape): string {
  const plain = stripVTControlCharacters(message)
    .replace(/\nSee more help with --help$/, '')
    // oclif adds how it parses words, which does not help when one is missing.
    .replace(/\n\nNote: [^]*$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^ +/gm, '')
  const sentences = rules.reduce(
    (text, [pattern, say]) =>
      text.replace(pattern, (...found: unknown[]) => say(found.slice(1, 4).map(String), command)),
    plain,
  )
  const oneLine = sentences.replace(/\s*\n\s*/g, ' ').replace(/([^.?])$/, '$1.')
  return `${oneLine} Run \`tabwire ${command.name} --help\`.`
}

type Rule = [pattern: RegExp, say: (found: string[], command: CommandShape) => string]

const rules: Rule[] = [
  [/^Nonexistent flags?: (.+)$/, ([flags = ''], command) => noSuchFlags(flags.split(', '), command)],
  [/^Unexpected arguments?: (.+)$/, ([words = ''], { name }) => unexpectedArgument(name, words)],
  [/^Missing \d+ required args?:\n([^]+)$/, ([list = ''], command) => missingArguments(list, command)],
  [/^Missing required flag (?:--)?([\w-]+)$/gm, ([flag = ''], command) => missingFlag(flag, command)],
  [
    /^Expected --([\w-]+)=(.*) to be one of: (.+)$/,
    ([flag, word = '', known = '']) =>
      `--${flag} must be one of ${known}, got ${JSON.stringify(word)}.${didYouMeanSentence(word, known.split(', '))}`,
  ],
  [
    /^Expected (.*) to be one of: (.+)$/,
    ([word = '', known = ''], { args }) =>
      `${Object.keys(args).at(-1)?.toUpperCase()} must be one of ${known}, got ${JSON.stringify(word)}.${didYouMeanSentence(word, known.split(', '))}`,
  ],
  [/^Parsing (--[\w-]+)\s+(?=must |Expected an integer)/, ([flag]) => `${flag} `],
  [/^Parsing (--[\w-]+)\s+/, ([flag]) => `${flag}: `],
  [
    /Expected an integer(.*?) but received: (.*)$/,
    ([bound = '', word = '']) => `must be a whole number${boundOf(bound)}, got ${JSON.stringify(word)}.`,
  ],
  [
    /^(--[\w-]+)(?:=.*)? cannot also be provided when using (--[\w-]+)$/gm,
    ([one, other]) => `Pass ${one} or ${other}, not both.`,
  ],
  [
    /^All of the following must be provided when using (--[\w-]+): (.+)$/gm,
    ([flag, needed]) => `${flag} needs ${needed}.`,
  ],
  [/^Exactly one of the following must be provided: (.+)$/gm, ([flags]) => `Pass one of ${flags}.`],
  [/^Flag (--[\w-]+) expects a value$/, ([flag]) => `${flag} needs a value.`],
]

/** ` greater than or equal to 1` → ` of at least 1`. */
function boundOf(words: string): string {
  return words
    .replace('greater than or equal to', 'of at least')
    .replace('less than or equal to', 'of at most')
}

/** Returns the sentence for words after a command that takes none there. */
export function unexpectedArgument(command: string, words: string): string {
  const isComment = /(^|, )#, /.test(words)
  const meant = command === 'listen' && !isComment ? ' Pass the URL with --forward-to.' : ''
  return `Unexpected argument for \`tabwire ${command}\`: ${words}.${isComment ? ` ${COMMENT_ADVICE}` : meant}`
}

/** Advice for a comment that the shell passed on with the command before it. */
export const COMMENT_ADVICE =
  'The shell passed a comment on as arguments: leave out # and the words after it. In zsh, `setopt interactive_comments` allows comments.'

function noSuchFlags(flags: readonly string[], { flags: known }: CommandShape): string {
  // Without values: one may be a secret.
  const names = flags.map((flag) => flag.replace(/=[^]*$/, ''))
  const typed = names.join(', ')
  const [only = ''] = names
  const meant =
    flags.length === 1 ? didYouMeanSentence(only.replace(/^-+/, ''), Object.keys(known), '--') : ''
  return `Unknown ${flags.length === 1 ? 'flag' : 'flags'} ${typed}.${meant}`
}

function missingArguments(list: string, { args }: CommandShape): string {
  const missing = Object.entries(args).filter(([name]) => new RegExp(`^${name}( |$)`, 'm').test(list))
  const sentences = missing.map(
    ([name, { description = '', options }]) =>
      `${name.toUpperCase()} is missing: ${lowerFirst(description)}${options === undefined ? '' : ` One of: ${options.join(', ')}.`}`,
  )
  return sentences.join(' ')
}

function missingFlag(flag: string, { flags }: CommandShape): string {
  return `--${flag} is missing: ${lowerFirst(flags[flag]?.description ?? '')}`
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}
