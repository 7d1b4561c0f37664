import { Flags } from '@oclif/core'
import { fromEnvironment, listFlags } from '../../cli/flags.ts'
import { renderEvents } from '../../cli/render/resources.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { eventTypesAndPing, type EventType } from '../../model/event.ts'

export default class EventsList extends ServiceCommand {
  static override description = 'List events, newest first.'
  static override examples = [
    '<%= config.bin %> events list',
    '<%= config.bin %> events list --type check.closed --check two-top',
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override flags = fromEnvironment({
    type: Flags.custom<EventType | 'ping'>({
      description: 'Only events of this type.',
      options: eventTypesAndPing,
    })(),
    check: Flags.string({ description: 'Only events for this check (external id).' }),
    ...listFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsList)
    const client = await this.connect(flags)
    const { type, check, limit, cursor } = flags
    const list = await client.events.list({ type, external_check_id: check, limit, cursor })
    const isFiltered = [type, check, cursor].some((one) => one !== undefined)
    this.print(list, (columns) =>
      list.data.length === 0 && isFiltered ? 'No events match.' : renderEvents(list.data, columns),
    )
    this.sayNextPage(list)
  }
}
