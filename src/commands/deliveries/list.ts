import { Flags } from '@oclif/core'
import { ifRefused } from '../../cli/errors.ts'
import { fromEnvironment, listFlags } from '../../cli/flags.ts'
import { endpointFilter, endpointUrls } from '../../cli/endpoint-urls.ts'
import { renderDeliveries } from '../../cli/render/delivery.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { sinceFlag, startOfSince } from '../../cli/time.ts'
import {
  type AttemptOutcome,
  attemptOutcomes,
  type DeliveryWord,
  deliveryWords,
} from '../../model/delivery.ts'
import { eventTypesAndPing, type EventType } from '../../model/event.ts'

export default class DeliveriesList extends ServiceCommand {
  static override description = 'List deliveries, newest first.'
  static override examples = [
    '<%= config.bin %> deliveries list',
    '<%= config.bin %> deliveries list --status dead --type check.closed',
    '<%= config.bin %> deliveries list --outcome timeout --since 2h',
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override flags = fromEnvironment({
    status: Flags.custom<DeliveryWord>({
      description: 'Only deliveries with this status; pending includes retrying and held.',
      options: [...deliveryWords],
    })(),
    outcome: Flags.custom<AttemptOutcome>({
      description: 'Only deliveries whose latest attempt has this outcome.',
      options: [...attemptOutcomes],
    })(),
    since: sinceFlag({
      description:
        'Only deliveries created or attempted since this time, ISO 8601 or a duration ago such as 2h.',
    }),
    type: Flags.custom<EventType | 'ping'>({
      description: 'Only deliveries of this event type.',
      options: eventTypesAndPing,
    })(),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint (id or URL).' }),
    check: Flags.string({ description: 'Only deliveries for this check (external id).' }),
    ...listFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(DeliveriesList)
    const client = await this.connect(flags)
    const { status, outcome, type, limit, cursor } = flags
    const from = flags.since && (await startOfSince(client, flags.since)).toISOString()
    const endpoint_id = await endpointFilter(client, flags.endpoint)
    const filter = { endpoint_id, external_check_id: flags.check, from }
    const list = await client.deliveries.list({ status, outcome, type, limit, cursor, ...filter })
    const urls = this.wantsJson ? {} : await endpointUrls(client).catch(ifRefused({}))
    const isFiltered = [status, outcome, type, cursor, ...Object.values(filter)].some(
      (one) => one !== undefined,
    )
    this.print(list, (columns) =>
      renderDeliveries(list.data, urls, columns, isFiltered ? 'No deliveries match.' : undefined),
    )
    this.sayNextPage(list)
  }
}
