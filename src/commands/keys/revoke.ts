import { Args } from '@oclif/core'
import { renderKey } from '../../cli/render/resources.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { ApiError } from '../../client.ts'

export default class KeysRevoke extends ServiceCommand {
  static override description = 'Revoke an API key.\nThe service refuses the key from then on.'
  static override examples = ['<%= config.bin %> keys revoke key_01K9YQ3S2M6W5VJ8T4R7N0ZBCD']
  static override args = {
    key: Args.string({
      ignoreStdin: true,
      description: 'Id of the key (not the key itself).',
      required: true,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke)
    const client = await this.connect(flags)
    const key = await client.keys.revoke(args.key)
    this.print(key, () => renderKey(key))
    const isOwn = await client.keys.list({ limit: 1 }).then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.status === 401,
    )
    if (isOwn)
      this.say(
        'This command used the revoked key. Pass another one with --api-key. Without one, start the service again: it makes a new key.',
      )
  }
}
