import { Args, Flags } from '@oclif/core'
import { exitCodes, usageError } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { renderResent, renderResentAll } from '../../cli/render/delivery.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { sinceFlag, startOfSince } from '../../cli/time.ts'
import { ApiError, type Client } from '../../client.ts'
import type { Delivery } from '../../model/delivery.ts'

export default class DeliveriesResend extends ServiceCommand {
  static override description =
    'Resend a delivery, or all dead deliveries.\nCreates a new delivery of the same event, with a new signature unless --verbatim is given. Does not wait for the outcome. Exit 1 when a delivery cannot be resent.'
  static override examples = [
    '<%= config.bin %> deliveries resend dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
    '<%= config.bin %> deliveries resend dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --verbatim   # a replay, for receivers that check the time',
    '<%= config.bin %> deliveries resend --dead --since 2h',
  ]
  static override args = {
    delivery: Args.string({ ignoreStdin: true, description: 'Id of the delivery.' }),
  }
  static override flags = fromEnvironment({
    dead: Flags.boolean({
      description: 'All dead deliveries, except pings and events that another delivery covers.',
    }),
    since: sinceFlag({
      description:
        'With --dead: only deliveries attempted since this time, ISO 8601 or a duration ago such as 2h.',
      dependsOn: ['dead'],
    }),
    verbatim: Flags.boolean({
      description: 'Reuse the signature header of the first attempt, including its time.',
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DeliveriesResend)
    if ((args.delivery === undefined) === !flags.dead)
      throw usageError('Pass either the id of a delivery or --dead.')
    const client = await this.connect(flags)
    const fresh = !flags.verbatim
    if (args.delivery !== undefined) {
      const resent = await client.deliveries.resend(args.delivery, { fresh })
      return this.print(resent, () => renderResent(resent))
    }
    const since = flags.since && (await startOfSince(client, flags.since))
    const report = await resendAll(client, await deadDeliveries(client, since), fresh)
    this.print(report, () => renderResentAll(report))
    if (report.refused.length > 0) process.exitCode = exitCodes.failed
  }
}

/**
 * Returns dead deliveries, oldest first: the newest of each event and endpoint, without those that a delivered or pending
 * delivery covers.
 */
async function deadDeliveries(client: Client, since: Date | undefined): Promise<Delivery[]> {
  const dead = new Map<string, Delivery>()
  const replaced = new Set<string>()
  for await (const delivery of client.deliveries.all()) {
    const subject = `${delivery.event_id} ${delivery.endpoint_id}`
    if (delivery.status !== 'dead') replaced.add(subject)
    else if (delivery.event_type !== 'ping' && attemptedSince(delivery, since) && !dead.has(subject))
      dead.set(subject, delivery)
  }
  return [...dead].flatMap(([subject, delivery]) => (replaced.has(subject) ? [] : [delivery])).reverse()
}

function attemptedSince({ attempts }: Delivery, since: Date | undefined): boolean {
  if (since === undefined) return true
  const last = attempts.at(-1)
  return last !== undefined && new Date(last.started_at) >= since
}

/** Reports deliveries that cannot be resent, for example to a disabled endpoint, and continues with the others. */
async function resendAll(client: Client, dead: readonly Delivery[], fresh: boolean) {
  const data: Delivery[] = []
  const refused: { id: string; code: string; message: string }[] = []
  for (const { id } of dead)
    try {
      data.push(await client.deliveries.resend(id, { fresh }))
    } catch (error) {
      if (!(error instanceof ApiError) || ![404, 409, 422].includes(error.status)) throw error
      refused.push({ id, code: error.code, message: error.message })
    }
  return { data, refused }
}
