import { limitOf, timeoutFlag } from '../../cli/flags.ts'
import { renderState } from '../../cli/render/state.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class StateReset extends ServiceCommand {
  static override description =
    'Forget everything but locations and API keys.\nThe clock goes back to real time, or to where `start --clock` had put it, and runs.'
  static override examples = ['<%= config.bin %> state reset']

  static override flags = timeoutFlag

  async run(): Promise<void> {
    const { flags } = await this.parse(StateReset)
    const client = await this.connect(flags)
    const report = await client.state.reset(limitOf(flags))
    this.print(report, () => renderState(report))
  }
}
