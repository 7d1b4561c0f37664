import { Args } from '@oclif/core'
import { CommandError } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { currencyOf, checkArg, nameFlag, chosenItems, unclaimedItems } from '../../cli/guests.ts'
import { renderClaim } from '../../cli/render/guests.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { suggestion } from '../../cli/suggestion.ts'

export default class GuestsClaim extends ServiceCommand {
  static override description =
    'Claim items of a check as a guest.\nGive an item by its external id, or by a unique part of its name.\nWithout a quantity, claims all that is left of the item. Without an item, claims everything unclaimed.'
  static override examples = [
    '<%= config.bin %> guests claim two-top burger lemonade=1 --name Anna',
    '<%= config.bin %> guests claim two-top   # everything unclaimed',
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
    item: Args.string({ ignoreStdin: true, description: 'Item, or ITEM=QUANTITY; repeatable.' }),
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
        `Check ${args.check} has no unclaimed items. To see the claims, run: ${suggestion('checks show', [args.check])}`,
      )
    const currency = this.wantsJson ? undefined : await currencyOf(client, check.location_id)
    const claim = await client.guests.claim(args.check, { guest_name: flags.name ?? null, items })
    this.print(claim, () => renderClaim(claim, check.items, currency))
    if (words.length === 0) this.say('Claimed everything unclaimed, because no item was given.')
    if (claim.amount_cents > 0)
      this.say(`Next: ${suggestion('guests pay', [args.check], { claim: claim.id })}`)
  }
}
