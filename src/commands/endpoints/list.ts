import { listFlags } from '../../cli/flags.ts'
import { renderEndpoints } from '../../cli/render/resources.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class EndpointsList extends ServiceCommand {
  static override description = 'List webhook endpoints, newest first.'
  static override examples = ['<%= config.bin %> endpoints list']
  static override flags = listFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(EndpointsList)
    const client = await this.connect(flags)
    const list = await client.endpoints.list({ limit: flags.limit, cursor: flags.cursor })
    this.printList(list, ['id', 'url', 'event_types', 'status'], renderEndpoints)
  }
}
