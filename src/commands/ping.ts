import { Args } from '@oclif/core'
import { exitCodes } from '../cli/errors.ts'
import { renderPing } from '../cli/render/endpoint.ts'
import { ServiceCommand } from '../cli/service-command.ts'

export default class Ping extends ServiceCommand {
  static override description =
    'Send a signed ping to an endpoint.\nExit 1 when the receiver does not answer 2xx in time.'
  static override examples = ['<%= config.bin %> ping we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    endpoint: Args.string({ ignoreStdin: true, description: 'Id of the endpoint.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Ping)
    const client = await this.connect(flags)
    const report = await this.waiting('Waiting for the receiver…', client.endpoints.ping(args.endpoint))
    this.print(report, () => renderPing(report))
    if (report.outcome !== 'succeeded') process.exitCode = exitCodes.failed
  }
}
