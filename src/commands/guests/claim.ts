import { Args } from '@oclif/core'
import { CommandError } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { currencyOf, checkArg, nameFlag } from '../../cli/guests/amount.ts'
import { chosenItems, unclaimedItems } from '../../cli/guests/items.ts'
import { renderClaim } from '../../cli/render/guests.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { suggestion } from '../../cli/suggestion.ts'

export default class GuestsClaim extends ServiceCommand {
  static override description =
    'Claim items of a check, as a guest at the table does.\nAn item goes by its external id, or by a part of its name that no other item has.\nWithout a quantity it is all that is left of the item, and without an item everything that is left.'
  static override examples = [
    '<%= config.bin %> guests claim two-top burger lemonade=1 --name Anna',
    '<%= config.bin %> guests claim two-top   # everything that nobody has claimed yet',
  ]
  static override strict = false
  static override typedAs = typedAs({
    guest_name: '--name',
    external_id: 'ITEM',
    quantity: 'ITEM=QUANTITY',
    items: 'ITEM',
  })
  static override args = {
    check: checkArg,
    item: Args.string({ ignoreStdin: true, description: 'An item, or ITEM=QUANTITY; several can be given.' }),
  }
  static override flags = fromEnvironment({ name: nameFlag })

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(GuestsClaim)
    const words = (argv as string[]).slice(1)
    const client = await this.connect(flags)
    const check = await client.checks.get(args.check)
    const items = words.length === 0 ? unclaimedItems(check) : chosenItems(check, words)
    if (items.length === 0)
      throw new CommandError(
        'nothing_to_claim',
        `Nothing of check ${args.check} is left to be claimed. ${suggestion('checks show', [args.check])} tells what guests hold.`,
      )
    const currency = this.wantsJson ? undefined : await currencyOf(client, check.location_id)
    const claim = await client.guests.claim(args.check, { guest_name: flags.name ?? null, items })
    this.print(claim, () => renderClaim(claim, check.items, currency))
    if (words.length === 0) this.say('No item was named, so this is everything that was left.')
    this.say(`Next: ${suggestion('guests pay', [args.check], { claim: claim.id })}`)
  }
}
