import { Flags } from '@oclif/core'
import { fromEnvironment } from '../cli/flags.ts'
import { renderConnection } from '../cli/render/listen.ts'
import { renderTold } from '../cli/render/tail.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import { sinceFlag } from '../cli/since.ts'
import { createEventBodies } from '../cli/tail/event-bodies.ts'
import { passes } from '../cli/tail/filter.ts'
import type { Told } from '../cli/tail/news.ts'
import { watch, type Happening } from '../cli/tail/watch.ts'
import { eventTypes } from '../model/event.ts'

export default class Tail extends ServiceCommand {
  static override description =
    'Show deliveries as they are attempted.\nEach with status, latency and why it failed, until Ctrl-C. When the service ends, waits for it and goes on where it was.'
  static override examples = [
    '<%= config.bin %> tail',
    '<%= config.bin %> tail --since 10m --failed --type check.closed',
    '<%= config.bin %> tail --bodies --requests',
    "<%= config.bin %> tail --json | jq -c '{type: .event_type, outcome: .attempt.outcome}'",
  ]
  static override flags = fromEnvironment({
    type: Flags.string({ description: 'Only this event type.', options: [...eventTypes, 'ping'] }),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint.' }),
    failed: Flags.boolean({
      description: 'Only attempts that failed, and deliveries that died without one.',
    }),
    requests: Flags.boolean({ description: 'Show the requests to the API as well.' }),
    bodies: Flags.boolean({
      description: 'Show what was sent and what was answered; with --json as event_body.',
    }),
    since: sinceFlag({
      description:
        'First what began since this time (ISO 8601) or so long ago (10m), by the clock of the service.',
    }),
    reconnect: Flags.boolean({
      description: 'Wait for the service when it ends, and go on; --no-reconnect ends with it.',
      allowNo: true,
      default: true,
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Tail)
    const connect = this.reconnect(flags)
    const bodyOf = flags.bodies ? createEventBodies(connect) : undefined
    const { signal } = new AbortController()
    for await (const happening of watch({ connect, signal, since: flags.since, reconnect: flags.reconnect }))
      if (!isTold(happening)) this.say(wordsOf(happening))
      else if (passes(happening, flags)) await this.show(happening, bodyOf)
    this.say('The service has ended.')
  }

  private async show(told: Told, bodyOf?: (eventId: string) => Promise<string | null>): Promise<void> {
    if (bodyOf === undefined) return this.printLine(told.data, () => renderTold(told))
    // The bodies of a request are in it already.
    if (told.type === 'request') return this.printLine(told.data, () => renderTold(told, null))
    const event_body = await bodyOf(told.data.event_id)
    this.printLine({ ...told.data, event_body }, () => renderTold(told, event_body))
  }
}

type Talk = Exclude<Happening, Told>

function isTold(happening: Happening): happening is Told {
  return ['attempt', 'delivery', 'request'].includes(happening.type)
}

function wordsOf(talk: Talk): string {
  if (talk.type === 'listening') return 'Listening for deliveries; Ctrl-C ends it.'
  if (talk.type === 'reset') return 'Another state was put in place; what was shown so far is gone.'
  return renderConnection(talk.type === 'disconnected' ? talk : { ...talk, made: 0 })
}
