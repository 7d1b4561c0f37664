import { loadHelpClass } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { renderTable } from '../cli/render/layout.ts'
import { noSuchCommand } from '../cli/unknown-command.ts'
import { readGuides } from '../guides.ts'

/** Widest line of a guide, in columns. */
const MOST_COLUMNS = 100

export default class Help extends BaseCommand {
  static override description =
    'Show the help of a command, or a guide.\nRun `help guides` for the list of guides.'
  static override examples = [
    '<%= config.bin %> help push',
    '<%= config.bin %> help deliveries wait',
    '<%= config.bin %> help webhooks   # a guide',
  ]
  static override strict = false

  async run(): Promise<void> {
    const { argv } = await this.parse(Help)
    const words = argv.map(String)
    const { config } = this
    const id = words.join(':')
    const known =
      words.length === 0 || config.findCommand(id) !== undefined || config.findTopic(id) !== undefined
    if (!known) return this.showGuide(words)
    const HelpClass = await loadHelpClass(config)
    await new HelpClass(config, config.pjson.oclif.helpOptions).showHelp(
      words.length > 0 ? words : ['--help'],
    )
  }

  private async showGuide(words: readonly string[]): Promise<void> {
    const guides = await readGuides()
    const name = words.join(' ')
    if (name === 'guides') {
      const list = guides.map((guide) => ({ name: guide.name, title: guide.title }))
      const rows = list.map((guide) => [guide.name, guide.title])
      return this.print({ data: list }, (columns) => renderTable(['guide', 'title'], rows, 'None.', columns))
    }
    const guide = guides.find((one) => one.name === name)
    if (guide === undefined)
      throw noSuchCommand(
        words,
        [...this.config.commandIDs, ...guides.map((one) => one.name)],
        'tabwire help',
      )
    if (this.wantsJson) return this.print(guide, () => guide.text)
    const { renderGuide } = await import('../cli/render/guide.ts')
    await this.showLong(guide.text, (columns) => renderGuide(guide.text, Math.min(columns, MOST_COLUMNS)))
  }
}
