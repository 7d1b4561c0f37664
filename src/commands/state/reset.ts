import { limitOf, timeoutFlag } from '../../cli/flags.ts'
import { renderState } from '../../cli/render/controls.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class StateReset extends ServiceCommand {
  static override description =
    'Delete all data except locations and API keys.\nThe clock returns to real time, or to the time of `start --clock`, and runs. With `start --seed` it is frozen.'
  static override examples = ['<%= config.bin %> state reset']

  static override flags = timeoutFlag

  async run(): Promise<void> {
    const { flags } = await this.parse(StateReset)
    const client = await this.connect(flags)
    const report = await client.state.reset(limitOf(flags))
    this.print(report, () => renderState(report))
  }
}
