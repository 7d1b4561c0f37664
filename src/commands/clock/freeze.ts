import { Flags } from '@oclif/core'
import { fromEnvironment, limitOf, timeoutFlag } from '../../cli/flags.ts'
import { renderClock } from '../../cli/render/controls.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class ClockFreeze extends ServiceCommand {
  static override description =
    'Freeze the clock.\nOnly `clock advance` moves it, until `clock freeze --off`.'
  static override examples = ['<%= config.bin %> clock freeze', '<%= config.bin %> clock freeze --off']
  static override flags = fromEnvironment({
    ...timeoutFlag,
    off: Flags.boolean({ description: 'Let the clock run again from its current time.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ClockFreeze)
    const client = await this.connect(flags)
    const clock = await client.clock.freeze(!flags.off, limitOf(flags))
    this.print(clock, () => renderClock(clock))
  }
}
