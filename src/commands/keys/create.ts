import { Errors, Flags } from '@oclif/core'
import { fromEnvironment, listed } from '../../cli/flags.ts'
import { renderKey } from '../../cli/render/resources.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { didYouMeanSentence } from '../../model/text/did-you-mean.ts'
import { scopes, type Scope } from '../../model/api-key.ts'

export default class KeysCreate extends ServiceCommand {
  static override description = 'Create an API key.\nThe key is shown only once.'
  static override examples = [
    '<%= config.bin %> keys create --name ci --scopes read,write',
    '<%= config.bin %> keys create --name terrace --location loc_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
  ]
  static override typedAs = typedAs({ name: '--name', scopes: '--scopes' })
  static override flags = fromEnvironment({
    name: Flags.string({ description: 'Name of the key.', default: 'key' }),
    scopes: Flags.string({
      description: `Scopes of the key, separated by commas: ${scopes.join(', ')}.`,
      multiple: true,
      delimiter: ',',
      // Not oclif's options: it would compare them with the whole list when that comes from the environment.
      parse: async (input) => requireScopes(input),
      default: [...scopes],
    }),
    location: Flags.string({
      description: 'Location that the key can access (default: that of the current key).',
    }),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysCreate)
    const client = await this.connect(flags)
    const location = flags.location === undefined ? {} : { location_id: flags.location }
    const key = await client.keys.create({
      name: flags.name,
      scopes: listed(flags.scopes) as Scope[],
      ...location,
    })
    this.print(key, (columns) => renderKey(key, columns))
    this.say('Store the key now: it is not shown again.')
  }
}

function requireScopes(text: string): string {
  const unknown = listed(text).filter((word) => !scopes.some((scope) => scope === word))
  if (unknown.length === 0) return text
  throw new Errors.CLIError(
    `must be one or more of ${scopes.join(', ')}, got ${JSON.stringify(unknown.join(', '))}.${didYouMeanSentence(unknown[0] ?? '', scopes)}`,
  )
}
