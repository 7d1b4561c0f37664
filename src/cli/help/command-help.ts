import { CommandHelp as OclifCommandHelp, ux, type Command } from '@oclif/core'

type Sections = ReturnType<OclifCommandHelp['sections']>

/** Order of the sections: examples come first, since most readers look for what to type. */
const order = ['EXAMPLES', 'USAGE', 'DESCRIPTION', 'ARGUMENTS', 'FLAGS']

/** Help of one command: examples, then usage, then each flag. */
export class CommandHelp extends OclifCommandHelp {
  protected override sections(): Sections {
    const sections = super.sections().filter(({ header }) => order.includes(header))
    const inOrder = sections.toSorted((one, other) => order.indexOf(one.header) - order.indexOf(other.header))
    return [...inOrder, { header: 'ENVIRONMENT', generate: () => this.wrap(ENVIRONMENT) }]
  }

  /** Prints one example per line, unwrapped, so that they can be copied. */
  protected override examples(examples: Command.Example[] | string | undefined): string | undefined {
    const lines = [examples ?? []]
      .flat()
      .map((one) => this.render(typeof one === 'string' ? one : one.command))
    return lines.map((line) => `${this.theme('dollarSign', '$')} ${withDimComment(line)}`).join('\n')
  }

  /** Leaves out which flags exclude each other: descriptions and errors say it more clearly than brackets. */
  protected override defaultUsage(): string {
    const { id, args, flags } = this.command
    const words = Object.values(args).map((arg) => this.arg(arg) + (this.command.strict === false ? '…' : ''))
    return [id, ...words, ...(Object.keys(flags).length > 0 ? ['[FLAGS]'] : [])].join(' ')
  }

  /** The description without its first line, which stands above everything. */
  protected override description(): string | undefined {
    const [, ...rest] = (this.command.description ?? '').split('\n')
    return rest.length === 0 ? undefined : this.wrap(rest.join('\n'))
  }

  /** Prints a flag's description before its default. That each flag has a variable is said once, below. */
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    const plain = flags.map(({ env: _env, default: _preset, ...rest }) => rest as Command.Flag.Any)
    return super.flags(plain)?.map(([label, text = ''], index) => {
      const preset = flags[index]?.type === 'option' ? (flags[index].default as unknown) : undefined
      if (typeof preset !== 'string' && typeof preset !== 'number' && !Array.isArray(preset))
        return [label, text]
      return [label, `${text} ${this.theme('flagDefaultValue', `[default: ${String(preset)}]`)}`]
    })
  }

  private theme(element: 'dollarSign' | 'flagDefaultValue', text: string): string {
    return ux.colorize(this.config.theme?.[element] ?? 'dim', text)
  }
}

const ENVIRONMENT =
  'Each flag has a variable TABWIRE_<FLAG>, such as TABWIRE_DATA_DIR for --data-dir. Flags take precedence.'

function withDimComment(example: string): string {
  return example.replace(/ {3}# .*$/, (comment) => ux.colorize('dim', comment))
}
