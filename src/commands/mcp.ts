import { Flags } from '@oclif/core'
import { readAuthorityCertificate } from '../certificates/authority.ts'
import { receiverAuthorities, receiverUrl } from '../cli/conformance/receiver.ts'
import { exitCodes } from '../cli/errors.ts'
import { requireSecret } from '../cli/files/secrets.ts'
import { fromEnvironment, knownServiceNameFlag, secretFromFileFlag } from '../cli/flags.ts'
import { ServiceCommand } from '../cli/service-command.ts'

export default class Mcp extends ServiceCommand {
  static override description =
    'Serve the tools of Tabwire to coding agents, by MCP.\nReads JSON-RPC from standard input and writes it to standard output, until the input ends. Starts no service; tools call the running one with your key.\nRun `help agents` for the setup of agents.'
  static override examples = [
    '<%= config.bin %> mcp',
    '<%= config.bin %> mcp --url http://127.0.0.1:4100 --api-key-file api.key',
    '<%= config.bin %> mcp --secret-file webhook.secret',
  ]
  static override flags = fromEnvironment({
    secret: Flags.string({
      description: 'Signing secret for the tools verify and receiver_check; agents do not see it.',
    }),
    'secret-file': secretFromFileFlag('the signing secret'),
    'service-name': knownServiceNameFlag(),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp)
    requireSecret(flags.secret)
    // Loaded late: only this command needs the SDK.
    const { serveOnStreams } = await import('../mcp/stdio.ts')
    const connect = this.reconnect(flags)
    const context = {
      connect,
      explain: (error: Error) => this.explained(error),
      secret: flags.secret,
      hidden: () => [this.usedKey].filter((key) => key !== undefined),
      receiver: async (url: string) => receiverUrl(url, 'url'),
      authorities: async () => receiverAuthorities(await readAuthorityCertificate(flags['data-dir'])),
      serviceName: () => this.serviceName(flags),
    }
    if (process.stdin.isTTY) this.say('Waiting for an MCP client on standard input. Press Ctrl-C to stop.')
    await serveOnStreams(context, this.config.version, {
      input: process.stdin,
      write: (line) => this.write(line),
      report: (message) => this.say(message),
    })
  }

  /** A client ends the server in this way. */
  protected override interrupted(): void {
    process.exit(exitCodes.done)
  }
}
