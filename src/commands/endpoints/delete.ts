import { Args } from '@oclif/core'
import { endpointIdOf } from '../../cli/endpoint-urls.ts'
import { printable } from '../../cli/render/text.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class EndpointsDelete extends ServiceCommand {
  static override description = 'Delete a webhook endpoint.\nIts pending deliveries become dead.'
  static override examples = ['<%= config.bin %> endpoints delete we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    endpoint: Args.string({ ignoreStdin: true, description: 'Id or URL of the endpoint.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EndpointsDelete)
    const client = await this.connect(flags)
    const endpoint = await client.endpoints.delete(await endpointIdOf(client, args.endpoint))
    this.print(endpoint, () => `Deleted ${endpoint.id} (${printable(endpoint.url)}).`)
  }
}
