import { Flags } from '@oclif/core'
import { openEnvFile } from '../../cli/files/env-file.ts'
import { chosenEvents, envFileFlag, fromEnvironment, httpUrlArg } from '../../cli/flags.ts'
import { renderEndpoint } from '../../cli/render/endpoint.ts'
import { openSecretFile } from '../../cli/files/secrets.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { suggestion } from '../../cli/suggestion.ts'
import { eventTypes } from '../../model/event.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'

export default class EndpointsCreate extends ServiceCommand {
  static override description = 'Register a webhook endpoint.\nThe signing secret is shown only once.'
  static override examples = [
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks --events check.created,check.updated',
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks --events all --secret-file .secret',
  ]
  static override typedAs = typedAs({ url: 'URL', event_types: '--events' })
  static override args = {
    url: httpUrlArg({ ignoreStdin: true, description: 'HTTPS URL of the receiver.', required: true }),
  }
  static override flags = fromEnvironment({
    events: Flags.string({
      description: `Event types, separated by commas, or all: ${eventTypes.join(', ')}.`,
      required: true,
      multiple: true,
      delimiter: ',',
    }),
    'secret-file': Flags.string({
      description: 'Write the secret to this file, readable only by you, instead of printing it.',
    }),
    'env-file': envFileFlag,
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EndpointsCreate)
    const event_types = chosenEvents(flags.events)
    const client = await this.connect(flags)
    const secretFile = await openIf(flags['secret-file'], openSecretFile)
    const envFile = await openIf(flags['env-file'], openEnvFile)
    try {
      const body = { url: args.url, event_types }
      const { signing_secret, ...endpoint } = await client.endpoints.create(body)
      await secretFile?.write(signing_secret)
      const variables = { TABWIRE_ENDPOINT_ID: endpoint.id, TABWIRE_SIGNING_SECRET: signing_secret }
      const tightened = await envFile?.write(variables)
      if (tightened !== undefined) this.say(tightened)
      this.tell(endpoint, signing_secret, flags['secret-file'] ?? flags['env-file'])
    } finally {
      await secretFile?.close()
    }
  }

  private tell(endpoint: WebhookEndpointView, signing_secret: string, file: string | undefined): void {
    const told = file === undefined ? { ...endpoint, signing_secret } : endpoint
    this.print(
      told,
      () => `${renderEndpoint(endpoint)}${file === undefined ? `\nsecret    ${signing_secret}` : ''}`,
    )
    this.say(
      file === undefined ? 'Store the secret now: it is not shown again.' : `The secret is in ${file}.`,
    )
    this.say(`Next: ${suggestion('ping', [endpoint.id])}`)
  }
}

/** Files are opened before there is a secret: one that cannot be written is found out before anything is registered. */
async function openIf<T>(
  file: string | undefined,
  open: (file: string) => Promise<T>,
): Promise<T | undefined> {
  return file === undefined ? undefined : open(file)
}
