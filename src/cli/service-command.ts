import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, ClientOptions } from '../client.ts'
import { ApiError } from '../client/errors.ts'
import { DEFAULT_DATA_DIRECTORY, readCredentials, readRun } from '../data-directory.ts'
import { bareHost, isLoopbackName } from '../model/url.ts'
import { BaseCommand } from './base-command.ts'
import { CommandError, isMissingPath, usageError } from './errors.ts'
import { connectionFlags, jsonFlag } from './flags.ts'
import { hasFields, renderForeign } from './render/foreign.ts'
import { word } from './suggestion.ts'
import { isTakenOver, isThisMachine, trustedCa } from './running-service.ts'

const DEFAULT_URL = 'http://127.0.0.1:4100'

interface Connection {
  url: string | undefined
  'api-key': string | undefined
  'data-dir': string
  cacert?: string | undefined
}

/** Base of commands that use a running service. */
export abstract class ServiceCommand extends BaseCommand {
  static override baseFlags = { ...jsonFlag, ...connectionFlags }
  static override typedAs: Readonly<Record<string, string>> = typedAs({})

  /** Without this, a service that accepts connections and does not respond would look like a hanging command. */
  private readonly onSlow = (address: string) => {
    if (!this.isSpinning) this.say(`No response from ${new URL(address).origin} yet. Still waiting.`)
  }
  private located: ClientOptions | undefined
  private isUrlGiven = false
  private isKeyGiven = false

  /** Makes a client of the service that {@link locate} finds. */
  protected async connect(flags: Connection): Promise<Client> {
    return this.clientOf(await this.locate(flags))
  }

  /**
   * Makes a function that connects again after a restart: `run.json` may name another port and key by then. While it
   * names none, the service is expected at its last address, not at the default one.
   * @throws CommandError (usage) for a wrong URL.
   */
  protected reconnect(flags: Connection): () => Promise<Client> {
    requireUrl(flags.url)
    let last: string | undefined
    return async () => {
      const found = await this.locate(flags, last)
      last = found.url
      return this.clientOf(found)
    }
  }

  /** Makes a client of a located service. Loads it late: `verify` needs one only for `--delivery`. */
  protected async clientOf(located: ClientOptions): Promise<Client> {
    const [{ createClient }, { fetchTrusting }] = await Promise.all([
      import('../client.ts'),
      import('../client/transport.ts'),
    ])
    return createClient({ ...located, fetch: noticing(fetchTrusting(located.ca), this.onSlow) })
  }

  /** Locates the service: the flag, else the one that runs on the data directory, else the default address. */
  protected async locate(flags: Connection, otherwise = DEFAULT_URL): Promise<ClientOptions> {
    requireUrl(flags.url)
    const directory = flags['data-dir']
    const [run, credentials] = await Promise.all([readRun(directory), readCredentials(directory)])
    this.isUrlGiven = flags.url !== undefined
    this.isKeyGiven = flags['api-key'] !== undefined
    const url = flags.url ?? run?.url ?? otherwise
    if (url === DEFAULT_URL && flags.url === undefined) await requireDirectory(directory)
    const { hostname } = new URL(url)
    // A file of the working directory must not name another machine, which would get the key of the environment.
    if (flags.url === undefined && !isThisMachine(hostname)) throw foreignService(url, directory)
    // Nor may another program at the port of a killed service get a key.
    if (flags.url === undefined && run !== undefined && (await isTakenOver(run)))
      throw new CommandError('no_service', takenOverText(url, directory))
    // The local service's key goes to this machine alone; another machine gets the given key.
    const isLocal = flags.url === undefined || isLoopbackName(bareHost({ hostname }))
    const local = isLocal ? (run?.api_key ?? credentials?.api_key) : undefined
    const apiKey = flags['api-key'] ?? local
    const ca = await trustedCa(flags.cacert, isLocal || isThisMachine(hostname) ? run?.ca : undefined)
    return (this.located = { url, apiKey, ca })
  }

  /** The API key of the latest client, if any. */
  protected get usedKey(): string | undefined {
    return this.located?.apiKey
  }

  protected override connection() {
    if (this.located === undefined) return {}
    const { isUrlGiven, isKeyGiven, profileName: profile } = this
    return { hasKey: this.located.apiKey !== undefined, isUrlGiven, isKeyGiven, profile }
  }

  /**
   * Prints a list: by `render` when its records have the fields of a Tabwire service, else by their own fields. The
   * specification does not name the fields of responses, and commands also work on other deployments.
   */
  protected printList<T extends object>(
    list: { data: readonly T[]; next_cursor?: string | null },
    fields: readonly (keyof T & string)[],
    render: (records: readonly T[], columns: number) => string,
  ): void {
    const known = Array.isArray(list.data) && list.data.every((one) => hasFields(one, ...fields))
    this.print(list, (columns) => (known ? render(list.data, columns) : renderForeign(list, columns)))
    this.sayNextPage(list)
  }

