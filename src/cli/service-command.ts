import { join } from 'node:path'
import { createClient, type Client, type ClientOptions } from '../client.ts'
import { readCredentials, readRun } from '../data-directory.ts'
import { isLoopbackName } from '../model/loopback.ts'
import { BaseCommand } from './base-command.ts'
import { CommandError, exitCodes } from './failure.ts'
import { connectionFlags, jsonFlag } from './flags.ts'
import { isThisMachine } from './trust/own-address.ts'

const DEFAULT_URL = 'http://127.0.0.1:4100'

interface Connection {
  url: string | undefined
  'api-key': string | undefined
  'data-dir': string
}

/** A command that talks to a running service. */
export abstract class ServiceCommand extends BaseCommand {
  static override baseFlags = { ...jsonFlag, ...connectionFlags }

  /** A client of the service that {@link locate} finds. */
  protected async connect(flags: Connection): Promise<Client> {
    return createClient(await this.locate(flags))
  }

  /**
   * The same again and again, for a service that is restarted meanwhile: `run.json` may name another port and key by then,
   * and while it names none, the service is expected back where it was, not at the default address.
   */
  protected reconnect(flags: Connection): () => Promise<Client> {
    let last: string | undefined
    return async () => {
      const found = await this.locate(flags, last)
      last = found.url
      return createClient(found)
    }
  }

  /** Finds the service: what was asked for, else the one that runs on the data directory, else the default address. */
  protected async locate(flags: Connection, otherwise = DEFAULT_URL): Promise<ClientOptions> {
    requireUrl(flags.url)
    const directory = flags['data-dir']
    const [run, credentials] = await Promise.all([readRun(directory), readCredentials(directory)])
    const url = flags.url ?? run?.url ?? otherwise
    const { hostname } = new URL(url)
    // A file of the working directory names no other machine, which would get the key of the environment.
    if (flags.url === undefined && !isThisMachine(hostname)) throw foreignService(url, directory)
    // The key of the service here is nobody else's business: another machine gets the one that it was given.
    const isLocal = flags.url === undefined || isLoopbackName(hostname.replace(/^\[|\]$/g, ''))
    const local = isLocal ? (run?.api_key ?? credentials?.api_key) : undefined
    return {
      url,
      apiKey: flags['api-key'] ?? local,
      ca: isLocal || isThisMachine(hostname) ? run?.ca : undefined,
    }
  }
}

function foreignService(url: string, directory: string): CommandError {
  return new CommandError(
    'foreign_service',
    `${join(directory, 'run.json')} names ${new URL(url).origin}, which is not an address of this machine, so nothing was sent there. Remove that file, or name the service yourself: --url URL.`,
  )
}

function requireUrl(url: string | undefined): void {
  if (url === undefined || /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) return
  const hint = `--url ${url} is no URL of a service. It looks like ${DEFAULT_URL}.`
  throw new CommandError('usage', hint, exitCodes.usage)
}
