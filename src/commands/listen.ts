import { Flags } from '@oclif/core'
import { openEnvFile, type EnvVariables } from '../cli/files/env-file.ts'
import { CommandError, exitCodes } from '../cli/errors.ts'
import { chosenEvents, dotenvFlag, fromEnvironment, fetchDeliveriesFlag } from '../cli/flags.ts'
import { tidyUp, type RegisteredRoute, closeTunnel } from '../cli/listen/endpoints.ts'
import { deadLeases, listenSecret } from '../cli/listen/lease.ts'
import { listenTo, type ListenEvent } from '../cli/listen/session.ts'
import { explainRefusal, openTunnel } from '../cli/listen/tunnel.ts'
import { parseHeaders, targetsOf } from '../cli/listen/target.ts'
import { renderConnection, renderForwarded, renderListening } from '../cli/render/attempt.ts'
import { renderWarning } from '../cli/render/messages.ts'
import { count } from '../model/text/count.ts'
import { prepareDataDirectory } from '../cli/trust/made-here.ts'
import type { Terminal } from '../cli/base-command.ts'
import { openBar } from '../cli/listen/bar.ts'
import { renderResent } from '../cli/render/delivery.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import type { AttemptMessage, Client } from '../client.ts'

export default class Listen extends ServiceCommand {
  static override description =
    'Forward deliveries to a receiver on plain HTTP.\nRegisters a temporary HTTPS endpoint, forwards each delivery unchanged and returns the response. The endpoint is removed at the end.\nKeys at a terminal: r resends the last delivery, c clears the screen, q quits.'
  static override examples = [
    '<%= config.bin %> listen --forward-to http://localhost:3000/webhooks',
    '<%= config.bin %> listen --forward-to localhost:3000 --events check.created,check.closed --dotenv .env',
    '<%= config.bin %> listen --print-secret',
  ]
  static override flags = fromEnvironment({
    'forward-to': Flags.string({
      description: 'URL to forward deliveries to (default: listen.forward of tabwire.config.json).',
    }),
    events: Flags.string({
      description: 'Only these event types, separated by commas (default: all).',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    'add-header': Flags.string({
      char: 'H',
      description: "Header to add or replace in each delivery: 'Name: value'.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    'print-secret': Flags.boolean({
      description: 'Print the signing secret and exit.',
    }),
    dotenv: dotenvFlag,
    relay: fetchDeliveriesFlag,
    // Not TABWIRE_INSECURE: with it, `start` would also accept any certificate.
    insecure: Flags.boolean({
      description:
        'Accept any certificate of an HTTPS target. Environment variable: TABWIRE_LISTEN_INSECURE.',
      env: 'TABWIRE_LISTEN_INSECURE',
    }),
  })

  private readonly ending = new AbortController()
  private exitCode: number = exitCodes.done
  /** Ids of endpoints that were disabled or deleted. */
  private readonly ended = new Set<string>()
  private endpointCount = 1
  private bar: ReturnType<typeof openBar> | undefined

  async run(): Promise<void> {
    const { flags } = await this.parse(Listen)
    const directory = flags['data-dir']
    if (flags['print-secret']) return this.printSecret(directory)
    const targets = await targetsOf({
      ...flags,
      events: flags.events && chosenEvents(flags.events),
      headers: parseHeaders(flags['add-header']),
    })
    const envFile = flags.dotenv
    const env = envFile === undefined ? undefined : await openEnvFile(envFile)
    const connect = this.reconnect(flags)
    const service = new URL((await this.locate(flags)).url).origin
    await this.tidy(await connect(), service, directory)
    // After the first response: without a service, the command writes nothing.
    await prepareDataDirectory(directory)
    const terminal = this.keyboardTerminal
    const options = { directory, service, targets, insecure: flags.insecure }
    const tunnel = await openTunnel(options, await import('../certificates/authority.ts'), flags.relay)
    try {
      const secret = await listenSecret(directory)
      const session = { connect, tunnel, secret, signal: this.ending.signal }
      for await (const event of listenTo(session)) {
        if ('registered' in event) {
          const tightened = await env?.write(variablesOf(event.registered, secret))
          if (tightened !== undefined) this.say(tightened)
        }
        if (event.type === 'ready' && terminal !== undefined) this.openBar(terminal, connect)
        if (event.type === 'attempt') this.bar?.count(event.data)
        const show = () => this.show(event, { service, signing_secret: secret, envFile })
        if (this.bar === undefined) show()
        else this.bar.above(show)
      }
    } finally {
      this.bar?.close()
      // After an error the stream is still open, and would keep the process running.
      this.ending.abort()
      if (!(await closeTunnel(tunnel, connect)))
        this.say('The service did not remove the endpoint. The next `tabwire listen` removes it.')
    }
    this.exit(this.exitCode)
  }

  /** Suggests `--relay` when the service refuses the address of the tunnel. */
  protected override async explained(error: Error): Promise<Error> {
    return explainRefusal(error) ?? super.explained(error)
  }

  private openBar(terminal: Terminal, connect: () => Promise<Client>): void {
    this.bar = openBar({
      terminal,
      say: (text) => this.say(text),
      resend: async (id) => renderResent(await (await connect()).deliveries.resend(id, { fresh: true })),
      quit: () => this.ending.abort(),
      interrupt: () => this.interrupted(),
    })
  }

  private async printSecret(directory: string): Promise<void> {
    await prepareDataDirectory(directory)
    const signing_secret = await listenSecret(directory)
    this.print({ signing_secret }, () => signing_secret)
  }

  private async tidy(client: Client, service: string, directory: string): Promise<void> {
    const left = await tidyUp(client, service, await deadLeases(directory))
    if (left > 0) this.say(`Removed ${count(left, 'endpoint')} of a killed \`tabwire listen\`.`)
  }

  private show(event: ListenEvent, details: ReadyDetails): void {
    if (event.type === 'ready') this.showReady(event.registered, details)
    else if (event.type === 'attempt') this.showAttempt(event)
    else if (event.type === 'deleted') this.giveUp(event.from, 'deleted')
    else {
      this.say(renderConnection(event))
      const forward = 'registered' in event ? { forward: forwardOf(event.registered) } : {}
      if (this.wantsJson) this.printLine({ type: event.type, ...forward }, () => '')
    }
    if ('registered' in event) {
      // After a reset, the targets have new endpoints.
      const ids = new Set(event.registered.map(({ endpoint }) => endpoint.id))
      for (const id of this.ended) if (!ids.has(id)) this.ended.delete(id)
      for (const one of event.registered) if (one.endpoint.status === 'disabled') this.giveUp(one)
    }
  }

  private showReady(
    registered: readonly RegisteredRoute[],
    { service, signing_secret, envFile }: ReadyDetails,
  ): void {
    this.endpointCount = registered.length
    if (!this.wantsJson)
      return this.sayRendered((columns) =>
        renderListening(registered, envFile === undefined ? signing_secret : `in ${envFile}`, columns),
      )
    const shown = envFile === undefined ? { signing_secret } : {}
    const forward = forwardOf(registered)
    this.printLine({ type: 'ready', url: service, ...shown, forward, pid: process.pid }, () => '')
  }

  private showAttempt({ data, from }: Extract<ListenEvent, { type: 'attempt' }>): void {
    const to = from.target.to
    this.printLine({ type: 'attempt', to: to.href, ...data }, (columns) =>
      renderForwarded(namingTarget(data, from), this.endpointCount > 1 ? to : undefined, columns),
    )
    if (data.dead_reason === 'endpoint_disabled') this.giveUp(from)
  }

  /** A disabled or deleted endpoint gets no further deliveries; when all are, the command ends. */
  private giveUp({ endpoint, target }: RegisteredRoute, why: 'disabled' | 'deleted' = 'disabled'): void {
    if (this.ended.has(endpoint.id)) return
    this.ended.add(endpoint.id)
    const message =
      why === 'deleted'
        ? `The endpoint for ${target.to.href} was deleted. Run \`tabwire listen\` again for a new endpoint.`
        : `The service disabled the endpoint for ${target.to.href}: too many deliveries in a row failed. Run \`tabwire listen\` again for a new endpoint, or start the service with --disable-after 0.`
    if (this.ended.size >= this.endpointCount) throw new CommandError(`endpoint_${why}`, message)
    this.say(renderWarning(message))
  }

  /**
   * The first signal removes the endpoints; the second ends at once and leaves them to the next `listen`. A closed terminal
   * may be noticed twice.
   */
  protected override interrupted(signal: NodeJS.Signals = 'SIGINT'): void {
    if (this.ending.signal.aborted && signal !== 'SIGHUP') process.exit(exitCodes.interrupted)
    this.exitCode = exitCodes.interrupted
    this.ending.abort()
  }

  protected override abandoned(): void {
    this.ending.abort()
  }
}

/**
 * Returns an attempt whose error names the target: the service knows only the port of this command, and reports this
 * command's own 502 as the receiver's.
 */
function namingTarget(message: AttemptMessage, { url, target }: RegisteredRoute): AttemptMessage {
  const { attempt } = message
  const [, own] = /^tabwire listen: (.*)/.exec(attempt.response_body ?? '') ?? []
  if (own !== undefined) return { ...message, attempt: { ...attempt, error: own, response_body: null } }
  // A TLS error is one of this command's certificate.
  if (attempt.outcome === 'tls_error') return message
  const error = attempt.error?.replace(new URL(url).host, target.to.host) ?? null
  return { ...message, attempt: { ...attempt, error } }
}

interface ReadyDetails {
  service: string
  signing_secret: string
  /** File with the secret, which is not printed then. */
  envFile: string | undefined
}

/** Returns the endpoints as lines of `--json` show them. */
function forwardOf(registered: readonly RegisteredRoute[]): object[] {
  return registered.map(({ endpoint, target, url }) => ({
    endpoint_id: endpoint.id,
    url,
    to: target.to.href,
    event_types: endpoint.event_types,
  }))
}

function variablesOf(registered: readonly RegisteredRoute[], TABWIRE_SIGNING_SECRET: string): EnvVariables {
  const [first, ...others] = registered
  const only = others.length === 0 ? first : undefined
  return { ...(only && { TABWIRE_ENDPOINT_ID: only.endpoint.id }), TABWIRE_SIGNING_SECRET }
}
