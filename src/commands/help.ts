import { loadHelpClass } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { noSuchCommand } from '../cli/unknown-command.ts'

export default class Help extends BaseCommand {
  static override description = 'Show help for a command, like --help.'
  static override examples = ['<%= config.bin %> help push', '<%= config.bin %> help deliveries wait']
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(Help)
    const words = argv.map(String)
    const { config } = this
    const id = words.join(':')
    const known =
      words.length === 0 || config.findCommand(id) !== undefined || config.findTopic(id) !== undefined
    if (!known) throw noSuchCommand(words, config.commandIDs)
    const HelpClass = await loadHelpClass(config)
    await new HelpClass(config, config.pjson.oclif.helpOptions).showHelp(
      words.length > 0 ? words : ['--help'],
    )
  }
}
