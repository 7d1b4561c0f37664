import { Args } from '@oclif/core'
import { renderCheck } from '../../cli/render/check.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class ChecksShow extends ServiceCommand {
  static override description = 'Show a check and its items.'
  static override examples = [
    '<%= config.bin %> checks show two-top',
    '<%= config.bin %> checks show two-top --json',
  ]
  static override args = {
    check: Args.string({ ignoreStdin: true, description: 'External id of the check.', required: true }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ChecksShow)
    const client = await this.connect(flags)
    const check = await client.checks.get(args.check)
    const currencies = await this.currencies(client)
    this.printRecord(check, ['external_id', 'items', 'table', 'totals', 'balance_cents'], (columns) =>
      renderCheck(check, columns, currencies),
    )
  }
}
