import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { CommandError, exitCodes } from '../cli/failure.ts'
import { fromEnvironment, timeFlag } from '../cli/flags.ts'
import { readInput } from '../cli/input.ts'
import { renderVerification } from '../cli/render/verification.ts'
import { diagnose, verify } from '../signature/index.ts'

export default class Verify extends BaseCommand {
  static override description =
    'Check the signature of a delivery, offline.\nExit 0 when it is right, 3 when not; then the mistake is named if it is a known one.'
  static override examples = [
    "<%= config.bin %> verify --secret whsec_… --header 't=1763748245,v1=5f2b…' --body delivery.json",
    "<%= config.bin %> verify --header 't=1763748245,v1=5f2b…' < delivery.json   # the secret in TABWIRE_SECRET",
  ]
  static override flags = fromEnvironment({
    secret: Flags.string({ description: "The endpoint's signing secret, whole: whsec_…", required: true }),
    header: Flags.string({ description: 'The value of the signature header.', required: true }),
    body: Flags.string({
      description: 'The raw body as received: a file, or - for standard input.',
      default: '-',
    }),
    tolerance: Flags.integer({
      description: 'How many seconds t may be from now, both ways.',
      min: 0,
      default: 300,
    }),
    now: timeFlag({ description: 'Verify as if it were this time (unix seconds or ISO 8601).' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Verify)
    const payload = await readInput(flags.body)
    const now = flags.now ?? new Date()
    const options = { payload, header: flags.header, secret: flags.secret, tolerance: flags.tolerance, now }
    const result = judged(() => verify(options))
    const diagnosis = result.ok ? undefined : diagnose(options)
    const report = {
      ...result,
      ...(diagnosis === undefined ? {} : { mistake: diagnosis.mistake, advice: diagnosis.advice }),
    }
    this.print(report, () => renderVerification(result, diagnosis, now))
    if (!result.ok) process.exitCode = exitCodes.checkFailed
  }
}

/** A secret that cannot be one is wrong usage, not a wrong signature. */
function judged<T>(judge: () => T): T {
  try {
    return judge()
  } catch (error) {
    throw new CommandError('usage', error instanceof Error ? error.message : String(error), exitCodes.usage)
  }
}
