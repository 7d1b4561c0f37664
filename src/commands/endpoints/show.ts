import { Args } from '@oclif/core'
import { endpointIdOf } from '../../cli/endpoint-urls.ts'
import { renderEndpoint } from '../../cli/render/resources.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class EndpointsShow extends ServiceCommand {
  static override description = 'Show a webhook endpoint.\nThe signing secret is shown only at registration.'
  static override examples = ['<%= config.bin %> endpoints show we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    endpoint: Args.string({ ignoreStdin: true, description: 'Id or URL of the endpoint.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EndpointsShow)
    const client = await this.connect(flags)
    const endpoint = await client.endpoints.get(await endpointIdOf(client, args.endpoint))
    this.printRecord(endpoint, ['id', 'url', 'event_types', 'status', 'created_at'], (columns) =>
      renderEndpoint(endpoint, columns),
    )
  }
}
