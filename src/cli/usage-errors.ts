import { stripVTControlCharacters } from 'node:util'
import { didYouMeanSentence } from '../model/text/did-you-mean.ts'

/** Definition of the command that was typed. */
export interface CommandShape {
  /** The name as typed: `deliveries wait`. */
  name: string
  flags: Readonly<Record<string, { description?: string | undefined }>>
  args: Readonly<Record<string, { description?: string | undefined }>>
  /** Flag or argument of each field of the API: `guest_name` is `--name`, `rating` is `RATING`. */
  typedAs: Readonly<Record<string, string>>
  /** `false` when the command found no API key to send. */
  hasKey?: boolean
}

/** Rewrites oclif's usage errors: what happened, why, and what to do. */
export function wrongUsage(message: string, command: CommandShape): string {
  const told = stripVTControlCharacters(message)
    .replace(/\nSee more help with --help$/, '')
    // oclif adds how it parses words, which does not help when one is missing.
    .replace(/\n\nNote: [^]*$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/^ +/gm, '')
  const sentences = rules.reduce(
    (text, [pattern, say]) =>
      text.replace(pattern, (...found: unknown[]) => say(found.slice(1, 4).map(String), command)),
    told,
  )
  const oneLine = sentences.replace(/\s*\n\s*/g, ' ').replace(/([^.?])$/, '$1.')
  return `${oneLine} Run \`tabwire ${command.name} --help\`.`
}

type Rule = [pattern: RegExp, say: (found: string[], command: CommandShape) => string]

const rules: Rule[] = [
  [/^Nonexistent flags?: (.+)$/, ([flags = ''], command) => noSuchFlags(flags.split(', '), command)],
  [
    /^Unexpected arguments?: (.+)$/,
    ([words], { name }) => `Unexpected argument for \`tabwire ${name}\`: ${words}.`,
  ],
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
  const told = missing.map(
    ([name, { description = '' }]) => `${name.toUpperCase()} is missing: ${lowerFirst(description)}`,
  )
  return told.join(' ')
}

function missingFlag(flag: string, { flags }: CommandShape): string {
  return `--${flag} is missing: ${lowerFirst(flags[flag]?.description ?? '')}`
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}
