import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { parseTarget } from '../cli/listen/target.ts'
import { checkSurroundings } from '../cli/doctor/surroundings.ts'
import { exitCodes } from '../cli/failure.ts'
import { fromEnvironment, listed, placeFlags } from '../cli/flags.ts'
import { readCertificate } from '../cli/read-certificate.ts'
import { renderCheckUp } from '../cli/render/doctor.ts'
import { checkUp, repair } from '../store/doctor/doctor.ts'

export default class Doctor extends BaseCommand {
  static override description =
    'Look whether all is in order here, and mend the data.\nLooks at Node.js, the port, the clock, the local authority, the data directory and, if one is given, the way to a receiver.\nExit 0 when a start would succeed and deliveries would arrive, 3 when not. A repair keeps what can be kept and deletes nothing.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --receiver https://localhost:8443/webhooks   # name, connection, certificate, answer',
    '<%= config.bin %> doctor --repair   # moves aside what is damaged, and says what',
  ]
  static override flags = fromEnvironment({
    receiver: Flags.string({ description: 'Look also whether deliveries would arrive at this URL.' }),
    cacert: Flags.string({
      description: "PEM file of an authority to trust for the receiver's certificate, beside the local one.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    port: Flags.integer({
      description: 'The port that a start would take.',
      min: 0,
      max: 65_535,
      default: 4100,
    }),
    ...placeFlags,
    repair: Flags.boolean({ description: 'Keep what can be kept, and move the rest aside.' }),
  })

  protected override readonly mendsModes = true

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const directory = flags['data-dir']
    const receiver = flags.receiver === undefined ? undefined : parseTarget(flags.receiver)
    const ca = await Promise.all(listed(flags.cacert ?? []).map(readCertificate))
    const kept = flags.repair ? await repair(directory) : await checkUp(directory)
    const around = checkSurroundings({ directory, port: flags.port, receiver, ca, now: new Date() })
    const surroundings = await this.waiting('Looking around…', around)
    const ok = kept.ok && surroundings.every(({ level }) => level !== 'bad')
    const result = { ...kept, ok, checks: [...surroundings, ...kept.checks] }
    this.print(result, (columns) => renderCheckUp(result, columns))
    if (!ok) process.exitCode = exitCodes.checkFailed
  }
}
