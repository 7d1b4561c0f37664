/** A flag, as the manifest tells of it. */
export interface KnownFlag {
  type: 'boolean' | 'option'
  description?: string | undefined
  char?: string | undefined
  aliases?: readonly string[] | undefined
  allowNo?: boolean | undefined
  multiple?: boolean | undefined
  hidden?: boolean | undefined
  options?: readonly string[] | undefined
}

export interface KnownArgument {
  options?: readonly string[] | undefined
}

/** A command, as the manifest tells of it; `id` is oclif's, `deliveries:list`. */
export interface KnownCommand {
  id: string
  description?: string | undefined
  hidden?: boolean | undefined
  /** `false` when its last argument may be there again and again. */
  strict?: boolean | undefined
  flags: Readonly<Record<string, KnownFlag>>
  args: Readonly<Record<string, KnownArgument>>
}

/** All that can be typed, without having loaded any command. */
export interface CommandTree {
  commands: readonly KnownCommand[]
  topics: readonly { name: string; description?: string | undefined }[]
}

/** What may stand where the cursor is. A description is one line, or nothing. */
export interface Suggestion {
  value: string
  description: string
}

/** Words that can follow these: commands and topics, `list` after `deliveries`. Nothing follows what is no topic. */
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

/** The command that these words begin with, and what comes behind it; words alone when they lead to none. */
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
