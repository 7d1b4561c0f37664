import { readFile } from 'node:fs/promises'
import type { Client } from '../../client.ts'
import { scopes } from '../../model/api-key.ts'
import { eventTypes } from '../../model/event.ts'
import { apiFaultKinds, deliveryFaultKinds } from '../../model/simulator/fault-kinds.ts'
import { accountCodes, findingCodes } from '../../model/simulator/report.ts'
import { readConfigFile } from '../config/file.ts'
import { savedStates } from '../files/state-files.ts'
import { readSamples } from '../push/samples.ts'
import { shippedNames } from '../scenario/shipped.ts'
import {
  commandOf,
  type CommandTree,
  type Cursor,
  firstLine,
  followers,
  type KnownCommand,
  readCursor,
  type Suggestion,
} from './parse.ts'
import { packageFile } from '../../package-file.ts'
import { renderer } from '../render/text.ts'

/** Completions at the cursor. */
export interface Completion {
  /** The part of the word that is typed. */
  typed: string
  suggestions: readonly Suggestion[]
  /** Kind of further values, which must be looked up. */
  kind?: ValueKind | undefined
  /** Flags given so far, among them those that locate the service. */
  given: ReadonlyMap<string, string>
}

/**
 * Returns what can be typed next. `words` are those after the program's name up to the cursor; the last one, `''`
 * after a blank, is the one to complete. Suggestions are not filtered by the typed part.
 */
export function suggest(tree: CommandTree, words: readonly string[]): Completion {
  const joined = joinBroken(words)
  const typed = joined.at(-1) ?? ''
  const nothing = { typed, given: new Map<string, string>() }
  const path = joined[0] === 'help' ? joined.slice(1, -1) : joined.slice(0, -1)
  const { command, rest } = commandOf(tree, path)
  if (command === undefined || joined[0] === 'help') return { ...nothing, suggestions: followers(tree, path) }
  const cursor = readCursor(command, [...rest, typed])
  // A command can have others below it, unlike a topic such as `contract`.
  const below = rest.length === 0 ? followers(tree, path) : []
  return { typed: cursor.typed, given: cursor.given, ...atCursor(command, cursor, below) }
}

function atCursor(command: KnownCommand, cursor: Cursor, below: readonly Suggestion[]) {
  const { place, given, typed, isOperand = false } = cursor
  // The words of the command that `exec` runs.
  if (isOperand && command.id === 'exec') return valuesOf(undefined, 'file')
  if (place === 'flags') return { suggestions: flagsOf(command, given) }
  if ('flag' in place)
    return valuesOf(command.flags[place.flag]?.options, kindOf(command.id, place.flag, 'flag'))
  if (place.argument === undefined)
    return { suggestions: [...below, ...(typed === '' && !isOperand ? flagsOf(command, given) : [])] }
  return valuesOf(command.args[place.argument]?.options, kindOf(command.id, place.argument, 'argument'))
}

function valuesOf(options: readonly string[] | undefined, kind: ValueKind | undefined) {
  if (options === undefined) return { suggestions: [], kind }
  return { suggestions: options.map((value) => ({ value, description: '' })) }
}

/** Returns the flags that can still be given. */
function flagsOf({ flags }: KnownCommand, given: ReadonlyMap<string, string>): Suggestion[] {
  return Object.entries(flags)
    .filter(([name, { hidden, multiple }]) => hidden !== true && (multiple === true || !given.has(name)))
    .map(([name, { description }]) => ({ value: `--${name}`, description: firstLine(description) }))
}

/** Joins words that bash splits at `=` and `:`. */
function joinBroken(words: readonly string[]): string[] {
  return words.reduce<string[]>((joined, word, at) => {
    const sticks = /^[=:]+$/.test(word) || /^[=:]+$/.test(words[at - 1] ?? '')
    if (sticks && joined.length > 0) joined.push(`${joined.pop() ?? ''}${word}`)
    else joined.push(word)
    return joined
  }, [])
}

/** Values of a flag or argument that its command does not list: words, files, or names to look up. */
type ValueKind = { words: readonly string[] } | 'file' | LookedUp
type LookedUp =
  | 'check'
  | 'claim'
  | 'contract case'
  | 'delivery'
  | 'endpoint'
  | 'event'
  | 'key'
  | 'payment'
  | 'profile'
  | 'receiver case'
  | 'request'
  | 'sample'
  | 'scenario'
  | 'state'

const faultWords: ValueKind = { words: [...deliveryFaultKinds, ...apiFaultKinds] }

const ofFlags: Readonly<Record<string, ValueKind>> = {
  body: 'file',
  bundle: 'file',
  cacert: 'file',
  check: 'check',
  config: 'file',
  'data-dir': 'file',
  delivery: 'delivery',
  endpoint: 'endpoint',
  dotenv: 'file',
  events: { words: ['all', ...eventTypes] },
  'fail-on': { words: ['any', 'none', ...findingCodes, ...accountCodes] },
  faults: faultWords,
  finding: { words: ['any', ...findingCodes] },
  file: 'file',
  junit: 'file',
  many: 'file',
  out: 'file',
  profile: 'profile',
  request: 'file',
  sample: 'sample',
  scopes: { words: scopes },
  'secret-file': 'file',
  'api-key-file': 'file',
  'read-key-file': 'file',
  'store-key-file': 'file',
}

const ofArguments: Readonly<Record<string, ValueKind>> = {
  check: 'check',
  claim: 'claim',
  delivery: 'delivery',
  endpoint: 'endpoint',
  event: 'event',
  fault: faultWords,
  file: 'file',
  key: 'key',
  payment: 'payment',
  request: 'request',
  scenario: 'scenario',
}

/** Flags that select conformance cases. */
const selecting = ['only', 'skip', 'require']

