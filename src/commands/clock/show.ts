import { renderClock } from '../../cli/render/controls.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class ClockShow extends ServiceCommand {
  static override description = 'Show the service clock.'
  static override examples = ['<%= config.bin %> clock show']

  async run(): Promise<void> {
    const { flags } = await this.parse(ClockShow)
    const client = await this.connect(flags)
    const clock = await client.clock.show()
    this.print(clock, () => renderClock(clock))
  }
}
