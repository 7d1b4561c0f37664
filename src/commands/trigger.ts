import { Args, Flags } from '@oclif/core'
import { suggestion } from '../cli/suggestion.ts'
import { usageError } from '../cli/errors.ts'
import { fromEnvironment, listed } from '../cli/flags.ts'
import { uniqueName, type PushBody } from '../cli/push/bodies.ts'
import { readExampleCheck } from '../cli/push/samples.ts'
import { withOverrides } from '../cli/push/source.ts'
import { checkAfter } from '../cli/guests.ts'
import { renderTriggered } from '../cli/render/steps.ts'
import { ServiceCommand, typedAs } from '../cli/service-command.ts'
import { trigger } from '../cli/trigger.ts'
import { ApiError } from '../client.ts'
import { eventTypes, type EventType } from '../model/event.ts'

export default class Trigger extends ServiceCommand {
  static override description =
    'Trigger an event by performing the real steps.\nPushes, claims, pays, rates or closes a new check, or the check of --check.'
  static override examples = [
    '<%= config.bin %> trigger payment.refunded',
    '<%= config.bin %> trigger check.closed --check two-top',
    "<%= config.bin %> trigger check.created --override 'items[0].price_cents=900' --override table.number=7",
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override args = {
    event: Args.string({
      ignoreStdin: true,
      description: 'Event type.',
      options: [...eventTypes],
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    check: Flags.string({
      description: 'External id of the check, which is pushed when there is none (default: a new check).',
    }),
    override: Flags.string({
      description: 'Change the first pushed body: path=value, such as items[0].price_cents=900.',
      multiple: true,
      multipleNonGreedy: true,
    }),
  })

  async run(): Promise<void> {
    if (this.argv[0] === 'ping')
      throw usageError('EVENT cannot be ping. To send a ping, run: tabwire ping ENDPOINT')
    const { args, flags } = await this.parse(Trigger)
    const type = args.event as EventType
    const client = await this.connect(flags)
    const overrides = listed(flags.override ?? [])
    // Checked before the first push: only a simulator can list events.
    await client.health()
    const triggered = await trigger(type, {
      client,
      check: flags.check ?? uniqueName('trigger'),
      example: await readExampleCheck(),
      ...(overrides.length > 0 && {
        override: (body: PushBody) => withOverrides(body, overrides, ['revision']),
      }),
    }).catch((error: unknown) => {
      throw overrides.length > 0 ? overridesRefused(error) : error
    })
    if (this.wantsJson) return this.print(triggered, () => '')
    const { location_id } = await checkAfter(client, triggered.external_check_id)
    const currency = (await this.currencies(client))[location_id]
    this.print(triggered, () => renderTriggered(triggered, currency))
    this.say(`Next: ${suggestion('events show', [triggered.event.id])}`)
  }
}

/** Explains that an override made the body invalid. */
function overridesRefused(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') return error
  const { issues = [] } = error.body as { issues?: { path: string; message: string }[] }
  const described = issues.map(({ path, message }) => `${path} ${message}`).join(', ')
  return usageError(`--override makes the body invalid: ${described}.`)
}
