import type { Hook } from '@oclif/core'
import { BaseCommand } from './base-command.ts'
import { closestWord } from '../model/did-you-mean.ts'
import { CommandError, usageError } from './errors.ts'

/** Stands in for a command that there is none of, so that its end is like any other's: `--json`, exit 2. */
class UnknownCommand extends BaseCommand {
  static override hidden = true

  async run(): Promise<void> {
    const typed = this.argv.filter((word) => !word.startsWith('-'))
    throw noSuchCommand(typed, this.config.commandIDs)
  }
}

/**
 * oclif's hook for what it cannot find; it says so in its own words otherwise, whatever was asked for. It joins words by
 * colons, which an address has too, so that what was typed is taken from where it was.
 */
const commandNotFound: Hook.CommandNotFound = async ({ config }) => {
  await UnknownCommand.run(process.argv.slice(2), config)
}

export default commandNotFound

/** What to say when these words name no command; they are none when there is nothing but flags. */
export function noSuchCommand(words: readonly string[], ids: readonly string[]): CommandError {
  if (words.length === 0) return usageError(`A command goes before its flags. ${LIST}`)
  const likely = likelyCommand(words, ids)
  const hint = likely === undefined ? LIST : `Did you mean tabwire ${likely}?`
  return usageError(`tabwire ${words.join(' ')} is no command. ${hint}`)
}

const LIST = 'tabwire --help lists those there are.'

/**
 * The command that these words were probably meant for, `deliveries list` for `delivery lst`, or its topic; `undefined` when
 * nothing is like it. `ids` are oclif's: `deliveries:list`.
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
