import { Flags } from '@oclif/core'
import { endpointFilter } from '../../cli/endpoint-urls.ts'
import { CommandError, exitCodes } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { renderMet } from '../../cli/render/delivery.ts'
import { printable } from '../../cli/render/text.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { inWords, type Unmet } from '../../assertions/delivered-verdict.ts'
import { waitForDeliveries } from '../../assertions/wait.ts'
import { eventTypesAndPing, type EventType } from '../../model/event.ts'
import type { Delivery } from '../../model/delivery.ts'

export default class DeliveriesWait extends ServiceCommand {
  static override description =
    'Wait for matching deliveries, or assert that none arrives.\nFor CI: checks existing deliveries first, then new attempts. Exit 3 when the expectation is not met.'
  static override examples = [
    '<%= config.bin %> deliveries wait --type check.created --check two-top',
    '<%= config.bin %> deliveries wait --check two-top --count 2 --exactly --timeout 5',
    '<%= config.bin %> deliveries wait --status dead --none --timeout 0',
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override flags = fromEnvironment({
    type: Flags.custom<EventType | 'ping'>({
      description: 'Only deliveries of this event type; pings count only with --type ping.',
      options: eventTypesAndPing,
    })(),
    check: Flags.string({ description: 'Only deliveries for this check (external id).' }),
    endpoint: Flags.string({ description: 'Only deliveries to this endpoint (id or URL).' }),
    status: Flags.custom<Delivery['status']>({
      description: 'The status to wait for (default: delivered; with --none, any attempted delivery).',
      options: ['delivered', 'dead', 'pending'],
    })(),
    count: Flags.integer({
      description: 'Minimum number of deliveries, 1 to 10,000.',
      min: 1,
      max: 10_000,
      default: 1,
    }),
    exactly: Flags.boolean({
      description: 'Allow no more than --count deliveries until the timeout.',
    }),
    none: Flags.boolean({
      description: 'Allow no delivery until the timeout.',
      exclusive: ['exactly', 'count'],
    }),
    timeout: Flags.integer({
      description: 'Seconds to wait, 0 to 86,400; 0 checks existing deliveries only.',
      min: 0,
      max: 86_400,
      default: 30,
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(DeliveriesWait)
    const { timeout } = flags
    const status = flags.status ?? (flags.none ? 'attempted' : 'delivered')
    const client = await this.connect(flags)
    const wanted = { ...flags, status, endpoint: await endpointFilter(client, flags.endpoint) } as const
    const deadline = timeout === 0 ? AbortSignal.abort() : AbortSignal.timeout(timeout * 1_000)
    const waiting = () => this.say(`Waiting up to ${timeout} s for ${inWords(wanted)}.`)
    const verdict = await waitForDeliveries(client, wanted, deadline, waiting)
    if (!verdict.ok) throw new CommandError(verdict.code, inPrint(verdict), exitCodes.checkFailed)
    const { deliveries } = verdict
    this.print({ data: deliveries, next_cursor: null }, () => renderMet(deliveries))
  }
}

function inPrint({ code, message, seen }: Unmet): string {
  const hint = ' Check `tabwire endpoints list` and `tabwire events list`.'
  return printable(code === 'never_came' && seen.length === 0 ? message + hint : message)
}
