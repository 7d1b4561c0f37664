import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { Command, Errors, type Interfaces } from '@oclif/core'
import chalk from 'chalk'
import { chalkStderr } from 'chalk'
import { DEFAULT_SERVICE_NAME } from '../model/text/service-name.ts'
import { variableOf } from '../model/text/shell-command.ts'
import { COMMENT_ADVICE, describeFailure, exitCodes, unusedProxyIn, type CommandShape } from './errors.ts'
import { jsonFlag } from './flags.ts'
import { renderError } from './render/messages.ts'
import { fitTo } from './render/layout.ts'
import { harmless, jsonText } from './render/text.ts'
import { isProfileName, profileVariables } from './config/profiles.ts'
import { PROFILE_NAME } from './config/settings.ts'
import { secretsFromFiles, typedValue } from './files/secrets.ts'
import { isThisMachine, serviceNameAt, readOwnRun, trustedCa } from './running-service.ts'
import { requireOwnDirectory } from './trust/data-directory.ts'

/** Flags that name the service of a command. */
interface KnownService {
  'service-name': string | undefined
  'data-dir': string
  url?: string | undefined
  cacert?: string | undefined
}

/** An interactive terminal. */
export interface Terminal {
  input: Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'>
  write(text: string): void
  columns(): number
  onResize(listener: () => void): void
}

/** Base of all commands: `--json`, results to stdout and messages to stderr, errors and exit codes. */
export abstract class BaseCommand extends Command {
  static override baseFlags = jsonFlag

  /** Maps fields of the API to what the user types, so that a refusal names the flag or argument to correct. */
  static typedAs: Readonly<Record<string, string>> = {}

