import { Args, Flags } from '@oclif/core'
import { fromEnvironment } from '../../cli/flags.ts'
import { renderEvent } from '../../cli/render/resources.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class EventsShow extends ServiceCommand {
  static override description =
    'Show an event and its data.\nWith --body, prints only the exact bytes that receivers get.'
  static override examples = [
    '<%= config.bin %> events show evt_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
    "<%= config.bin %> events show evt_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --body | <%= config.bin %> verify --secret whsec_… --header 't=1763748245,v1=5f2b…'",
  ]
  static override args = {
    event: Args.string({ ignoreStdin: true, description: 'Id of the event.', required: true }),
  }
  static override flags = fromEnvironment({
    body: Flags.boolean({
      description: 'Print the exact body that receivers get. Environment variable: TABWIRE_SHOW_BODY.',
      // TABWIRE_BODY is the file of `sign` and `verify`.
      env: 'TABWIRE_SHOW_BODY',
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EventsShow)
    const client = await this.connect(flags)
    const event = await client.events.get(args.event)
    // Without the line's end of `print`, which would break the signature.
    if (flags.body) this.write(event.body)
    else this.print(event, (columns) => renderEvent(event, columns))
  }
}
