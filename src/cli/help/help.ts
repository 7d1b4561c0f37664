import { Help as OclifHelp, ux, type Interfaces } from '@oclif/core'
import { CommandHelp } from './command-help.ts'
import { exampleCheck, suggestion } from '../suggestion.ts'

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
    if (argv.length > 0) return super.showHelp(argv)
    this.log([this.summaryOfAll(), renderJobs(mainJobs()), renderFields(elsewhere)].join('\n\n'))
  }

  protected override async showRootHelp(): Promise<void> {
    const lists = grouped([...this.summaries().keys()]).map(({ heading, names }) =>
      this.section(heading, this.listOf(names)),
    )
    this.log([this.summaryOfAll(), renderJobs(mainJobs()), ...lists, EXPLAIN].join('\n\n'))
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
  ['tabwire demo', 'all of it, in a few seconds'],
  ['tabwire --help', 'every command'],
  ['tabwire COMMAND --help', 'what it does, examples first'],
] as const

const EXPLAIN = 'tabwire COMMAND --help explains one, examples first. --json is on every command.'

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
    { what: 'Run the service on this machine', commands: ['tabwire start'] },
    {
      what: 'Push a check, and watch its webhooks',
      commands: [suggestion('push', [exampleCheck()]), 'tabwire tail'],
    },
    {
      what: 'Check that a receiver verifies what it gets',
      commands: ['tabwire receiver check https://localhost:8443/webhooks --secret whsec_…'],
    },
    {
      what: 'Check an integration, here or in CI',
      commands: ['tabwire report --fail-on any', 'tabwire contract check --junit contract.xml'],
    },
  ]
}

/** A heading of the list of commands, with its commands and topics in order of use. */
interface Group {
  heading: string
  names: readonly string[]
}

/** Every command and topic belongs to one group; others are listed under {@link OTHERS}. */
export const groups: readonly Group[] = [
  {
    heading: 'THE SERVICE',
    names: ['start', 'exec', 'open', 'demo', 'doctor', 'state', 'clock', 'faults', 'keys', 'config'],
  },
  { heading: 'CHECKS AND GUESTS', names: ['push', 'checks', 'locations', 'guests', 'qr', 'scenario'] },
  {
    heading: 'WEBHOOKS',
    names: ['endpoints', 'ping', 'tail', 'listen', 'trigger', 'events', 'deliveries'],
  },
  { heading: 'RECEIVERS', names: ['receiver', 'verify', 'sign', 'certs'] },
  { heading: 'PROOF', names: ['report', 'requests', 'contract', 'openapi'] },
  { heading: 'THE SHELL', names: ['completion'] },
]

const OTHERS = 'MORE'

/** Groups the known names under their headings. Leaves out `help`, whose reader has found it. */
export function grouped(names: readonly string[]): Group[] {
  const placed = new Set(['help', ...groups.flatMap((group) => group.names)])
  const others = { heading: OTHERS, names: names.filter((name) => !placed.has(name)) }
  return [...groups, others]
    .map(({ heading, names: wanted }) => ({ heading, names: wanted.filter((name) => names.includes(name)) }))
    .filter(({ names: found }) => found.length > 0)
}
