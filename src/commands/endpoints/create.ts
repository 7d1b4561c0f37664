import { Args, Flags } from '@oclif/core'
import { fromEnvironment, listed } from '../../cli/flags.ts'
import { renderEndpoint } from '../../cli/render/endpoint.ts'
import { openSecretFile } from '../../cli/secret-file.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { eventTypes, type EventType } from '../../model/event.ts'

export default class EndpointsCreate extends ServiceCommand {
  static override description =
    'Register a webhook endpoint.\nIts signing secret is shown this once and never again.'
  static override examples = [
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks --events check.created,check.updated',
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks --events all --secret-file .secret',
  ]
  static override args = {
    url: Args.string({ ignoreStdin: true, description: 'Where deliveries go; HTTPS.', required: true }),
  }
  static override flags = fromEnvironment({
    events: Flags.string({
      description: `Event types, separated by commas, or all: ${eventTypes.join(', ')}.`,
      required: true,
      multiple: true,
      delimiter: ',',
    }),
    'secret-file': Flags.string({
      description: 'Write the secret to this file, readable by you alone, and not here.',
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EndpointsCreate)
    const client = await this.connect(flags)
    const events = listed(flags.events)
    const event_types = events.includes('all') ? [...eventTypes] : (events as EventType[])
    const file = flags['secret-file']
    const secretFile = file === undefined ? undefined : await openSecretFile(file)
    const { signing_secret, ...endpoint } = await client.endpoints.create({ url: args.url, event_types })
    await secretFile?.write(signing_secret)
    await secretFile?.close()
    const told = file === undefined ? { ...endpoint, signing_secret } : endpoint
    this.print(
      told,
      () => `${renderEndpoint(endpoint)}${file === undefined ? `\nsecret    ${signing_secret}` : ''}`,
    )
    this.say(file === undefined ? 'Keep the secret: it is not shown again.' : `The secret is in ${file}.`)
    this.say(`Next: tabwire ping ${endpoint.id}`)
  }
}
