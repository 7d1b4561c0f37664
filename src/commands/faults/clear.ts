import { ServiceCommand } from '../../cli/service-command.ts'

export default class FaultsClear extends ServiceCommand {
  static override description =
    'Clear all faults on deliveries and on the API.\nHeld deliveries are sent at once.'
  static override examples = ['<%= config.bin %> faults clear']

  async run(): Promise<void> {
    const { flags } = await this.parse(FaultsClear)
    const client = await this.connect(flags)
    const faults = await client.faults.clear()
    this.print(faults, () => 'All faults cleared.')
  }
}
