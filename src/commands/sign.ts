import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { usageError } from '../cli/errors.ts'
import { givenSecret, SECRET_REQUIRED } from '../cli/files/secrets.ts'
import {
  fromEnvironment,
  jsonFlag,
  knownServiceNameFlag,
  placeFlags,
  profileFlag,
  secretFromFileFlag,
  timeFlag,
  httpUrlFlag,
} from '../cli/flags.ts'
import { readInput } from '../cli/files/input.ts'
import { localAuthorityFile } from '../cli/running-service.ts'
import { curlCommand } from '../model/text/shell-command.ts'
import { signatureHeader } from '../model/text/service-name.ts'
import { sign } from '../signature/index.ts'

export default class Sign extends BaseCommand {
  static override description =
    'Sign a body, offline.\nPrints the value of the signature header, or a curl command that sends the signed body.'
  static override examples = [
    '<%= config.bin %> sign --secret whsec_… --body delivery.json',
    '<%= config.bin %> sign --secret-file webhook.secret --body delivery.json --curl https://localhost:8443/webhooks | sh',
  ]
  static override baseFlags = { ...jsonFlag, ...placeFlags, ...profileFlag }
  static override flags = fromEnvironment({
    secret: Flags.string({ description: `Signing secret of the endpoint (whsec_…). ${SECRET_REQUIRED}` }),
    'secret-file': secretFromFileFlag("the endpoint's signing secret"),
    body: Flags.string({
      description: 'Body to sign: a file, or - for standard input.',
      default: '-',
    }),
    timestamp: timeFlag({
      description: 'Time of the signature, in Unix seconds or ISO 8601 (default: now).',
    }),
    curl: httpUrlFlag({ description: 'Print a curl command that sends the signed body to this URL.' }),
    'service-name': knownServiceNameFlag(),
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(Sign)
    const secret = givenSecret(flags.secret)
    const payload = await readInput(flags.body)
    const timestamp = Math.floor((flags.timestamp ?? new Date()).getTime() / 1000)
    if (timestamp < 0) throw usageError('--timestamp must not be before 1970.')
    const value = sign({ payload, secret, timestamp })
    const { curl } = flags
    if (curl === undefined && !this.wantsJson) return this.write(`${value}\n`)
    const name = signatureHeader(await this.serviceName(flags))
    const report = { header: name, value, ...(curl === undefined ? {} : { url: curl }) }
    if (curl === undefined || this.wantsJson) return this.print(report, () => value)
    const cacert = localAuthorityFile(curl, flags['data-dir'])
    // Not wrapped, so that it can be copied.
    this.write(`${curlCommand(curl, `${name}: ${value}`, payload, { cacert, fails: true })}\n`)
  }
}