  /** Says how to see the next page of a list, if there is one. */
  protected sayNextPage(list: { next_cursor?: string | null }): void {
    const { next_cursor } = list
    if (this.wantsJson || typeof next_cursor !== 'string') return
    this.say(`More: add --cursor ${word(next_cursor)}, or --limit N for up to 100 at once.`)
  }

  /** Prints a record as {@link printList} prints a list. */
  protected printRecord<T extends object>(
    record: T,
    fields: readonly (keyof T & string)[],
    render: (columns: number) => string,
  ): void {
    const known = hasFields(record, ...fields)
    this.print(record, (columns) => (known ? render(columns) : renderForeign(record, columns)))
  }

  /**
   * Returns the currency of each location by its id, for amounts that people read; nothing with `--json`, and where the
   * service does not show currencies.
   */
  protected async currencies(client: Client): Promise<Record<string, string>> {
    return (this.knownCurrencies ??= this.wantsJson
      ? Promise.resolve({})
      : import('./guests.ts').then(({ readableCurrencies }) => readableCurrencies(client)))
  }

  private knownCurrencies: Promise<Record<string, string>> | undefined

  protected override async catch(error: Error): Promise<void> {
    return super.catch(await this.explained(error))
  }

  /** Replaces the error of a call that failed because the service is not a simulator. */
  protected async explained(error: Error): Promise<Error> {
    return (await this.lacksSimulator(error)) ? this.needsSimulator() : error
  }

  /**
   * Returns true when a call failed because the service is not a simulator: neither the path nor `/_sim/health`
   * exists.
   */
  private async lacksSimulator(error: Error): Promise<boolean> {
    if (!isMissing(error) || error.path?.startsWith('/_sim/') !== true || this.located === undefined)
      return false
    if (error.path === HEALTH) return true
    const client = await this.clientOf(this.located)
    return client.health().then(() => false, isMissing)
  }

  private needsSimulator(): CommandError {
    const { origin } = new URL(this.located?.url ?? DEFAULT_URL)
    return new CommandError(
      'no_simulator',
      `This command needs the Tabwire simulator: ${origin} has no /_sim controls.`,
    )
  }
}

/** Milliseconds without a response after which a command says that it waits. */
const SLOW_MS = 10_000

/** Calls `onSlow` when no response headers arrive for a while. */
export function noticing(
  fetch: NonNullable<ClientOptions['fetch']>,
  onSlow: (address: string) => void,
): NonNullable<ClientOptions['fetch']> {
  return async (address, init) => {
    const timer = setTimeout(() => onSlow(address), SLOW_MS)
    return fetch(address, init).finally(() => clearTimeout(timer))
  }
}

const HEALTH = '/_sim/health'

function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && isMissingPath(error)
}

/** Maps fields of the API to flags and arguments: those that all commands share, and those of one. */
export function typedAs(own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { cursor: '--cursor', limit: '--limit', since: '--since', external_check_id: 'CHECK', ...own }
}

function foreignService(url: string, directory: string): CommandError {
  return new CommandError(
    'foreign_service',
    `${join(directory, 'run.json')} points to ${new URL(url).origin}, which is not an address of this machine. Nothing was sent there. Remove that file, or pass --url URL.`,
  )
}

function takenOverText(url: string, directory: string): string {
  return `The service of ${join(directory, 'run.json')} has ended, and another program answers at ${new URL(url).origin}. Nothing was sent there. Start the service with \`tabwire start\`, or pass --url URL.`
}

/** @throws CommandError (usage) for a URL with a password: reports and messages contain the URL. */
export function requireNoPassword(flag: string, url: string): void {
  const { username, password } = URL.canParse(url) ? new URL(url) : { username: '', password: '' }
  if (username !== '' || password !== '')
    throw usageError(`${flag} must not contain a user name or a password, because reports contain the URL.`)
}

/** @throws CommandError (usage) for a data directory that was chosen and is not there: another service might answer. */
async function requireDirectory(directory: string): Promise<void> {
  if (directory === DEFAULT_DATA_DIRECTORY) return
  const found = await stat(directory).catch(() => undefined)
  if (found?.isDirectory() === true) return
  const what = found === undefined ? 'does not exist' : 'is not a directory'
  throw usageError(`--data-dir: ${directory} ${what}. Correct it, or pass --url with the URL of a service.`)
}

function requireUrl(url: string | undefined): void {
  if (url !== undefined) requireNoPassword('--url', url)
  if (url === undefined || /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) return
  const hint = `--url must be an http: or https: URL such as ${DEFAULT_URL}, got ${JSON.stringify(url)}.`
  throw usageError(hint)
}
