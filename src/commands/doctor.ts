import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { exitCodes } from '../cli/failure.ts'
import { fromEnvironment, placeFlags } from '../cli/flags.ts'
import { renderCheckUp } from '../cli/render/doctor.ts'
import { checkUp, repair } from '../store/doctor/doctor.ts'

export default class Doctor extends BaseCommand {
  static override description =
    'Look whether the data directory is in order, and mend it.\nExit 0 when a start would succeed, 3 when not. A repair keeps what can be kept and deletes nothing.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --repair   # moves aside what is damaged, and says what',
  ]
  static override flags = fromEnvironment({
    ...placeFlags,
    repair: Flags.boolean({ description: 'Keep what can be kept, and move the rest aside.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const directory = flags['data-dir']
    const result = flags.repair ? await repair(directory) : await checkUp(directory)
    this.print(result, () => renderCheckUp(result))
    if (!result.ok) process.exitCode = exitCodes.checkFailed
  }
}
