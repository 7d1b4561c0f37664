import {
  type Command,
  CommandHelp as OclifCommandHelp,
  Errors,
  Help as OclifHelp,
  type Interfaces,
  ux,
} from '@oclif/core'
import { fitTo } from './render/layout.ts'
import { FORWARD, PUSH, SAVE_SECRET } from './suggestion.ts'

/** Longer lines are hard to read, however wide the terminal is. */
const MOST_COLUMNS = 100

/** Help: examples first, commands grouped by purpose, and four main jobs at the start. */
export default class Help extends OclifHelp {
  protected override CommandHelpClass = CommandHelp

  constructor(config: Interfaces.Config, opts: Partial<Interfaces.HelpOptions> = {}) {
    super(config, opts)
    this.opts.maxWidth = Math.min(this.opts.maxWidth, MOST_COLUMNS)
  }

  /** Prints a short introduction for `tabwire` alone; `--help` lists all commands. */
  override async showHelp(argv: string[]): Promise<void> {
    // oclif reads `help` as a request for all commands.
    const help = argv[0] === 'help' ? this.config.findCommand('help') : undefined
    if (help !== undefined) return this.showCommandHelp(help)
    if (argv.length > 0) return this.showHelpOf(argv)
    this.log([this.summaryOfAll(), renderJobs(mainJobs()), renderFields(elsewhere)].join('\n\n'))
  }

  /** Reports an unknown command as it is reported without `--help`. */
  private async showHelpOf(argv: string[]): Promise<void> {
    try {
      await super.showHelp(argv)
    } catch (error) {
      if (!(error instanceof Errors.CLIError) || !/^Command .* not found\.$/.test(error.message)) throw error
      await this.config.runHook('command_not_found', { id: argv.join(':') })
    }
  }

  protected override async showRootHelp(): Promise<void> {
    const lists = helpGroups([...this.summaries().keys()]).map(({ heading, names }) =>
      this.section(heading, this.listOf(names)),
    )
    this.log([this.summaryOfAll(), renderJobs(mainJobs()), ...lists, EXPLAIN].join('\n\n'))
  }

  /** Continues commands and wraps texts that are wider than the terminal. */
  protected override log(...args: string[]): void {
    super.log(...args.map((text) => fitTo(process.stdout.columns || Infinity, text)))
  }

  private summaryOfAll(): string {
    const { version } = this.config
    const description = String(this.config.pjson.description)
    return `${this.wrap(description, 0)} ${ux.colorize('dim', version)}`
  }

  /** Returns the summary of each command and topic, by name. */
  private summaries(): Map<string, string> {
    const topics = this.sortedTopics.filter(({ name }) => !name.includes(':'))
    const commands = this.sortedCommands.filter(({ id }) => !id.includes(':'))
    return new Map([
      ...topics.map(({ name, description = '' }) => [name, description] as const),
      ...commands.map((command) => [command.id, this.summary(command) ?? ''] as const),
    ])
  }

  private listOf(names: readonly string[]): string {
    const summaries = this.summaries()
    const rows = names.map((name): [string, string] => [name, summaries.get(name) ?? ''])
    return this.renderList(rows, { indentation: 2, spacer: '\n' })
  }
}

const elsewhere = [
  ['tabwire demo', 'show a complete run in a few seconds'],
  ['tabwire --help', 'list all commands'],
  ['tabwire COMMAND --help', 'show examples and flags of a command'],
  ['tabwire help guides', 'list guides, such as webhooks and testing'],
] as const

const EXPLAIN =
  'Run `tabwire COMMAND --help` for examples and flags, and `tabwire help guides` for guides. Every command accepts --json.'

function renderJobs(jobs: readonly Job[]): string {
  return jobs
    .map(({ what, commands }) => [ux.colorize('bold', what), ...commands.map(prompted)].join('\n'))
    .join('\n\n')
}

function prompted(command: string): string {
  return `  ${ux.colorize('dim', '$')} ${command}`
}

