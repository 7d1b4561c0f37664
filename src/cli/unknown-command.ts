import type { Hook } from '@oclif/core'
import { BaseCommand } from './base-command.ts'
import { noSuchCommand } from './no-such-command.ts'

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
