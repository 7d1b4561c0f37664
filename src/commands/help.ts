import { loadHelpClass, type Command } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { usageError } from '../cli/errors.ts'
import { renderTable } from '../cli/render/layout.ts'
import { suggestion } from '../cli/suggestion.ts'
import { noSuchCommand } from '../cli/unknown-command.ts'
import { readGuides } from '../package-file.ts'

/** Widest line of a guide, in columns. */
const MOST_COLUMNS = 100

export default class Help extends BaseCommand {
  static override description =
    'Show the help of a command, or a guide.\nRun `help guides` for the list of guides.'
  static override usage = 'help [COMMAND | GUIDE | guides]'
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
    if (this.wantsJson) return this.printShape(id)
    const HelpClass = await loadHelpClass(config)
    await new HelpClass(config, config.pjson.oclif.helpOptions).showHelp(
      words.length > 0 ? words : ['--help'],
    )
  }

  /** Prints the definition of a command, or of the commands of a topic; of all commands without words. */
  private printShape(id: string): void {
    const command = this.config.findCommand(id)
    if (command !== undefined) return this.print(shapeOf(command), () => '')
    const isBelow = (one: Command.Loadable) => !one.hidden && (id === '' || one.id.startsWith(`${id}:`))
    this.print({ data: this.config.commands.filter(isBelow).map(shapeOf) }, () => '')
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
    const [first = '', ...rest] = words
    if (guide === undefined && rest.length > 0 && guides.some((one) => one.name === first))
      throw usageError(
        `Unexpected argument after the guide ${first}: ${rest.join(' ')}. Run \`${suggestion('help', [first])}\`.`,
      )
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

/** Returns what help shows of a command, without what only the framework needs. */
function shapeOf({ id, description = '', usage, examples = [], args, flags }: Command.Loadable) {
  const [summary = '', ...rest] = description.split('\n')
  const words = id.replaceAll(':', ' ')
  return {
    name: words,
    summary,
    description: rest.join('\n'),
    usage: usage ?? [words, ...Object.keys(args).map((name) => name.toUpperCase()), '[FLAGS]'].join(' '),
    examples: examples.map((one) =>
      (typeof one === 'string' ? one : one.command).replaceAll('<%= config.bin %>', 'tabwire'),
    ),
    args: Object.values(args).map(({ name, description: text = '', required = false, options }) => ({
      name: name.toUpperCase(),
      description: text,
      required,
      ...(options !== undefined && { options }),
    })),
    flags: Object.values(flags)
      .filter(({ hidden }) => !hidden)
      .map((flag) => ({
        name: `--${flag.name}`,
        description: flag.description ?? '',
        type: flag.type,
        required: flag.required ?? false,
        environment: flag.env ?? null,
        ...(flag.type === 'option' && flag.options !== undefined && { options: flag.options }),
      })),
  }
}
