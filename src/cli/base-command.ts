import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { Command, Errors, type Interfaces } from '@oclif/core'
import chalk from 'chalk'
import { chalkStderr } from 'chalk'
import { DEFAULT_SERVICE_NAME } from '../model/service-name.ts'
import { describeFailure, exitCodes } from './errors.ts'
import { jsonFlag } from './flags.ts'
import { renderError } from './render/messages.ts'
import { harmless, jsonText } from './render/text.ts'
import { secretsFromFiles } from './files/secrets.ts'
import { serviceNameAt, readOwnRun } from './running-service.ts'
import { requireOwnDirectory } from './trust/data-directory.ts'

/** Flags that say which service a command is about. */
interface KnownService {
  'service-name': string | undefined
  'data-dir': string
  url?: string | undefined
}

/** A terminal that a person types at. */
export interface Terminal {
  input: Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'>
  write(text: string): void
  columns(): number
  onResize(listener: () => void): void
}

/** What all commands share: `--json`, data to stdout and talk to stderr, errors and exit codes. */
export abstract class BaseCommand extends Command {
  static override baseFlags = jsonFlag

  /** How fields of the API are typed in this command, so that a refusal of them names what is to be corrected. */
  static typedAs: Readonly<Record<string, string>> = {}

  protected override async init(): Promise<void> {
    await super.init()
    // chalk knows FORCE_COLOR and terminals, but not https://no-color.org.
    if ((process.env.NO_COLOR ?? '') !== '') chalk.level = chalkStderr.level = 0
    // A reader that has seen enough (`| head`) is no error.
    for (const stream of [process.stdout, process.stderr])
      stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EPIPE') this.abandoned()
      })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => this.interrupted())
  }

  /** Reads the command line, and refuses a data directory that somebody else may have written. */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    const parsed = await this.withEnvironment(options?.flags, () => super.parse(options, argv))
    requireFilled(parsed)
    const directory: unknown = parsed.flags['data-dir']
    if (typeof directory === 'string') {
      const named = parsed.metadata.flags['data-dir']?.setFromDefault !== true
      await requireOwnDirectory(directory, { named, mendsModes: this.mendsModes })
    }
    return parsed
  }

  /** Parses with secrets from files in the environment, and without variables that are not ours; then all is as before. */
  private async withEnvironment<T>(flags: object = {}, parse: () => Promise<T>): Promise<T> {
    const before = process.env
    const { baseFlags } = this.ctor as typeof BaseCommand
    const fromFiles = await secretsFromFiles(this.argv, { ...baseFlags, ...flags }, before)
    process.env = { ...withoutServiceLinks(before), ...fromFiles }
    try {
      return await parse()
    } finally {
      process.env = before
    }
  }

  /** Whether this command mends the modes of a data directory, and so takes one that others may write to. */
  protected readonly mendsModes: boolean = false

  /** Ctrl-C, SIGTERM, or a terminal that is closed, ends a command at once, unless it has something to finish. */
  protected interrupted(): void {
    process.exit(exitCodes.interrupted)
  }

  /** Whoever read what this command writes has gone. */
  protected abandoned(): void {
    process.exit(exitCodes.done)
  }

  protected get wantsJson(): boolean {
    // Asked before, and also when, the flags cannot be parsed; the words are those that oclif takes for true.
    const inEnvironment = (process.env.TABWIRE_JSON ?? '').toLowerCase()
    return this.argv.includes('--json') || ['1', 'true', 'y', 'yes'].includes(inEnvironment)
  }

  /** What stdout can show: `columns` is without bound in a pipe, and blocks need UTF-8, which Windows always has. */
  protected get terminal(): { columns: number; takesUnicode: boolean } {
    const { COLUMNS, LC_ALL, LC_CTYPE, LANG } = process.env
    const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '')
    return {
      columns: process.stdout.columns || Number(COLUMNS) || Infinity,
      takesUnicode: process.platform === 'win32' || /utf-?8/i.test(locale ?? ''),
    }
  }

  /** The terminal at which somebody sits; none in a pipe, with `--json`, and where a terminal can do nothing but print. */
  protected get keyboardTerminal(): Terminal | undefined {
    const { stdin: input, stdout } = process
    if (this.wantsJson || !input.isTTY || !stdout.isTTY || process.env.TERM === 'dumb') return undefined
    return {
      input,
      write: (text) => void stdout.write(text),
      columns: () => this.terminal.columns,
      onResize: (listener) => void stdout.on('resize', listener),
    }
  }

  /**
   * The name of the service: as given, else as the service tells it that TABWIRE_URL names or that runs on the data
   * directory, else the default one. An absent service is not waited for.
   */
  protected async serviceName(flags: KnownService): Promise<string> {
    if (flags['service-name'] !== undefined) return flags['service-name']
    const run = await readOwnRun(flags['data-dir'])
    const named = flags.url ?? process.env.TABWIRE_URL ?? ''
    const url = named === '' ? run?.url : named
    return url === undefined || !URL.canParse(url)
      ? DEFAULT_SERVICE_NAME
      : serviceNameAt({ url, ca: run?.ca })
  }

  /** Data: the resource with `--json`, for people otherwise, in so many columns. */
  protected print(resource: unknown, render: (columns: number) => string): void {
    const text = this.wantsJson ? jsonText(resource, 2) : harmless(render(this.terminal.columns))
    process.stdout.write(`${text}\n`)
  }

  /** Data as it is, without a line break of ours. A terminal gets it {@link harmless}: people look at it there. */
  protected write(text: string | Uint8Array): void {
    process.stdout.write(process.stdout.isTTY ? harmless(Buffer.from(text).toString()) : text)
  }

  /** The same as it arrives, no faster than standard output takes it. */
  protected async writeAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of chunks) {
      const shown = process.stdout.isTTY ? harmless(decoder.decode(chunk, { stream: true })) : chunk
      if (!process.stdout.write(shown)) await once(process.stdout, 'drain')
    }
  }

  /** A JSON text, byte for byte; at a terminal it is indented, unless `--json` asks for it as it is. */
  protected writeJson(text: string): void {
    const isRead = process.stdout.isTTY && !this.wantsJson
    this.write(isRead ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text)
  }

  /** One element of a stream: one line of JSON, or for people. */
  protected printLine(resource: unknown, render: (columns: number) => string): void {
    const text = this.wantsJson ? jsonText(resource) : harmless(render(this.terminal.columns))
    process.stdout.write(`${text}\n`)
  }

  /** On a terminal that does not know its width, as some of CI, a line would be taken back without end. */
  private get showsWaiting(): boolean {
    return process.stderr.isTTY && process.stderr.columns > 0 && !this.wantsJson
  }

  /** Shows a person that something is waited for; in a pipe and with `--json` nothing is shown. */
  protected async waiting<T>(text: string, work: Promise<T>): Promise<T> {
    if (!this.showsWaiting) return work
    // It may fail before the spinner is loaded; the error is thrown below all the same.
    work.catch(() => undefined)
    const spinner = await spin(text)
    return work.finally(() => spinner.stop())
  }

  /** The same for work that tells how far it is. */
  protected async progressing<T>(work: (tell: (text: string) => void) => Promise<T>): Promise<T> {
    if (!this.showsWaiting) return work(() => undefined)
    const spinner = await spin('')
    return work((text) => void (spinner.text = text)).finally(() => spinner.stop())
  }

  /** Talk: banners, hints. Colours are chosen for stdout, and stderr may lead elsewhere. */
  protected say(text: string): void {
    const shown = harmless(text)
    process.stderr.write(`${chalkStderr.level > 0 ? shown : stripVTControlCharacters(shown)}\n`)
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<void> {
    if (error instanceof Errors.ExitError) throw error
    const { id, flags, baseFlags, args, typedAs } = this.ctor as typeof BaseCommand
    const shape = { name: id.replaceAll(':', ' '), flags: { ...baseFlags, ...flags }, args, typedAs }
    const failure = describeFailure(error, shape)
    if (this.wantsJson) process.stdout.write(`${jsonText({ error: failure.json })}\n`)
    else this.say(renderError(failure))
    process.exitCode = failure.exitCode
  }
}

