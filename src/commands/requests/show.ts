import { Args } from '@oclif/core'
import { CommandError } from '../../cli/errors.ts'
import { ApiError } from '../../client.ts'
import { renderRequestDetail } from '../../cli/render/request.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { KEPT_REQUESTS_TEXT } from '../../model/simulator/request-entry.ts'

export default class RequestsShow extends ServiceCommand {
  static override description =
    'Show an API request, its response and its findings.\nEach response carries its id in the X-Request-Id header.'
  static override examples = ['<%= config.bin %> requests show req_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    request: Args.string({
      ignoreStdin: true,
      description: 'The X-Request-Id of the response.',
      required: true,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(RequestsShow)
    const client = await this.connect(flags)
    this.asked = args.request
    const request = await client.requests.get(args.request)
    const currencies = request.push === null ? {} : await this.currencies(client)
    this.print(request, (columns) => renderRequestDetail(request, columns, currencies))
  }

  private asked = ''

  /** Says why a request may be missing, unless the service is not a simulator. */
  protected override async explained(error: Error): Promise<Error> {
    const explained = await super.explained(error)
    if (!(explained instanceof ApiError) || explained.code !== 'not_found') return explained
    return new CommandError(
      'not_found',
      `No request ${this.asked}. ${KEPT_REQUESTS_TEXT} Run \`tabwire requests list\`.`,
    )
  }
}
