import { Args, Errors } from '@oclif/core'
import { renderMove, renderPlayed } from '../../cli/render/controls.ts'
import type { Client } from '../../client.ts'
import { limitOf, timeoutFlag } from '../../cli/flags.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { durationMs } from '../../model/text/time.ts'

/** Wait before the command prints its progress, in milliseconds. */
const TELL_AFTER_MS = 2_000

const durationArg = Args.custom({
  parse: async (input) => {
    if (durationMs(input) !== undefined) return input
    throw new Errors.CLIError(
      `DURATION must be a duration such as 90s, 5m, 36h, 1d or 1h30m, got ${JSON.stringify(input)}.`,
    )
  },
})

export default class ClockAdvance extends ServiceCommand {
  static override description =
    'Advance the clock and run all due retries.\nRetries run in order of their due times, each after the outcome of the previous attempt. Ctrl-C stops the clock where it is.'
  static override examples = [
    '<%= config.bin %> clock advance 1m',
    '<%= config.bin %> clock advance 35h   # all retries of a delivery',
  ]
  static override typedAs = typedAs({ advance: 'DURATION' })
  static override args = {
    duration: durationArg({
      ignoreStdin: true,
      description: 'Duration, such as 90s, 5m, 36h, 1d, 1h30m or 500ms.',
      required: true,
    }),
  }

  static override flags = timeoutFlag

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ClockAdvance)
    const client = await this.connect(flags)
    const timer = setTimeout(() => void this.sayProgress(client), TELL_AFTER_MS)
    const report = await client.clock
      .advance(args.duration, limitOf(flags))
      .finally(() => clearTimeout(timer))
    this.print(report, (columns) => renderPlayed(report, columns))
  }

  private async sayProgress(client: Client): Promise<void> {
    const clock = await client.clock.show().catch(() => undefined)
    if (clock?.moving) this.say(renderMove(clock.moving, clock.now))
  }
}