  protected override async init(): Promise<void> {
    await super.init()
    // chalk knows FORCE_COLOR and terminals, but not https://no-color.org.
    if ((process.env.NO_COLOR ?? '') !== '') chalk.level = chalkStderr.level = 0
    // A closed pipe (`| head`) is not an error; a full disk is. Without a reader of messages, the command goes on.
    for (const stream of [process.stdout, process.stderr])
      // In place of the listeners of bin/run.js and oclif, which end the process also when a terminal was closed.
      stream.removeAllListeners('error').on('error', (error: NodeJS.ErrnoException) => {
        // A terminal that was closed answers with EIO.
        const isGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY)
        if (!isGone) unwritable(error)
        else if (stream === process.stdout) this.abandoned()
      })
    let signalledAt = -Infinity
    // SIGBREAK is Ctrl-Break on Windows.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'])
      process.on(signal, (name: NodeJS.Signals) => {
        if (performance.now() - signalledAt < SAME_SIGNAL_MS) return
        signalledAt = performance.now()
        // Ctrl-C has reached the pager, too, which often goes on.
        if (name !== 'SIGINT' || !this.isPaging) this.interrupted(name)
      })
  }

  /** Parses the command line. Refuses a data directory that another user may have written. */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    requireNoComment(argv ?? this.argv)
    const parsed = await this.withEnvironment(options?.flags, () => super.parse(options, argv))
    // oclif moves a repeated word to its first place.
    parsed.argv = parsed.raw.flatMap((token) => (token.type === 'arg' ? [token.input] : []))
    requireFilled(parsed)
    requireHome(parsed)
    requireSwitches(
      { ...(this.ctor as typeof BaseCommand).baseFlags, ...options?.flags },
      parsed,
      process.env,
    )
    const directory: unknown = parsed.flags['data-dir']
    if (typeof directory === 'string') {
      const named = parsed.metadata.flags['data-dir']?.setFromDefault !== true
      await requireOwnDirectory(directory, { named, repairsModes: this.repairsModes })
    }
    return parsed
  }

  /**
   * Parses with an environment that has secrets read from files and lacks variables of other programs; restores it
   * afterwards.
   */
  private async withEnvironment<T>(flags: object = {}, parse: () => Promise<T>): Promise<T> {
    const before = process.env
    const named = process.platform === 'win32' ? withUpperCase(before) : before
    const { baseFlags } = this.ctor as typeof BaseCommand
    const known = { ...baseFlags, ...flags }
    const local = { ...withoutServiceLinks(named), ...(await this.fromProfile(known, before)) }
    process.env = { ...local, ...(await secretsFromFiles(this.argv, known, local)) }
    try {
      return await parse()
    } finally {
      process.env = before
    }
  }

  /** Variables of the profile in use. */
  private profile: Record<string, string | undefined> = {}
  protected profileName: string | undefined

  /** Returns the variables of the profile that `--profile` or TABWIRE_PROFILE names; none without a profile. */
  private async fromProfile(
    flags: object,
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<Record<string, string | undefined>> {
    const name = typedValue(this.argv, 'profile') ?? environment.TABWIRE_PROFILE ?? ''
    if (!('profile' in flags) || name === '') return {}
    // `contract check` also takes a file here.
    if (!isProfileName(name) && 'base-url' in flags) return {}
    if (!isProfileName(name))
      throw new Errors.CLIError(`--profile ${PROFILE_NAME.rule}, got ${JSON.stringify(name)}.`)
    const url = ['url', 'base-url'].find((flag) => typedValue(this.argv, flag) !== undefined)
    if (url !== undefined) {
      // The key of a profile goes to the profile's service only.
      if (typedValue(this.argv, 'profile') === undefined) return { TABWIRE_PROFILE: undefined }
      throw new Errors.CLIError(`Pass --${url} or --profile, not both.`)
    }
    const config = typedValue(this.argv, 'config') ?? environment.TABWIRE_CONFIG
    const keyFlags = ['api-key', 'api-key-file']
    const hasKey = !('api-key' in flags) || keyFlags.some((flag) => typedValue(this.argv, flag) !== undefined)
    const given = { config: config === '' ? undefined : config, hasKey }
    this.profileName = name
    this.profile = await profileVariables(name, given, environment)
    // A command without a connection uses only the service name of the profile.
    return 'url' in flags || 'base-url' in flags
      ? this.profile
      : { TABWIRE_SERVICE_NAME: this.profile.TABWIRE_SERVICE_NAME }
  }

  /** True when the command repairs the modes of a data directory, and so accepts one that others may write to. */
  protected readonly repairsModes: boolean = false

  /** Handles Ctrl-C, SIGTERM and a closed terminal. Exits at once; commands with work to finish override it. */
  protected interrupted(_signal: NodeJS.Signals = 'SIGINT'): void {
    process.exit(exitCodes.interrupted)
  }

  /** Called when the reader of standard output has closed the pipe. A failed check stays failed. */
  protected abandoned(): void {
    process.exit(process.exitCode ?? exitCodes.done)
  }

  protected get wantsJson(): boolean {
    // Needed before the flags are parsed, and when they cannot be.
    const inEnvironment = (process.env.TABWIRE_JSON ?? '').toLowerCase()
    return this.argv.includes('--json') || ON.includes(inEnvironment)
  }

  /**
   * Capabilities of stdout: `columns` is Infinity in a pipe; block characters need UTF-8, which Windows always has.
   */
  protected get terminal(): { columns: number; takesUnicode: boolean } {
    const { COLUMNS, LC_ALL, LC_CTYPE, LANG } = process.env
    const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '')
    return {
      columns: process.stdout.columns || Number(COLUMNS) || Infinity,
      takesUnicode: process.platform === 'win32' || /utf-?8/i.test(locale ?? ''),
    }
  }

  /** Returns the interactive terminal; `undefined` in a pipe, with `--json`, and when TERM is dumb. */
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
   * Returns the service name: the flag, else the name that the service at TABWIRE_URL or on the data directory
   * reports, else the default. Does not wait for an absent service.
   */
  protected async serviceName(flags: KnownService): Promise<string> {
    if (flags['service-name'] !== undefined) return flags['service-name']
    const run = await readOwnRun(flags['data-dir'])
    const named = flags.url ?? this.profile.TABWIRE_URL ?? process.env.TABWIRE_URL ?? ''
    const url = named === '' ? run?.url : named
    if (url === undefined || !URL.canParse(url)) return DEFAULT_SERVICE_NAME
    // The local authority certifies hosts of this machine only.
    const own = isThisMachine(new URL(url).hostname) ? run?.ca : undefined
    return serviceNameAt({ url, ca: await trustedCa(flags.cacert ?? this.profile.TABWIRE_CACERT, own) })
  }

  /** Names where the value of a flag comes from: the flag, its file, or the environment. */
  protected sourceOf(flag: string): string {
    const typed = [flag, `${flag}-file`].find((name) => typedValue(this.argv, name) !== undefined)
    if (typed !== undefined) return `--${typed}`
    const variable = variableOf(flag)
    return (process.env[variable] ?? '') === '' ? `${variable}_FILE` : variable
  }

  /** Prints a result: JSON with `--json`, else the rendered text. */
  protected print(resource: unknown, render: (columns: number) => string): void {
    const text = this.wantsJson ? jsonText(resource, 2) : this.fitted(render)
    process.stdout.write(`${text}\n`)
  }

  /** Renders a text for people that fits the terminal. */
  protected fitted(render: (columns: number) => string): string {
    const { columns } = this.terminal
    return fitTo(columns, harmless(render(columns)))
  }

  /** Writes a result as it is, without a line break. At a terminal it is made {@link harmless}. */
  protected write(text: string | Uint8Array): void {
    process.stdout.write(process.stdout.isTTY ? harmless(Buffer.from(text).toString()) : text)
  }

  /** Shows a long text: at a terminal by `render`, in the pager when there is one; in a pipe as it is. */
  protected async showLong(text: string, render: (columns: number) => string): Promise<void> {
    if (!process.stdout.isTTY) return this.write(text)
    const shown = `${this.fitted(render)}\n`
    const { showInPager } = await import('./pager.ts')
    this.isPaging = true
    const isShown = await showInPager(shown).finally(() => (this.isPaging = false))
    if (!isShown) this.write(shown)
  }

  /** True while a pager runs. */
  private isPaging = false

  /** Writes chunks as they arrive, no faster than standard output takes them. */
  protected async writeAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of chunks) {
      const shown = process.stdout.isTTY ? harmless(decoder.decode(chunk, { stream: true })) : chunk
      if (!process.stdout.write(shown)) await once(process.stdout, 'drain')
    }
  }

  /** Writes a JSON text byte for byte; at a terminal it is indented, unless `--json` is given. */
  protected writeJson(text: string): void {
    const isRead = process.stdout.isTTY && !this.wantsJson
    this.write(isRead ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text)
  }

  /** Prints one element of a stream: one line of JSON, or the rendered text. */
  protected printLine(resource: unknown, render: (columns: number) => string): void {
    const text = this.wantsJson ? jsonText(resource) : this.fitted(render)
    process.stdout.write(`${text}\n`)
  }

  /** A terminal without a width, as in some CI, would clear a spinner's line without end. */
  private get showsWaiting(): boolean {
    return process.stderr.isTTY && process.stderr.columns > 0 && !this.wantsJson
  }

  /** True while a spinner shows that the command waits. */
  protected isSpinning = false

  /** Shows a spinner at a terminal while `work` runs; nothing in a pipe or with `--json`. */
  protected async waiting<T>(text: string, work: Promise<T>): Promise<T> {
    if (!this.showsWaiting) return work
    // It may fail before the spinner is loaded; the error is thrown below.
    work.catch(() => undefined)
    return this.spinning(text, () => work)
  }

  /** Shows a spinner with the progress that `work` reports. */
  protected async progressing<T>(work: (tell: (text: string) => void) => Promise<T>): Promise<T> {
    if (!this.showsWaiting) return work(() => undefined)
    return this.spinning('', (spinner) => work((text) => void (spinner.text = text)))
  }

  private async spinning<T>(text: string, work: (spinner: { text: string }) => Promise<T>): Promise<T> {
    const spinner = await spin(text)
    this.isSpinning = true
    return work(spinner).finally(() => {
      this.isSpinning = false
      spinner.stop()
    })
  }

  /** Writes a message to stderr. chalk chooses colours for stdout, and stderr may lead elsewhere. */
  protected say(text: string): void {
    const shown = this.wantsJson ? harmless(text) : fitTo(process.stderr.columns || Infinity, harmless(text))
    process.stderr.write(`${chalkStderr.level > 0 ? shown : stripVTControlCharacters(shown)}\n`)
  }

  /** Writes a line of JSON to stderr. */
  protected sayJson(line: object): void {
    process.stderr.write(`${jsonText(line)}\n`)
  }

  /**
   * Writes a file beside the result of a run. Prints a failure to stderr and resolves with false, so that the result and an
   * exit code other than 0 stay.
   */
  protected async writeAlso(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write()
      return true
    } catch (error) {
      this.say(renderError(describeFailure(error instanceof Error ? error : new Error(String(error)))))
      if ((process.exitCode ?? exitCodes.done) === exitCodes.done) process.exitCode = exitCodes.failed
      return false
    }
  }

  /** Returns what is known of the connection to the service, for the advice of errors. */
  protected connection(): Pick<CommandShape, 'hasKey' | 'isUrlGiven' | 'isKeyGiven' | 'profile'> {
    return {}
  }

  /** Prints a result to stderr, where stdout belongs to another program or to an error. */
  protected sayResult(resource: unknown, render: (columns: number) => string): void {
    if (this.wantsJson) this.say(jsonText(resource))
    else this.sayRendered(render)
  }

  /** Writes a message that is laid out for the terminal of stderr. */
  protected sayRendered(render: (columns: number) => string): void {
    this.say(render(process.stderr.columns || Infinity))
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<void> {
    if (error instanceof Errors.ExitError) throw error
    const { id, flags, baseFlags, args, typedAs } = this.ctor as typeof BaseCommand
    const name = id.replaceAll(':', ' ')
    const all = { ...baseFlags, ...flags }
    const variables = variablesInUse(all, this.argv, process.env)
    const proxyVariable = unusedProxyIn(process.env)
    const shape = { name, flags: all, args, typedAs, variables, proxyVariable, ...this.connection() }
    const failure = describeFailure(error, shape)
    if (this.wantsJson) process.stdout.write(`${jsonText({ error: failure.json })}\n`)
    else this.say(renderError(failure))
    process.exitCode = failure.exitCode
  }
}

