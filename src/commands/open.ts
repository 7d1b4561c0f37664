import { Flags } from '@oclif/core'
import { fromEnvironment } from '../cli/flags.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { ServiceCommand } from '../cli/service-command.ts'

export default class Open extends ServiceCommand {
  static override description =
    'Open the inspector in the browser.\nIt shows pushes, events and deliveries live. Its link is good once, for ten minutes; without a browser it is only printed.'
  static override examples = ['<%= config.bin %> open', '<%= config.bin %> open --print']
  static override flags = fromEnvironment({
    print: Flags.boolean({ description: 'Print the link alone, and open nothing.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Open)
    const client = await this.connect(flags)
    const link = await client.inspector.link()
    const opened = !flags.print && !this.wantsJson && (await openInBrowser(link.url, flags['data-dir']))
    this.print(link, () => link.url)
    if (!opened && !flags.print && !this.wantsJson)
      this.say('No browser could be opened here. Open the link yourself; it is good once, for ten minutes.')
  }
}
