import { Args, Flags } from '@oclif/core'
import { requireSecret } from '../../cli/files/secrets.ts'
import { fromEnvironment, knownServiceNameFlag, secretFromFileFlag } from '../../cli/flags.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import { localAuthorityFile } from '../../cli/running-service.ts'
import { curlCommand, httpRequest, PLACEHOLDER } from '../../model/text/shell-command.ts'
import { deliveryHeaders } from '../../model/text/service-name.ts'
import { sign } from '../../signature/index.ts'

export default class DeliveriesExport extends ServiceCommand {
  static override description =
    'Print a delivery as a curl command or HTTP request.\nThe body has the exact bytes that were sent. With --secret, the signature is new.'
  static override examples = [
    '<%= config.bin %> deliveries export dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --secret whsec_…',
    '<%= config.bin %> deliveries export dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --secret whsec_… | sh   # sends it again',
    '<%= config.bin %> deliveries export dlv_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --as http > delivery.http',
  ]
  static override args = {
    delivery: Args.string({ ignoreStdin: true, description: 'Id of the delivery.', required: true }),
  }
  static override flags = fromEnvironment({
    as: Flags.string({
      description: 'Output: a curl command, or an HTTP request.',
      options: ['curl', 'http'],
      default: 'curl',
    }),
    secret: Flags.string({
      description: 'Signing secret of the endpoint; without it, the signature is a placeholder.',
    }),
    'secret-file': secretFromFileFlag("the endpoint's signing secret"),
    'service-name': knownServiceNameFlag(),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DeliveriesExport)
    requireSecret(flags.secret)
    const client = await this.connect(flags)
    const delivery = await client.deliveries.get(args.delivery)
    const { body } = await client.events.get(delivery.event_id)
    // Deliveries of earlier versions have no endpoint_url.
    const url = delivery.endpoint_url ?? (await client.endpoints.get(delivery.endpoint_id)).url
    const signature = signatureOf(body, flags.secret)
    if (signature === PLACEHOLDER)
      this.say(
        `The signature is the placeholder ${PLACEHOLDER}. To sign, pass --secret with the signing secret of the endpoint.`,
      )
    const name = await this.serviceName({ ...flags, url: (await this.locate(flags)).url })
    const headers = deliveryHeaders(name, signature)
    // Both forms begin with the type.
    const { 'Content-Type': _type, ...others } = headers
    const lines = Object.entries(others).map(([header, value]) => `${header}: ${value}`)
    if (this.wantsJson) return this.print({ method: 'POST', url, headers, body }, () => body)
    // Without the line's end of `print`, which would become part of the body.
    if (flags.as === 'http') return this.write(httpRequest(url, lines, body))
    const cacert = localAuthorityFile(url, flags['data-dir'])
    // Not wrapped, so that it can be copied.
    this.write(`${curlCommand(url, lines, Buffer.from(body), { cacert })}\n`)
  }
}

function signatureOf(payload: string, secret: string | undefined): string {
  if (secret === undefined) return PLACEHOLDER
  return sign({ payload, secret, timestamp: Math.floor(Date.now() / 1000) })
}
