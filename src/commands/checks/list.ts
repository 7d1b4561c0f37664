import { Flags } from '@oclif/core'
import { fromEnvironment, listFlags } from '../../cli/flags.ts'
import { renderChecks } from '../../cli/render/check.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class ChecksList extends ServiceCommand {
  static override description = 'List checks, newest first.'
  static override examples = [
    '<%= config.bin %> checks list',
    '<%= config.bin %> checks list --status open --table 12',
  ]
  static override flags = fromEnvironment({
    status: Flags.custom<'open' | 'closed'>({
      description: 'Only checks with this status.',
      options: ['open', 'closed'],
    })(),
    table: Flags.string({ description: 'Only checks at this table.' }),
    ...listFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ChecksList)
    const client = await this.connect(flags)
    const { status, table, limit, cursor } = flags
    const list = await client.checks.list({ status, table, limit, cursor })
    const currencies = await this.currencies(client)
    const isFiltered = [status, table, cursor].some((one) => one !== undefined)
    this.printList(list, ['external_id', 'items', 'table', 'totals', 'balance_cents'], (checks, columns) =>
      renderChecks(checks, columns, currencies, isFiltered ? 'No checks match.' : undefined),
    )
  }
}
