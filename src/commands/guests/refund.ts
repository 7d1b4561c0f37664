import { Args } from '@oclif/core'
import { fromEnvironment } from '../../cli/flags.ts'
import { amountFlag, checkAfter, readAmount } from '../../cli/guests.ts'
import { renderPayment } from '../../cli/render/guests.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'

export default class GuestsRefund extends ServiceCommand {
  static override description =
    'Refund a payment, or a part of it.\nA full refund releases the claims of the payment.'
  static override examples = [
    '<%= config.bin %> guests refund pay_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
    '<%= config.bin %> guests refund pay_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --amount 5',
  ]
  static override typedAs = typedAs({ amount_cents: '--amount' })
  static override args = {
    payment: Args.string({ ignoreStdin: true, description: 'Id of the payment.', required: true }),
  }
  static override flags = fromEnvironment({
    amount: amountFlag({
      description: 'Amount to refund, such as 12.50 or 1250c (default: the rest of the payment).',
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GuestsRefund)
    const client = await this.connect(flags)
    const body =
      flags.amount === undefined
        ? {}
        : {
            amount_cents: readAmount(
              flags.amount,
              (await client.payments.get(args.payment)).currency,
              'amount',
            ),
          }
    const payment = await client.guests.refund(args.payment, body)
    if (this.wantsJson) return this.print(payment, () => '')
    const check = await checkAfter(client, payment.external_check_id)
    this.print(payment, () => renderPayment(payment, check))
  }
}
