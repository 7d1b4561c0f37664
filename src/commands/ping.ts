import { Args } from '@oclif/core'
import { allEndpoints, isSameUrl, isUrl, noEndpoint } from '../cli/endpoint-urls.ts'
import { CommandError, exitCodes, usageError } from '../cli/errors.ts'
import { renderPing } from '../cli/render/resources.ts'
import { hasFields } from '../cli/render/foreign.ts'
import { suggestion } from '../cli/suggestion.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import type { Client } from '../client.ts'
import type { WebhookEndpointView } from '../model/webhook-endpoint.ts'

export default class Ping extends ServiceCommand {
  static override description =
    'Send a signed ping to an endpoint.\nExit 1 when the receiver does not answer 2xx in time.'
  static override examples = [
    '<%= config.bin %> ping',
    '<%= config.bin %> ping we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
    '<%= config.bin %> ping https://localhost:8443/webhooks',
  ]
  static override args = {
    endpoint: Args.string({
      ignoreStdin: true,
      description: 'Id or URL of the endpoint (default: the only endpoint).',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Ping)
    const client = await this.connect(flags)
    const { id, alike } = await endpointOf(client, args.endpoint)
    if (alike > 1) this.say(`${alike} endpoints have this URL. This pings the newest, ${id}.`)
    const report = await this.waiting('Waiting for the receiver…', client.endpoints.ping(id))
    // The specification does not show the response of a ping.
    if (!hasFields(report, 'outcome', 'delivery_id'))
      return this.print(report, () => 'The service accepted the ping. Look at your receiver for the result.')
    this.print(report, () => renderPing(report))
    if (report.outcome !== 'succeeded') process.exitCode = exitCodes.failed
  }
}

/** The endpoint to ping, and how many enabled ones have the URL given. */
interface Chosen {
  id: string
  alike: number
}

/**
 * Chooses the endpoint to ping: a given id as it is, else the newest enabled endpoint with the given URL, or the only
 * enabled one.
 * @throws CommandError when there is none, or (usage) when several could be meant.
 */
async function endpointOf(client: Client, wanted: string | undefined): Promise<Chosen> {
  if (wanted !== undefined && !isUrl(wanted)) return { id: wanted, alike: 1 }
  const all = await allEndpoints(client)
  const enabled = all.filter(({ status }) => status !== 'disabled')
  const matching = wanted === undefined ? enabled : enabled.filter(({ url }) => isSameUrl(url, wanted))
  const [first, ...others] = matching
  if (first === undefined) {
    if (wanted === undefined) throw new CommandError('no_endpoint', noneEnabled(all))
    if (!all.some(({ url }) => isSameUrl(url, wanted))) throw noEndpoint('URL', wanted)
    throw new CommandError(
      'no_endpoint',
      `The endpoint with the URL ${wanted} is disabled. Register it again with: ${suggestion('endpoints create', [wanted])}`,
    )
  }
  if (wanted !== undefined || others.length === 0) return { id: first.id, alike: matching.length }
  const choices = matching.map(({ id, url }) => `  ${id}  ${url}`).join('\n')
  throw usageError(
    `ENDPOINT is missing: ${matching.length} endpoints are registered. Pass one of them:\n${choices}`,
  )
}

function noneEnabled(all: readonly WebhookEndpointView[]): string {
  const [newest] = all
  if (newest === undefined)
    return 'No endpoint is registered. Register one with: tabwire endpoints create URL'
  const which = all.length === 1 ? 'The only endpoint is' : `All ${all.length} endpoints are`
  return `${which} disabled, because too many deliveries in a row failed. Register it again with: ${suggestion('endpoints create', [newest.url])}`
}
