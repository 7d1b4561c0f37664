import { listFlags } from '../cli/flags.ts'
import { renderTable } from '../cli/render/layout.ts'
import { printable } from '../cli/render/text.ts'
import { ServiceCommand } from '../cli/service-command.ts'

export default class Locations extends ServiceCommand {
  static override description = "List the restaurant's locations."
  static override examples = ['<%= config.bin %> locations', '<%= config.bin %> locations --json']
  static override flags = listFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Locations)
    const client = await this.connect(flags)
    const list = await client.locations.list({ limit: flags.limit, cursor: flags.cursor })
    this.printList(list, ['id', 'name', 'timezone', 'currency'], (locations, columns) => {
      const rows = locations.map(({ id, name, timezone, currency }) =>
        [id, name, timezone, currency].map(printable),
      )
      return renderTable(['location', 'name', 'time zone', 'currency'], rows, 'No locations.', columns)
    })
  }
}
