import { listFlags } from '../../cli/flags.ts'
import { renderKeys } from '../../cli/render/resources.ts'
import { ServiceCommand } from '../../cli/service-command.ts'

export default class KeysList extends ServiceCommand {
  static override description = 'List API keys, newest first.\nThe keys themselves are not shown.'
  static override examples = ['<%= config.bin %> keys list']
  static override flags = listFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysList)
    const client = await this.connect(flags)
    const list = await client.keys.list({ limit: flags.limit, cursor: flags.cursor })
    this.print(list, (columns) => renderKeys(list.data, columns))
    this.sayNextPage(list)
  }
}