/** Returns `undefined` for values that only the user knows: numbers, names, addresses. */
function kindOf(command: string, name: string, place: 'flag' | 'argument'): ValueKind | undefined {
  if (command.startsWith('state:') && name === 'name') return 'state'
  if (command === 'checks:samples') return 'sample'
  if (selecting.includes(name)) {
    if (command === 'contract:check') return 'contract case'
    if (command === 'receiver:check') return 'receiver case'
  }
  return (place === 'flag' ? ofFlags : ofArguments)[name]
}

/** Sources of names. The service is asked only when needed. */
interface Places {
  connect(): Promise<Client>
  dataDirectory: string
  /** The file of `--config`. */
  config: string | undefined
}

type Finder = (places: Places) => Promise<Suggestion[]>

const newest = { limit: 100 }

/** Lists the newest hundred of each kind. */
const finders: Record<LookedUp, Finder> = {
  check: async ({ connect }) =>
    (await (await connect()).checks.list(newest)).data.map(({ external_id, table, status }) => ({
      value: external_id,
      description: `table ${table.number}, ${status}`,
    })),
  claim: async ({ connect }) =>
    (await (await connect()).claims.list(newest)).data
      .filter(({ status }) => status === 'active')
      .map(({ id, guest_name, external_check_id }) => ({
        value: id,
        description: `${guest_name ?? 'a guest'}, ${external_check_id}`,
      })),
  'contract case': async () => caseNames((await import('../../conformance/contract/run.ts')).contractCases),
  delivery: async ({ connect }) =>
    (await (await connect()).deliveries.list(newest)).data.map(({ id, event_type, status }) => ({
      value: id,
      description: `${event_type}, ${status}`,
    })),
  endpoint: async ({ connect }) =>
    (await (await connect()).endpoints.list(newest)).data.map(({ id, url, status }) => ({
      value: id,
      description: `${url}, ${status}`,
    })),
  event: async ({ connect }) =>
    (await (await connect()).events.list(newest)).data.map(({ id, type, external_check_id }) => ({
      value: id,
      description: `${type}, ${external_check_id ?? 'no check'}`,
    })),
  key: async ({ connect }) =>
    (await (await connect()).keys.list(newest)).data.map(({ id, scopes }) => ({
      value: id,
      description: scopes.join(', '),
    })),
  payment: async ({ connect }) =>
    (await (await connect()).payments.list(newest)).data.map(({ id, guest_name, external_check_id }) => ({
      value: id,
      description: `${guest_name ?? 'a guest'}, ${external_check_id}`,
    })),
  profile: async ({ config }) =>
    Object.keys((await readConfigFile(config))?.content.profiles ?? {}).map((value) => ({
      value,
      description: '',
    })),
  'receiver case': async () => caseNames((await import('../../conformance/receiver/check.ts')).receiverCases),
  request: async ({ connect }) =>
    (await (await connect()).requests.list(newest)).data.map(({ id, method, path, status }) => ({
      value: id,
      description: `${method} ${path}, ${status}`,
    })),
  sample: async () =>
    (await readSamples()).map(({ name, purpose }) => ({ value: name, description: purpose })),
  scenario: async () => (await shippedNames()).map((value) => ({ value, description: '' })),
  state: async ({ dataDirectory }) =>
    (await savedStates(dataDirectory)).map(({ name, saved_at }) => ({
      value: name,
      description: `saved ${saved_at}`,
    })),
}

/** Returns the groups of conformance cases, and the cases. */
function caseNames(cases: readonly { group: string; id: string; title: string }[]): Suggestion[] {
  const groups = [...new Set(cases.map(({ group }) => group))]
  return [
    ...groups.map((value) => ({ value, description: '' })),
    ...cases.map(({ group, id, title }) => ({ value: `${group}/${id}`, description: title })),
  ]
}

/**
 * Returns the existing names of a kind. Leaves out names that a shell would not take as one plain word: an external
 * id can hold any text, and is inserted into the line as it is. Returns nothing after `timeoutMs` milliseconds.
 */
export async function lookUp(kind: LookedUp, places: Places, timeoutMs: number): Promise<Suggestion[]> {
  const late = new Promise<Suggestion[]>((resolve) => setTimeout(resolve, timeoutMs, []).unref())
  const found = finders[kind](places).catch(() => [])
  const all = await Promise.race([found, late])
  return all.filter(({ value }) => /^[\p{L}\p{N}_][\p{L}\p{N}_.@%+,/-]*$/u.test(value))
}

/** Each shell's script in `fixtures/completion`. */
const files = {
  bash: 'tabwire.bash',
  zsh: 'tabwire.zsh',
  fish: 'tabwire.fish',
  powershell: 'tabwire.ps1',
} as const

export type CompletionShell = keyof typeof files
export const shells = Object.keys(files) as CompletionShell[]

/** Returns the script that makes a shell ask `tabwire complete` when the tab key is pressed. */
export async function shellScript(shell: CompletionShell): Promise<string> {
  return readFile(packageFile(`fixtures/completion/${files[shell]}`), 'utf8')
}

/** Last line of an answer: 4 keeps a shell from completing files. The protocol is that of cobra, a Go library. */
const NO_FILES = ':4'
const FILES = ':0'

/**
 * Renders one suggestion per line, with its description after a tab, and at the end whether files are possible, too.
 * {@link renderer} makes the texts printable: descriptions hold names from other programs.
 */
export const renderCompletion = renderer(
  ({ typed, suggestions, kind }: Completion, further: readonly Suggestion[]): string => {
    const lines = [...suggestions, ...further]
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, description }) => `${value}${description === '' ? '' : `\t${description}`}\n`)
    return `${lines.join('')}${kind === 'file' || kind === 'scenario' ? FILES : NO_FILES}\n`
  },
)
