/** A flag in oclif's manifest. */
interface KnownFlag {
  type: 'boolean' | 'option'
  description?: string | undefined
  char?: string | undefined
  aliases?: readonly string[] | undefined
  allowNo?: boolean | undefined
  multiple?: boolean | undefined
  hidden?: boolean | undefined
  options?: readonly string[] | undefined
}

interface KnownArgument {
  options?: readonly string[] | undefined
}

/** A command in oclif's manifest; `id` is oclif's, `deliveries:list`. */
export interface KnownCommand {
  id: string
  description?: string | undefined
  hidden?: boolean | undefined
  /** `false` when the last argument can be repeated. */
  strict?: boolean | undefined
  flags: Readonly<Record<string, KnownFlag>>
  args: Readonly<Record<string, KnownArgument>>
}

/** Commands and topics of the manifest; no command is loaded. */
export interface CommandTree {
  commands: readonly KnownCommand[]
  topics: readonly { name: string; description?: string | undefined }[]
}

/** A completion. The description is one line, or empty. */
export interface Suggestion {
  value: string
  description: string
}

/** Returns the commands and topics that can follow these words: `list` after `deliveries`. */
export function followers({ commands, topics }: CommandTree, path: readonly string[]): Suggestion[] {
  const descriptions = new Map(topics.map(({ name, description }) => [name, description]))
  const shown = commands.filter(({ hidden }) => hidden !== true)
  for (const { id, description } of shown) descriptions.set(id, description)
  const before = path.map((word) => `${word}:`).join('')
  const below = shown.map(({ id }) => id).filter((id) => id.startsWith(before))
  const words = new Set(below.map((id) => id.slice(before.length).split(':', 1)[0] ?? ''))
  return [...words]
    .sort()
    .map((value) => ({ value, description: firstLine(descriptions.get(before + value)) }))
}

/** Finds the command that these words begin with, and the words after it; no command when there is none. */
export function commandOf({ commands }: CommandTree, words: readonly string[]) {
  for (let length = words.length; length > 0; length--) {
    const command = commands.find(({ id }) => id === words.slice(0, length).join(':'))
    if (command !== undefined) return { command, rest: words.slice(length) }
  }
  return { command: undefined, rest: words }
}

export function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? ''
}

/** Position of the cursor in a command: in the value of a flag, in a flag's name, or in an argument. */
export interface Cursor {
  /** The typed part of the word; after `--flag=` the part of the value. */
  typed: string
  place: { flag: string } | { argument: string | undefined } | 'flags'
  /** Flags before the cursor, each with its last value. */
  given: ReadonlyMap<string, string>
  /** True after `--`. */
  isOperand?: boolean
}

/** Parses the words after the command's name. The last one, `''` after a blank, is the one to complete. */
export function readCursor(command: KnownCommand, words: readonly string[]): Cursor {
  const given = new Map<string, string>()
  const typed = words.at(-1) ?? ''
  let open: string | undefined
  let position = 0
  let onlyArguments = false
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      given.set(open, word)
      open = undefined
    } else if (onlyArguments || !word.startsWith('-') || word === '-') position++
    else if (word === '--') onlyArguments = true
    else {
      const { written, value } = split(word)
      const [name, flag] = flagOf(command, written) ?? [written, undefined]
      given.set(name, value ?? '')
      if (flag?.type === 'option' && value === undefined) open = name
    }
  }
  if (open !== undefined) return { typed, given, place: { flag: open } }
  if (onlyArguments || !typed.startsWith('-'))
    return { typed, given, place: { argument: argumentAt(command, position) }, isOperand: onlyArguments }
  const { written, value } = split(typed)
  const [name] = (value === undefined ? undefined : flagOf(command, written)) ?? []
  return name === undefined
    ? { typed, given, place: 'flags' }
    : { typed: value ?? '', given, place: { flag: name } }
}

/** Splits `--type=check.closed` into name and value. */
function split(word: string): { written: string; value?: string } {
  const at = word.indexOf('=')
  return at < 0 ? { written: word } : { written: word.slice(0, at), value: word.slice(at + 1) }
}

/** Finds a flag by its spelling: `--type`, `--env-file` for an alias, `--no-strict`, `-H`. */
function flagOf({ flags }: KnownCommand, written: string): [string, KnownFlag] | undefined {
  const bare = written.replace(/^-+/, '')
  return Object.entries(flags).find(([name, { char, aliases = [], allowNo }]) =>
    written.startsWith('--')
      ? name === bare || aliases.includes(bare) || (allowNo === true && bare === `no-${name}`)
      : char === bare,
  )
}

/** Further words belong to the last argument of a command that takes any number. */
function argumentAt({ args, strict }: KnownCommand, position: number): string | undefined {
  const names = Object.keys(args)
  return names[position] ?? (strict === false ? names.at(-1) : undefined)
}
