import { Flags } from '@oclif/core'
import { allEndpoints, isSameUrl } from '../../cli/endpoint-urls.ts'
import { count } from '../../model/text/count.ts'
import { ApiError, type Client } from '../../client.ts'
import { openEnvFile } from '../../cli/files/env-file.ts'
import { chosenEvents, dotenvFlag, fromEnvironment, httpUrlArg } from '../../cli/flags.ts'
import { CommandError, exitCodes } from '../../cli/errors.ts'
import { renderEndpoint } from '../../cli/render/resources.ts'
import { hasFields, renderForeign } from '../../cli/render/foreign.ts'
import { openSecretFile } from '../../cli/files/secrets.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { idCandidates, secretsIn } from '../../conformance/contract/shape.ts'
import { suggestion } from '../../cli/suggestion.ts'
import { eventTypes, type EventType } from '../../model/event.ts'
import { bareHost, isLoopbackName } from '../../model/url.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'

export default class EndpointsCreate extends ServiceCommand {
  static override description = 'Register a webhook endpoint.\nThe signing secret is shown only once.'
  static override examples = [
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks',
    '<%= config.bin %> endpoints create https://localhost:8443/webhooks --events check.created,check.updated --secret-file .secret',
  ]
  static override typedAs = typedAs({ url: 'URL', event_types: '--events' })
  static override args = {
    url: httpUrlArg({ ignoreStdin: true, description: 'HTTPS URL of the receiver.', required: true }),
  }
  static override flags = fromEnvironment({
    events: Flags.string({
      description: `Event types, separated by commas (default: all): ${eventTypes.join(', ')}.`,
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    'secret-file': Flags.string({
      description:
        'Write the secret to this file, readable only by you, instead of printing it. Environment variable: TABWIRE_NEW_SECRET_FILE.',
      env: 'TABWIRE_NEW_SECRET_FILE',
    }),
    dotenv: dotenvFlag,
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(EndpointsCreate)
    this.url = args.url
    const event_types = chosenEvents(flags.events ?? ['all'])
    const client = await this.connect(flags)
    // The secret's file comes last: it stays open, and an error before the `try` would leave its draft behind.
    const envFile = await openIf(flags.dotenv, openEnvFile)
    const secretFile = await openIf(flags['secret-file'], openSecretFile)
    try {
      const response = await client.endpoints.create({ url: args.url, event_types })
      const { id, secret } = registrationIn(response)
      const file = flags['secret-file'] ?? flags.dotenv
      if (secret === undefined) return this.tellWithoutSecret(response, file)
      const variables = { TABWIRE_ENDPOINT_ID: id ?? '', TABWIRE_SIGNING_SECRET: secret }
      const write = async () => {
        await secretFile?.write(secret)
        return envFile?.write(variables)
      }
      const tightened = await write().catch((error: unknown) => {
        // The secret is shown only once, and would be lost.
        this.tellWhole(response)
        throw error
      })
      if (tightened !== undefined) this.say(tightened)
      this.tell(response, { id, secret, file, isReplaced: secretFile?.isReplaced === true })
      if (id !== undefined) await this.tellOfOthers(client, id, { url: args.url, event_types })
    } finally {
      await secretFile?.close()
    }
  }

  private url = ''

  /** Names commands for plain HTTP. The message of the service names flags of `start`, which this command lacks. */
  protected override async explained(error: Error): Promise<Error> {
    return !this.wantsJson && isPlainHttpRefused(error) ? plainHttpRefused(this.url) : super.explained(error)
  }

  private tell(
    response: RegistrationResponse,
    { id, secret, file, isReplaced }: Registration & { file: string | undefined; isReplaced: boolean },
  ): void {
    const { signing_secret: _secret, ...endpoint } = response
    const isKnown = hasFields(response, 'id', 'url', 'event_types', 'status', 'created_at', 'signing_secret')
    if (isKnown)
      this.print(file === undefined ? response : endpoint, (columns) =>
        renderEndpoint(file === undefined ? response : endpoint, columns),
      )
    else {
      const shown = file === undefined ? response : without(String(secret), response)
      this.print(shown, (columns) =>
        [renderForeign(shown, columns), ...(file === undefined ? [`secret  ${secret}`] : [])].join('\n'),
      )
    }
    this.say(
      file === undefined
        ? 'Store the secret now: it is not shown again.'
        : `The secret is in ${file}${isReplaced ? ', whose earlier content is replaced' : ''}.`,
    )
    if (id !== undefined) this.say(`Next: ${suggestion('ping', [id])}`)
  }

  /** Names other endpoints with this URL that get the same events, since each such event is delivered to it several times. */
  private async tellOfOthers(
    client: Client,
    id: string,
    { url, event_types }: EndpointRequest,
  ): Promise<void> {
    const isAlike = (one: WebhookEndpointView) =>
      one.id !== id &&
      one.status === 'enabled' &&
      isSameUrl(one.url, url) &&
      one.event_types.some((type) => event_types.includes(type))
    const others = await allEndpoints(client)
      .then((all) => all.filter(isAlike))
      // The endpoint is registered, whatever another service answers here.
      .catch(() => [])
    if (others.length === 0) return
    const what = count(others.length, 'other endpoint has', 'other endpoints have')
    const removals = others.map((one) => `\n  ${suggestion('endpoints delete', [one.id])}`)
    this.say(
      `${what} this URL, with another secret, and some of the same events. To remove:${removals.join('')}`,
    )
  }

  /** Prints the response before an error. With --json, standard output gets the error alone. */
  private tellWhole(response: RegistrationResponse): void {
    if (this.wantsJson) this.sayResult(response, () => '')
    else this.print(response, (columns) => renderForeign(response, columns))
  }

  /** @throws CommandError when the secret was to be written to a file. */
  private tellWithoutSecret(response: RegistrationResponse, file: string | undefined): void {
    if (file === undefined) return this.print(response, (columns) => renderForeign(response, columns))
    this.tellWhole(response)
    throw new CommandError(
      'no_secret',
      `The endpoint is registered, but the response has no signing secret (whsec_…), so ${file} was not written. The response is ${this.wantsJson ? 'on standard error' : 'printed above'}.`,
    )
  }
}

/** The registration that was asked for. */
interface EndpointRequest {
  url: string
  event_types: readonly EventType[]
}

type RegistrationResponse = WebhookEndpointView & { signing_secret: string }

/** Id and secret of a registration; `undefined` where the response of another service does not show them. */
interface Registration {
  id: string | undefined
  secret: string | undefined
}

/** Finds the id and the secret by their shape: the specification does not name their fields. */
function registrationIn(response: RegistrationResponse): Registration {
  if (hasFields(response, 'id', 'signing_secret')) return { id: response.id, secret: response.signing_secret }
  const [id] = idCandidates({ json: response, headers: {}, text: '' })
  const [secret] = secretsIn(response)
  return { id, secret }
}

function isPlainHttpRefused(error: Error): boolean {
  const issues = error instanceof ApiError && error.is('validation_failed') ? error.body.issues : []
  return issues.some(({ path, message }) => path === 'url' && /\ballow-http-loopback\b/.test(message))
}

function plainHttpRefused(url: string): CommandError {
  const host = bareHost(new URL(url))
  const start = isLoopbackName(host)
    ? suggestion('start', [], { 'allow-http-loopback': true })
    : suggestion('start', [], { 'allow-http-host': host })
  return new CommandError(
    'validation_failed',
    `URL must be an https: URL, got ${JSON.stringify(url)}. For plain HTTP, run: ${suggestion('listen', [], { 'forward-to': url })}. Or restart the service with: ${start}`,
    exitCodes.usage,
  )
}

function without(secret: string, response: object): object {
  return JSON.parse(JSON.stringify(response).replaceAll(JSON.stringify(secret).slice(1, -1), '…')) as object
}

/** Files are opened before there is a secret: one that cannot be written is found out before anything is registered. */
async function openIf<T>(
  file: string | undefined,
  open: (file: string) => Promise<T>,
): Promise<T | undefined> {
  return file === undefined ? undefined : open(file)
}
