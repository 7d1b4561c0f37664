import { Flags } from '@oclif/core'
import { fromEnvironment, listed } from '../../cli/flags.ts'
import {
  amountFlag,
  readAmount,
  currencyOf,
  checkAfter,
  checkArg,
  nameFlag,
  claimIds,
} from '../../cli/guests.ts'
import { renderPayment } from '../../cli/render/guests.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { suggestion } from '../../cli/suggestion.ts'
import type { Client } from '../../client.ts'

export default class GuestsPay extends ServiceCommand {
  static override description =
    'Pay claims, an amount, or the balance of a check.\nWrite amounts as on the bill (12.50 or 12), or in minor units (1250c).\nWithout --claim and --amount, pays the whole balance.'
  static override examples = [
    '<%= config.bin %> guests pay two-top --claim Anna --tip 2.50',
    '<%= config.bin %> guests pay two-top --claim clm_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
    '<%= config.bin %> guests pay two-top --amount 12.50 --name Ben',
    '<%= config.bin %> guests pay two-top',
  ]
  static override typedAs = typedAs({
    guest_name: '--name',
    claim_ids: '--claim',
    amount_cents: '--amount',
    tip_cents: '--tip',
  })
  static override args = { check: checkArg }
  static override flags = fromEnvironment({
    claim: Flags.string({
      description: 'Claim id, or guest name for all claims of that guest.',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['amount'],
    }),
    amount: amountFlag({ description: 'Amount to pay, such as 12.50 or 1250c.' }),
    tip: amountFlag({ description: 'Tip, such as 2.50 or 250c.' }),
    name: nameFlag,
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GuestsPay)
    const client = await this.connect(flags)
    const { amount, tip } = flags
    const currency =
      amount === undefined && tip === undefined ? '' : await currencyOfCheck(client, args.check)
    const payment = await client.guests.pay(args.check, {
      guest_name: flags.name ?? null,
      ...(flags.claim && { claim_ids: await claimIds(client, args.check, listed(flags.claim)) }),
      ...(amount !== undefined && { amount_cents: readAmount(amount, currency, 'amount') }),
      ...(tip !== undefined && { tip_cents: readAmount(tip, currency, 'tip') }),
    })
    if (this.wantsJson) return this.print(payment, () => '')
    const check = await checkAfter(client, args.check)
    this.print(payment, () => renderPayment(payment, check))
    if (check.balance_cents > 0) this.say(`Next: ${suggestion('guests pay', [args.check])}`)
  }
}

/** Returns the currency of a check's location, which determines the digits of amounts; '' when it is unknown. */
async function currencyOfCheck(client: Client, check: string): Promise<string> {
  const { location_id } = await client.checks.get(check)
  return (await currencyOf(client, location_id)) ?? ''
}
