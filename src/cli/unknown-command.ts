import type { Hook } from '@oclif/core'
import { BaseCommand } from './base-command.ts'
import { readGuides } from '../package-file.ts'
import { closestWord, didYouMeanSentence } from '../model/text/advice.ts'
import { CommandError, unexpectedArgument, usageError } from './errors.ts'
import { suggestion } from './suggestion.ts'

/** Runs for an unknown command, so that `--json` and exit code 2 work as elsewhere. */
class UnknownCommand extends BaseCommand {
  static override hidden = true

  async run(): Promise<void> {
    const [first = ''] = this.argv
    if (first.startsWith('-')) throw flagBeforeCommand(first)
    // Words after a flag can be its value, such as an API key.
    const end = this.argv.findIndex((word) => word.startsWith('-'))
    const typed = end === -1 ? this.argv : this.argv.slice(0, end)
    const [only = '', ...others] = typed
    const isGuide = only === 'guides' || (await readGuides()).some(({ name }) => name === only)
    if (isGuide && others.length === 0)
      throw usageError(
        `Unknown command ${JSON.stringify(only)}. Did you mean \`${suggestion('help', [only])}\`?`,
      )
    throw noSuchCommand(typed, this.config.commandIDs)
  }
}

/**
 * oclif's hook for unknown commands, which replaces oclif's own message. oclif joins words by colons, which an
 * address has too, so the words come from `process.argv`.
 */
const commandNotFound: Hook.CommandNotFound = async ({ config }) => {
  await UnknownCommand.run(process.argv.slice(2), config)
}

export default commandNotFound

/**
 * Makes the error for a flag in the place of a command. The words after it can be its value, such as an API key, so the
 * message does not repeat them.
 */
function flagBeforeCommand(flag: string): CommandError {
  const [name = ''] = flag.split('=')
  const meant = didYouMeanSentence(name, ['--help', '--version'])
  return usageError(
    meant === ''
      ? `COMMAND is missing before the flag ${name}. Write flags after the command. ${LIST}`
      : `Unknown flag ${name}.${meant} ${LIST}`,
  )
}

/** Makes the error for words that name no command. `before` is what the suggested words follow. */
export function noSuchCommand(
  words: readonly string[],
  ids: readonly string[],
  before = 'tabwire',
): CommandError {
  const typed = words.join(' ')
  const likely = likelyCommand(words, ids)
  if (likely !== undefined && typed.startsWith(`${likely} `) && ids.includes(likely.replaceAll(' ', ':')))
    return usageError(
      `${unexpectedArgument(likely, typed.slice(likely.length + 1))} Run \`tabwire ${likely} --help\`.`,
    )
  return usageError(
    `Unknown command ${JSON.stringify(typed)}. ${hintFor(typed, commandOfWord(words, ids) ?? likely, before)}`,
  )
}

function hintFor(typed: string, likely: string | undefined, before: string): string {
  if (typed === 'stop') return 'Press Ctrl-C in the terminal of `tabwire start`.'
  if (typed === 'version') return 'Did you mean `tabwire --version`?'
  const known = wordsOfOthers.get(typed)
  if (known !== undefined) return `Did you mean \`${before} ${known}\`?`
  if (likely === undefined) return LIST
  // A topic that was typed correctly, with an unknown word after it.
  if (typed.startsWith(`${likely} `)) return `Run \`tabwire ${likely} --help\`.`
  return `Did you mean \`${before} ${likely}\`?`
}

/** Words of other command line programs, with what they are called here. */
const wordsOfOthers: ReadonlyMap<string, string> = new Map([
  ['status', 'doctor'],
  ['health', 'doctor'],
  ['logs', 'requests list'],
  ['forward', 'listen'],
  ['serve', 'start'],
  ['server', 'start'],
  ['run', 'start'],
  ['up', 'start'],
  ['dev', 'start'],
  ['retry', 'deliveries resend'],
  ['keys delete', 'keys revoke'],
])

const LIST = 'Run `tabwire --help`.'

/**
 * Returns the only command that one of the first two words names without its topic: `guests pay` for `pay`. After a topic
 * it is one without a topic: `push` for `checks push`, but none for `checks delete`.
 */
function commandOfWord(words: readonly string[], ids: readonly string[]): string | undefined {
  const isTopic = ids.some((id) => id.startsWith(`${words[0]}:`))
  for (const word of words.slice(0, 2)) {
    const named = ids.filter((id) => id === word || (!isTopic && id.endsWith(`:${word}`)))
    if (named.length === 1) return named[0]?.replaceAll(':', ' ')
  }
  return undefined
}

/**
 * Returns the command or topic that was probably meant, `deliveries list` for `delivery lst`. `ids` are oclif's:
 * `deliveries:list`.
 */
function likelyCommand(words: readonly string[], ids: readonly string[]): string | undefined {
  const [word = '', ...rest] = words
  const firsts = [...new Set(ids.map((id) => id.split(':', 1)[0] ?? ''))]
  const first = firsts.includes(word) ? word : closestWord(word, firsts)
  if (first === undefined) return undefined
  const below = ids.filter((id) => id.startsWith(`${first}:`)).map((id) => id.slice(first.length + 1))
  const further = below.length === 0 ? undefined : likelyCommand(rest, below)
  return further === undefined ? first : `${first} ${further}`
}
