import { Args, Errors, Flags } from '@oclif/core'
import { CommandError } from '../cli/errors.ts'
import { fromEnvironment } from '../cli/flags.ts'
import { qrModules, qrSvg, renderQr } from '../cli/render/qr.ts'
import { ServiceCommand } from '../cli/service-command.ts'
import type { Client } from '../client.ts'
import { bareHost, isLoopbackName } from '../model/url.ts'

const tableArg = Args.custom({
  parse: async (input) => {
    if (/^\.{1,2}$/.test(input))
      throw new Errors.CLIError('TABLE must not be . or .., because browsers resolve them in URLs.')
    if (Array.from(input).length <= 64) return input
    throw new Errors.CLIError('TABLE must be at most 64 characters long.')
  },
})

export default class Qr extends ServiceCommand {
  static override description =
    'Show the QR code of a table.\nIt opens the page where guests claim, pay and rate. When the terminal cannot show the code, the address is printed.'
  static override examples = [
    '<%= config.bin %> qr 12',
    '<%= config.bin %> qr 12 --svg > table-12.svg',
    '<%= config.bin %> qr 12 --address',
  ]
  static override args = {
    table: tableArg({ ignoreStdin: true, description: 'Number of the table.', required: true }),
  }
  static override flags = fromEnvironment({
    svg: Flags.boolean({ description: 'Write the code as SVG to stdout.', exclusive: ['address'] }),
    address: Flags.boolean({ description: 'Print only the address of the page.' }),
    location: Flags.string({
      description: 'Id or name of the location; must be that of the API key.',
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Qr, withoutBareUrl(this.argv))
    const client = await this.connect(flags)
    const address = await client.tables.address(args.table)
    if (flags.location !== undefined) await requireLocation(client, flags.location, address.location_id)
    const { url } = address
    if (this.wantsJson) return this.print(address, () => '')
    if (flags.svg) return this.write(`${qrSvg(url)}\n`)
    if (flags.address) return this.print(undefined, () => url)
    this.show(url)
    if (isLoopbackName(bareHost(new URL(url))))
      this.say(
        'Only this machine can open the page. For phones in the same network, run: tabwire start --host 0.0.0.0',
      )
  }

  private show(url: string): void {
    const modules = qrModules(url)
    const { columns, takesUnicode } = this.terminal
    const reason = takesUnicode
      ? modules.length > columns && `it needs ${modules.length} columns, and the terminal has ${columns}`
      : 'the terminal is not set to UTF-8'
    if (reason) this.say(`Cannot show the code: ${reason}. For an image, pass --svg.`)
    this.print(undefined, () => (reason ? url : `${renderQr(modules)}\n${url}`))
  }
}

/** Accepts `--url` without a URL as `--address`. With a URL, it locates the service, as in all commands. */
function withoutBareUrl(argv: readonly string[]): string[] {
  return argv.map((word, index) =>
    word === '--url' && !/^https?:/i.test(argv[index + 1] ?? '') ? '--address' : word,
  )
}

/** @throws CommandError when the table is not at this location. */
async function requireLocation(client: Client, wanted: string, actual: string): Promise<void> {
  const is = (one: string) => one.toLowerCase() === wanted.toLowerCase()
  for await (const { id, name } of client.locations.all()) if (id === actual && (is(id) || is(name))) return
  throw new CommandError(
    'other_location',
    `--location must be the location of the API key, got ${JSON.stringify(wanted)}. Run \`tabwire locations\` to list locations, or pass --api-key with a key of that location.`,
  )
}
