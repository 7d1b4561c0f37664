import { Args } from '@oclif/core'
import { renderDelivery } from '../../cli/render/delivery.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

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
    this.print(delivery, (columns) => renderDelivery(delivery, columns))
  }
}