function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${ux.colorize('dim', value)}`).join('\n')
}

/** A job, with the commands that do it. */
interface Job {
  what: string
  commands: readonly string[]
}

/** Returns the four main jobs that `tabwire` alone prints. A test runs the help of each command. */
export function mainJobs(): Job[] {
  return [
    { what: 'Start the service on this machine', commands: ['tabwire start'] },
    {
      what: 'Forward webhooks to your application, then push a check',
      commands: [FORWARD, PUSH],
    },
    {
      what: 'Test your receiver',
      commands: [
        SAVE_SECRET,
        'tabwire receiver check http://localhost:3000/webhooks --secret-file listen.secret',
      ],
    },
    {
      what: 'Check your integration, locally or in CI',
      commands: ['tabwire report --fail-on any', 'tabwire contract check --junit contract.xml'],
    },
  ]
}

/** A heading of the list of commands, with its commands and topics in order of use. */
interface Group {
  heading: string
  names: readonly string[]
}

/** Every command and topic belongs to at most one group. Those of none are listed under {@link OTHERS}. */
export const groups: readonly Group[] = [
  {
    heading: 'SERVICE',
    names: ['start', 'exec', 'open', 'demo', 'doctor', 'state', 'clock', 'faults', 'keys', 'config'],
  },
  { heading: 'CHECKS AND GUESTS', names: ['push', 'checks', 'locations', 'guests', 'qr', 'scenario'] },
  {
    heading: 'WEBHOOKS',
    names: ['endpoints', 'ping', 'tail', 'listen', 'trigger', 'events', 'deliveries'],
  },
  { heading: 'RECEIVERS', names: ['receiver', 'verify', 'sign', 'certs'] },
  { heading: 'REPORTS AND CONTRACT', names: ['report', 'requests', 'replay', 'contract', 'openapi'] },
  { heading: 'CODING AGENTS', names: ['mcp', 'skill'] },
  { heading: 'SHELL', names: ['completion'] },
]

const OTHERS = 'MORE'

/** Groups the known names under their headings. Leaves out `help`, whose reader has found it. */
export function helpGroups(names: readonly string[]): Group[] {
  const placed = new Set(['help', ...groups.flatMap((group) => group.names)])
  const others = { heading: OTHERS, names: names.filter((name) => !placed.has(name)) }
  return [...groups, others]
    .map(({ heading, names: wanted }) => ({ heading, names: wanted.filter((name) => names.includes(name)) }))
    .filter(({ names: found }) => found.length > 0)
}

type Sections = ReturnType<OclifCommandHelp['sections']>

/** Order of the sections: examples come first, since most readers look for what to type. */
const order = ['EXAMPLES', 'USAGE', 'DESCRIPTION', 'ARGUMENTS', 'FLAGS']

/** Help of one command: examples, then usage, then each flag. */
class CommandHelp extends OclifCommandHelp {
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
    const most = this.command.strict === false ? '…' : ''
    const words = Object.values(args).map((arg, at, all) => this.arg(arg) + (at < all.length - 1 ? '' : most))
    return [id, ...words, ...(Object.keys(flags).length > 0 ? ['[FLAGS]'] : [])].join(' ')
  }

  /**
   * Marks the last argument alone as repeatable: only that one takes the rest of the words. Lists the values of an argument
   * behind its description.
   */
  protected override args(args: Command.Arg.Any[]): [string, string | undefined][] | undefined {
    return super
      .args(args.map(({ options: _options, ...rest }) => rest as Command.Arg.Any))
      ?.map(([name, text = ''], at, all) => [
        at < all.length - 1 ? name.replace('...', '') : name,
        text + this.values(args[at]?.options),
      ])
  }

  /** The description without its first line, which stands above everything. */
  protected override description(): string | undefined {
    const [, ...rest] = (this.command.description ?? '').split('\n')
    return rest.length === 0 ? undefined : this.wrap(rest.join('\n'))
  }

  /** Prints a flag's description before its values and its default. That each flag has a variable is said once, below. */
  protected override flags(flags: Command.Flag.Any[]): [string, string | undefined][] | undefined {
    const plain = flags.map(
      ({ env: _env, default: _preset, ...rest }) => ({ ...rest, helpValue: '<value>' }) as Command.Flag.Any,
    )
    return super.flags(plain)?.map(([label, text = ''], index) => {
      const flag = flags[index]
      if (flag?.type !== 'option') return [label, text]
      const preset = flag.default as unknown
      const all = text + this.values(flag.options)
      if (typeof preset !== 'string' && typeof preset !== 'number' && !Array.isArray(preset))
        return [label, all]
      return [label, `${all} ${this.theme('flagDefaultValue', `[default: ${String(preset)}]`)}`]
    })
  }

  /** Returns a sentence with the values that are accepted. Lines break between values, so that they can be copied. */
  private values(options: readonly string[] | undefined): string {
    return options === undefined ? '' : ` One of: ${options.join(', ')}.`
  }

  private theme(element: 'dollarSign' | 'flagDefaultValue', text: string): string {
    return ux.colorize(this.config.theme?.[element] ?? 'dim', text)
  }
}

const ENVIRONMENT =
  'Each flag has a variable TABWIRE_<FLAG>, such as TABWIRE_DATA_DIR for --data-dir, unless its text names another one. A switch is on with 1, true, yes or y. Flags take precedence.'

function withDimComment(example: string): string {
  return example.replace(/ {3}# .*$/, (comment) => ux.colorize('dim', comment))
}
