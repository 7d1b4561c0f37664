import { Flags } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { renderConnection } from '../cli/render/attempt.ts'
import { renderResent } from '../cli/render/delivery.ts'
import { renderTailMessage } from '../cli/render/tail.ts'
import type { Terminal } from '../cli/base-command.ts'
import { createEndpointUrls, endpointFilter } from '../cli/endpoint-urls.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag } from '../cli/time.ts'
import { createEventBodies, type TailEvent, type TailMessage, watch } from '../cli/tail/watch.ts'
import { passes } from '../cli/tail/view.ts'
import { openLiveView } from '../cli/tail/live-view.ts'
import type { Client } from '../client.ts'
import { eventTypesAndPing } from '../model/event.ts'

export default class Tail extends ServiceCommand {
  static override description =
    'Show deliveries as they are attempted.\nPrints status, latency and the reason of each failure, until Ctrl-C. When the service stops, waits for it and resumes.\nKeys at a terminal: p pauses, f shows failures only, r resends the last delivery, o opens the inspector, ? lists all keys.'
  static override examples = [
    '<%= config.bin %> tail',
    '<%= config.bin %> tail --since 10m --failed --type check.closed',
    '<%= config.bin %> tail --bodies --requests',
    "<%= config.bin %> tail --json | jq -c '{type: .event_type, outcome: .attempt.outcome}'",
  ]
  static override flags = fromEnvironment({
    type: Flags.string({ description: 'Only this event type.', options: eventTypesAndPing }),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint (id or URL).' }),
    failed: Flags.boolean({
      description: 'Only failed attempts, and deliveries that became dead without one.',
    }),
    requests: Flags.boolean({ description: 'Also show API requests.' }),
    bodies: Flags.boolean({
      description: 'Also show request and response bodies; with --json as event_body.',
    }),
    since: sinceFlag({
      description: 'First show attempts since this time, ISO 8601 or a duration ago such as 10m.',
    }),
    reconnect: Flags.boolean({
      description: 'When the service stops, wait for it and resume.',
      allowNo: true,
      default: true,
    }),
    keys: Flags.boolean({
      description: 'Accept keys at a terminal; ? lists them.',
      allowNo: true,
      default: true,
    }),
  })

  async run(): Promise<void> {
    const { flags: given } = await this.parse(Tail)
    const connect = this.reconnect(given)
    const isFiltered = given.endpoint !== undefined
    const endpoint = isFiltered ? await endpointFilter(await connect(), given.endpoint) : undefined
    const flags = { ...given, endpoint }
    const bodyOf = flags.bodies ? createEventBodies(connect) : undefined
    const urlOf = createEndpointUrls(connect)
    const urlFor = async (message: TailMessage) =>
      this.wantsJson || message.type !== 'attempt' ? undefined : urlOf(message.data.endpoint_id)
    const terminal = flags.keys ? this.keyboardTerminal : undefined
    const live = terminal && this.openLive(terminal, { flags, connect, bodyOf, urlFor })
    const say = live?.say ?? ((text: string) => this.say(text))
    try {
      for await (const event of watch({
        connect,
        since: flags.since,
        reconnect: flags.reconnect,
      }))
        if (!isMessage(event)) say(noticeText(event, live !== undefined))
        else if (passes(event, live === undefined ? flags : { ...flags, failed: false }))
          await (live === undefined ? this.show(event, bodyOf, await urlFor(event)) : live.take(event))
    } finally {
      live?.close()
    }
    this.say('The service has stopped.')
  }

  /** At a terminal: the same lines with a status below them, and keys. */
  private openLive(terminal: Terminal, { flags, connect, bodyOf, urlFor }: Live) {
    return openLiveView({
      terminal,
      failedOnly: flags.failed,
      lineOf: async (message) => {
        const body = await bodyFor(message, bodyOf)
        const url = await urlFor(message)
        return this.fitted((columns) => renderTailMessage(message, columns, body, url))
      },
      say: (text) => this.say(text),
      resend: async (id) => renderResent(await (await connect()).deliveries.resend(id, { fresh: true })),
      openPage: async () => openPage((await (await connect()).inspector.link()).url, flags['data-dir']),
      quit: () => process.exit(exitCodes.done),
      interrupt: () => this.interrupted(),
    })
  }

  private async show(
    message: TailMessage,
    bodyOf: BodyOf | undefined,
    url: string | undefined,
  ): Promise<void> {
    const event_body = await bodyFor(message, bodyOf)
    // The bodies of a request are in it already.
    const data =
      event_body === undefined || message.type === 'request' ? message.data : { ...message.data, event_body }
    this.printLine(data, (columns) => renderTailMessage(message, columns, event_body, url))
  }
}

type BodyOf = (eventId: string) => Promise<string | null>

interface Live {
  flags: Parameters<Tail['locate']>[0] & { failed: boolean }
  connect: () => Promise<Client>
  bodyOf: BodyOf | undefined
  urlFor: (message: TailMessage) => Promise<string | undefined>
}

/** `undefined` when no bodies are asked for. */
async function bodyFor(message: TailMessage, bodyOf: BodyOf | undefined): Promise<string | null | undefined> {
  return message.type === 'request' ? bodyOf && null : bodyOf?.(message.data.event_id)
}

async function openPage(url: string, directory: string): Promise<string> {
  return (await openInBrowser(url, directory))
    ? 'Opened the inspector.'
    : `Cannot open a browser. Open this link, which works once, within ten minutes: ${url}`
}

type TailNotice = Exclude<TailEvent, TailMessage>

function isMessage(event: TailEvent): event is TailMessage {
  return ['attempt', 'delivery', 'request'].includes(event.type)
}

function noticeText(notice: TailNotice, live: boolean): string {
  if (notice.type === 'listening') return `Listening for deliveries. Press ${live ? 'q' : 'Ctrl-C'} to stop.`
  if (notice.type === 'reset') return 'All data was replaced. The deliveries above no longer exist.'
  return renderConnection(notice.type === 'disconnected' ? notice : { ...notice, made: 0 })
}