/** On a terminal in raw mode, which ora would make of it, Ctrl-C is a character that nobody reads. Its chalk is not ours. */
async function spin(text: string) {
  const { default: ora } = await import('ora')
  const color = chalkStderr.level > 0 ? 'cyan' : false
  return ora({ text, color, stream: process.stderr, discardStdin: false }).start()
}

/** Flags that mean something when they are empty, or have their own words for it. */
const MAY_BE_EMPTY: readonly string[] = ['api-key', 'comment', 'header', 'name', 'secret']

/** What was typed, as the parser tells it. */
interface Typed {
  args: Readonly<Record<string, unknown>>
  raw: readonly { type: string; flag?: string; arg?: string; input: string }[]
}

/** @throws CLIError for an argument or a flag that was typed and is empty, as `"$ID"` is when nothing has set it. */
function requireFilled({ args, raw }: Typed): void {
  const names = Object.keys(args)
  for (const token of raw) {
    if (token.input !== '') continue
    if (token.type === 'arg') throw empty((token.arg ?? names.at(-1) ?? 'argument').toUpperCase())
    if (!MAY_BE_EMPTY.includes(token.flag ?? '')) throw empty(`--${token.flag}`)
  }
}

function empty(name: string): Error {
  return new Errors.CLIError(`${name} must not be empty.`)
}

/**
 * Variables of the environment without those that Kubernetes sets in every pod for a service named `tabwire`:
 * `TABWIRE_PORT=tcp://10.0.0.1:4100` is an address of that service, and not the port to listen on.
 */
function withoutServiceLinks(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const { TABWIRE_PORT: port = '', ...others } = environment
  return /^(tcp|udp|sctp):\/\//.test(port) ? others : { ...environment }
}