/** Ends the process when its output cannot be written. */
function unwritable({ message }: Error): never {
  // In one write to the descriptor: the stream may be the one that failed.
  try {
    writeSync(2, `Error: Cannot write the output: ${message}.\n`)
  } catch {
    // Neither stream can be written.
  }
  process.exit(exitCodes.failed)
}

/** ora bundles its own chalk, so the colour is set here. It must not set raw mode: Ctrl-C would be lost. */
async function spin(text: string) {
  const { default: ora } = await import('ora')
  const color = chalkStderr.level > 0 ? 'cyan' : false
  return ora({ text, color, stream: process.stderr, discardStdin: false }).start()
}

/** Flags of free texts. They accept an empty value, or report it in their own words, and are no paths. */
const FREE_TEXTS: readonly string[] = ['api-key', 'comment', 'header', 'name', 'secret']

/** Parsed words of a command line. */
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
    if (!FREE_TEXTS.includes(token.flag ?? '')) throw empty(`--${token.flag}`)
  }
}

/** @throws CLIError for a comment that was pasted with a command: zsh and tcsh pass its words on at a prompt. */
function requireNoComment(argv: readonly string[]): void {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  const at = words.indexOf('#', 1)
  const [before = '-', after = '-'] = [words[at - 1], words[at + 1]]
  // A "#" alone can be a value.
  if (at === -1 || before.startsWith('-') || after.startsWith('-')) return
  throw new Errors.CLIError(`Unexpected argument #. ${COMMENT_ADVICE}`)
}

