import { Flags } from '@oclif/core'
import { fromEnvironment } from '../../cli/flags.ts'
import { exitCodes, usageError } from '../../cli/errors.ts'
import { renderGuestAct, renderGuestsReport } from '../../cli/render/guests.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { durationMs } from '../../model/text/time.ts'

export default class GuestsPlay extends ServiceCommand {
  static override description =
    'Play guests on every open check, repeatably.\nThey claim, release, split, pay, tip, ask for refunds and rate, until Ctrl-C. All choices follow from --seed and from the external ids of the checks.\nWith --until-paid, exits 1 when a check cannot be paid.'
  static override examples = [
    '<%= config.bin %> guests play --until-paid',
    '<%= config.bin %> guests play --seed 7 --pace 2s --table 12',
    '<%= config.bin %> guests play --until-paid --virtual --pace 30s --json',
  ]
  static override flags = fromEnvironment({
    seed: Flags.integer({ description: 'Seed of all choices, 0 or more.', min: 0, default: 1 }),
    pace: Flags.string({
      description: 'Time between two rounds, such as 500ms or 2s. In a round, each check gets one act.',
      default: '1s',
    }),
    virtual: Flags.boolean({ description: 'Advance the service clock by --pace, and do not wait.' }),
    table: Flags.string({ description: 'Play at this table only.' }),
    'until-paid': Flags.boolean({
      description:
        'End when the guests have paid every open check. A refund stays due until the POS takes it off the bill.',
      default: false,
    }),
  })

  private readonly end = new AbortController()

  async run(): Promise<void> {
    const { flags } = await this.parse(GuestsPlay)
    const pace = durationMs(flags.pace)
    if (pace === undefined)
      throw usageError(`--pace must be a duration such as 500ms or 2s, got ${JSON.stringify(flags.pace)}.`)
    const client = await this.connect(flags)
    // The service must be a simulator: only that has guests.
    await client.health()
    const currencies = await this.currencies(client)
    const report = await client.guests.play({
      seed: flags.seed,
      pace,
      virtual: flags.virtual,
      table: flags.table,
      untilPaid: flags['until-paid'],
      signal: this.end.signal,
      onAct: (act) => this.printLine(act, () => renderGuestAct(act, currencies[act.location_id])),
    })
    if (this.wantsJson) this.printLine({ type: 'report', ...report }, () => '')
    else this.say(renderGuestsReport(report, currencies[report.location_id ?? '']))
    const isOver = flags['until-paid'] && !this.end.signal.aborted
    if (isOver && report.stuck.length > 0) process.exitCode = exitCodes.failed
  }

  /** The act in progress is finished, and the sums are printed. A second signal ends at once. */
  protected override interrupted(): void {
    if (this.end.signal.aborted) super.interrupted()
    this.end.abort()
    process.exitCode = exitCodes.interrupted
  }
}
