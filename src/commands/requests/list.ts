import { Flags } from '@oclif/core'
import { fromEnvironment, listFlags } from '../../cli/flags.ts'
import { renderRequests } from '../../cli/render/request.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { KEPT_REQUESTS_TEXT } from '../../model/simulator/request-entry.ts'
import { findingCodes, type FindingCode } from '../../model/simulator/report.ts'

export default class RequestsList extends ServiceCommand {
  static override description = `List API requests, newest first.\n${KEPT_REQUESTS_TEXT}`
  static override examples = [
    '<%= config.bin %> requests list',
    '<%= config.bin %> requests list --failed --check table-12',
    '<%= config.bin %> requests list --finding totals_mismatch',
  ]
  static override typedAs = typedAs({ external_check_id: '--check' })
  static override flags = fromEnvironment({
    failed: Flags.boolean({ description: 'Only requests answered with 400 or above.' }),
    finding: Flags.custom<FindingCode | 'any'>({
      description: 'Only pushes with this finding; any for all findings.',
      options: ['any', ...findingCodes],
    })(),
    check: Flags.string({ description: 'Only requests about this check (external id).' }),
    ...listFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(RequestsList)
    const client = await this.connect(flags)
    const { finding, check, limit, cursor } = flags
    const failed = flags.failed ? true : undefined
    const list = await client.requests.list({ failed, finding, external_check_id: check, limit, cursor })
    const isFiltered = [failed, finding, check, cursor].some((one) => one !== undefined)
    this.print(list, (columns) => renderRequests(list.data, columns, isFiltered))
    this.sayNextPage(list)
  }
}
