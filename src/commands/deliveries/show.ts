import { Args } from '@oclif/core'
import { ifRefused } from '../../cli/errors.ts'
import { endpointUrls } from '../../cli/endpoint-urls.ts'
import { renderDelivery } from '../../cli/render/delivery.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { suggestion } from '../../cli/suggestion.ts'

export default class DeliveriesShow extends ServiceCommand {
  static override description =
    'Show a delivery and its attempts.\nIncludes the reason of each failure and the time of the next attempt.'
  static override examples = ['<%= config.bin %> deliveries show dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    delivery: Args.string({ ignoreStdin: true, description: 'Id of the delivery.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DeliveriesShow)
    const client = await this.connect(flags)
    const delivery = await client.deliveries.get(args.delivery)
    const { endpoint_id, endpoint_url = endpoint_id } = delivery
    const known = this.wantsJson
      ? {}
      : await endpointUrls(client).catch(ifRefused({ [endpoint_id]: endpoint_url }))
    this.print(delivery, (columns) => renderDelivery(delivery, known[endpoint_id], columns))
    // A disabled or deleted endpoint gets no further delivery.
    if (delivery.status === 'dead' && delivery.dead_reason !== 'endpoint_disabled')
      this.say(`Next: ${suggestion('deliveries resend', [delivery.id])}`)
  }
}
