import { Flags } from '@oclif/core'
import { fromEnvironment } from '../cli/flags.ts'
import { openInBrowser } from '../cli/open-in-browser.ts'
import { ServiceCommand } from '../cli/service-command.ts'

export default class Open extends ServiceCommand {
  static override description =
    'Open the inspector in the browser.\nThe inspector shows pushes, events and deliveries live. The link works once, within ten minutes. Without a browser, the link is only printed.'
  static override examples = ['<%= config.bin %> open', '<%= config.bin %> open --print']
  static override flags = fromEnvironment({
    print: Flags.boolean({ description: 'Print the link without opening a browser.' }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Open)
    const client = await this.connect(flags)
    const link = await client.inspector.link()
    const opened = !flags.print && !this.wantsJson && (await openInBrowser(link.url, flags['data-dir']))
    this.print(link, () => link.url)
    if (!opened && !flags.print && !this.wantsJson)
      this.say('Cannot open a browser here. Open the link yourself: it works once, within ten minutes.')
  }
}
