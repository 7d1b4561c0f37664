import { Flags } from '@oclif/core'
import { fromEnvironment } from '../cli/flags.ts'
import { renderAttempt } from '../cli/render/delivery.ts'
import { renderRequest } from '../cli/render/request.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import type { StreamMessage } from '../client.ts'
import { eventTypes } from '../model/event.ts'

export default class Tail extends ServiceCommand {
  static override description =
    'Show deliveries as they are attempted.\nEach with status, latency and why it failed, until Ctrl-C or the service ends.'
  static override examples = [
    '<%= config.bin %> tail',
    '<%= config.bin %> tail --failed --type check.closed',
    "<%= config.bin %> tail --json | jq -c '{type: .event_type, outcome: .attempt.outcome}'",
  ]
  static override flags = fromEnvironment({
    type: Flags.string({ description: 'Only this event type.', options: [...eventTypes, 'ping'] }),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint.' }),
    failed: Flags.boolean({ description: 'Only attempts that failed.' }),
    requests: Flags.boolean({ description: 'Show the requests to the API as well.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Tail)
    const client = await this.connect(flags)
    const { signal } = new AbortController()
    const listening = () => this.say('Listening for deliveries; Ctrl-C ends it.')
    for await (const message of client.stream(signal, listening)) this.show(message, flags)
    this.say('The service has ended.')
  }

  private show(message: StreamMessage, filter: Filter): void {
    const { data } = message
    if (message.type === 'reset') this.say('Another state was put in place; what was shown so far is gone.')
    if (message.type === 'attempt' && passes(message, filter))
      this.printLine(data, () => renderAttempt(message.data))
    if (message.type === 'request' && filter.requests) this.printLine(data, () => renderRequest(message.data))
  }
}

interface Filter {
  type?: string | undefined
  endpoint?: string | undefined
  failed: boolean
  requests: boolean
}

function passes(
  { data }: Extract<StreamMessage, { type: 'attempt' }>,
  { type, endpoint, failed }: Filter,
): boolean {
  if (type !== undefined && data.event_type !== type) return false
  if (endpoint !== undefined && data.endpoint_id !== endpoint) return false
  return !failed || data.attempt.outcome !== 'succeeded'
}