/** @throws CLIError for a typed path that begins with `~/`: most shells leave it there in `--data-dir=~/x`. */
function requireHome({ raw }: Typed): void {
  for (const { type, flag = '', input } of raw)
    if (type === 'flag' && /^~[/\\]/.test(input) && !FREE_TEXTS.includes(flag))
      throw new Errors.CLIError(
        `--${flag}: the shell did not replace ~ in ${JSON.stringify(input)}. Write $HOME in place of ~.`,
      )
}

/**
 * Milliseconds within which signals count as one. `timeout` sends its signal to the process, and then to its group, to which the
 * process belongs.
 */
const SAME_SIGNAL_MS = 100

/** Values that switch a flag on. oclif takes every other value for off. */
const ON: readonly string[] = ['1', 'true', 'y', 'yes']

const OFF: readonly string[] = ['', '0', 'false', 'n', 'no']

/** @throws CLIError for a variable of a switch that is neither on nor off, unless the command line has the switch. */
function requireSwitches(
  flags: object,
  { raw }: Typed,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, flag] of Object.entries(flags) as [string, { type: string; env?: string }][]) {
    if (flag.type !== 'boolean' || flag.env === undefined || raw.some((token) => token.flag === name))
      continue
    const value = environment[flag.env] ?? ''
    if (![...ON, ...OFF].includes(value.toLowerCase()))
      throw new Errors.CLIError(`${flag.env} must be true or false, got ${JSON.stringify(value)}.`)
  }
}

/** Returns the variables that give the values of flags which the command line lacks, by flag. */
function variablesInUse(
  flags: object,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = Object.entries(flags) as [string, { char?: string; env?: string }][]
  return Object.fromEntries(
    all.flatMap(([name, { char, env = '' }]) => {
      const isTyped =
        [name, `${name}-file`].some((flag) => typedValue(argv, flag) !== undefined) ||
        (char !== undefined && argv.some((word) => word.startsWith(`-${char}`)))
      return isTyped || (environment[env] ?? '') === '' ? [] : [[name, env]]
    }),
  )
}

function empty(name: string): Error {
  return new Errors.CLIError(`${name} must not be empty.`)
}

/** Returns an environment in which own variables have upper-case names: Windows does not tell the cases apart. */
function withUpperCase(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const entries = Object.entries(environment)
  return Object.fromEntries(
    entries.map(([name, value]) => [/^tabwire_/i.test(name) ? name.toUpperCase() : name, value]),
  )
}

/**
 * Removes the variables that Kubernetes sets in every pod for a service named `tabwire`:
 * `TABWIRE_PORT=tcp://10.0.0.1:4100` is the address of that service, not the port to listen on.
 */
function withoutServiceLinks(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const { TABWIRE_PORT: port = '', ...others } = environment
  return /^(tcp|udp|sctp):\/\//.test(port) ? others : { ...environment }
}
