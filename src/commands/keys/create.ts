import { Flags } from '@oclif/core'
import { fromEnvironment, listed, requireAll } from '../../cli/flags.ts'
import { renderKey } from '../../cli/render/resources.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { scopes, type Scope } from '../../model/api-key.ts'

export default class KeysCreate extends ServiceCommand {
  static override description = 'Create an API key.\nThe key is shown only once.'
  static override examples = [
    '<%= config.bin %> keys create --name ci --scopes read,write',
    '<%= config.bin %> keys create --name terrace --location loc_01K9YQ3S2M6W5VJ8T4R7N0ZBCD',
  ]
  static override typedAs = typedAs({ name: '--name', scopes: '--scopes', location_id: '--location' })
  static override flags = fromEnvironment({
    name: Flags.string({ description: 'Name of the key.', default: 'key' }),
    scopes: Flags.string({
      description: `Scopes of the key, separated by commas: ${scopes.join(', ')}.`,
      multiple: true,
      delimiter: ',',
      // Not oclif's options: it would compare them with the whole list when that comes from the environment.
      parse: async (input) => requireAll(input, scopes),
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
