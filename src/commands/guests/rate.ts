import { Args, Errors, Flags } from '@oclif/core'
import { fromEnvironment } from '../../cli/flags.ts'
import { checkArg, nameFlag } from '../../cli/guests.ts'
import { renderFeedback } from '../../cli/render/guests.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'

const ratingArg = Args.custom<number>({
  parse: async (input) => {
    if (/^[1-5]$/.test(input)) return Number(input)
    throw new Errors.CLIError(
      `RATING must be a whole number from 1 to 5 (best), got ${JSON.stringify(input)}.`,
    )
  },
})

export default class GuestsRate extends ServiceCommand {
  static override description = 'Rate the meal, from 1 to 5.'
  static override examples = ["<%= config.bin %> guests rate two-top 5 --comment 'Lovely tart' --name Anna"]
  static override typedAs = typedAs({ guest_name: '--name', comment: '--comment', rating: 'RATING' })
  static override args = {
    check: checkArg,
    rating: ratingArg({ ignoreStdin: true, description: 'Rating from 1 to 5 (best).', required: true }),
  }
  static override flags = fromEnvironment({
    comment: Flags.string({ char: 'c', description: 'Comment of the guest, up to 1,000 characters.' }),
    name: nameFlag,
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GuestsRate)
    const client = await this.connect(flags)
    const feedback = await client.guests.rate(args.check, {
      guest_name: flags.name ?? null,
      rating: args.rating,
      comment: flags.comment ?? null,
    })
    this.print(feedback, () => renderFeedback(feedback))
  }
}
