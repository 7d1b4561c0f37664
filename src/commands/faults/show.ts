import { renderFaults } from '../../cli/render/controls.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class FaultsShow extends ServiceCommand {
  static override description = 'Show the current faults.\nIncludes how often each was injected.'
  static override examples = ['<%= config.bin %> faults show']

  async run(): Promise<void> {
    const { flags } = await this.parse(FaultsShow)
    const client = await this.connect(flags)
    const faults = await client.faults.show()
    this.print(faults, (columns) => renderFaults(faults, columns))
  }
}
