import { Flags } from '@oclif/core'
import { fromEnvironment, listFlags } from '../../cli/flags.ts'
import { endpointUrls } from '../../cli/endpoint-urls.ts'
import { renderDeliveries } from '../../cli/render/delivery.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import type { Delivery } from '../../model/delivery.ts'
import { eventTypes, type EventType } from '../../model/event.ts'

export default class DeliveriesList extends ServiceCommand {
  static override description = 'List deliveries, newest first.'
  static override examples = [
    '<%= config.bin %> deliveries list',
    '<%= config.bin %> deliveries list --status dead --type check.closed',
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override flags = fromEnvironment({
    status: Flags.custom<Delivery['status']>({
      description: 'Only deliveries with this status.',
      options: ['pending', 'delivered', 'dead'],
    })(),
    type: Flags.custom<EventType | 'ping'>({
      description: 'Only deliveries of this event type.',
      options: [...eventTypes, 'ping'],
    })(),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint.' }),
    check: Flags.string({ description: 'Only deliveries for this check (external id).' }),
    ...listFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(DeliveriesList)
    const client = await this.connect(flags)
    const { status, type, limit, cursor } = flags
    const filter = { endpoint_id: flags.endpoint, external_check_id: flags.check }
    const list = await client.deliveries.list({ status, type, limit, cursor, ...filter })
    const urls = this.wantsJson ? {} : await endpointUrls(client)
    this.print(list, (columns) => renderDeliveries(list.data, urls, columns))
  }
}
