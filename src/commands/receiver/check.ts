import { Args, Flags } from '@oclif/core'
import { readAuthorityCertificate } from '../../certificates.ts'
import { ConformanceCommand, conformanceFlags, chosenCases } from '../../cli/conformance/command.ts'
import { receiverUrl, requireSafeHeaders, stateCheck } from '../../cli/conformance/receiver.ts'
import { readCertificate } from '../../cli/files/input.ts'
import { usageError } from '../../cli/errors.ts'
import {
  chosenEvents,
  fromEnvironment,
  jsonFlag,
  knownServiceNameFlag,
  listed,
  placeFlags,
  profileFlag,
  secretFromFileFlag,
} from '../../cli/flags.ts'
import { parseHeader } from '../../cli/listen/target.ts'
import { receiverCases, checkReceiver } from '../../conformance/receiver/check.ts'

export default class ReceiverCheck extends ConformanceCommand {
  static override description =
    'Test a receiver with valid, invalid and forged deliveries.\nEach case that fails says what it means in production. Cases that rest on advice never fail, unless --strict is given.\nExit 0 when no case failed, 3 when one did, 1 when the receiver cannot be reached.'
  static override examples = [
    '<%= config.bin %> receiver check https://localhost:8443/webhooks --secret whsec_…',
    '<%= config.bin %> receiver check 3000/webhooks --only refuses --junit report.xml   # the secret in TABWIRE_SECRET',
  ]
  static override args = {
    url: Args.string({
      description: 'The receiver: https:, or http: on this machine.',
      required: true,
    }),
  }
  static override baseFlags = { ...jsonFlag, ...placeFlags, ...profileFlag }
  static override flags = fromEnvironment({
    secret: Flags.string({
      description: 'The secret that the receiver verifies with: whsec_…',
      required: true,
    }),
    'secret-file': secretFromFileFlag('the secret that the receiver verifies with'),
    ...conformanceFlags,
    'add-header': Flags.string({
      char: 'H',
      aliases: ['header'],
      description: "Header to add to each request: 'Name: value'.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    cacert: Flags.string({
      description: "PEM file of an authority to trust for the receiver's certificate, beside the local one.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    insecure: Flags.boolean({
      description: "Do not check the receiver's certificate. Its variable is TABWIRE_RECEIVER_INSECURE.",
      env: 'TABWIRE_RECEIVER_INSECURE',
    }),
    events: Flags.string({
      description: 'Event types that the receiver is registered for, separated by commas; all by default.',
      multiple: true,
      delimiter: ',',
    }),
    tolerance: Flags.integer({
      description: "The receiver's tolerance: how many seconds t may differ from its time.",
      min: 2,
      default: 300,
    }),
    'service-name': knownServiceNameFlag(),
    'state-url': Flags.string({
      description:
        'Where the receiver shows its state of a check, read after many orders and duplicates. {external_check_id} and {check_id} are filled in.',
    }),
    'state-header': Flags.string({
      description: "Header to send to --state-url: 'Name: value'.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    seed: Flags.integer({
      description: 'Seed for the deliveries and their orders at --state-url.',
      default: 1,
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ReceiverCheck)
    const url = receiverUrl(args.url)
    const headers = listed(flags['add-header'] ?? []).map((line) => parseHeader(line))
    const serviceName = await this.serviceName({ ...flags, cacert: undefined })
    requireSafeHeaders(headers, serviceName)
    if (flags.secret.trim() === '') throw usageError('The secret is empty. Pass --secret.')
    const cases = chosenCases(receiverCases, flags)
    const events = chosenEvents(flags.events ?? ['all'])
    const local = await readAuthorityCertificate(flags['data-dir'])
    const given = await Promise.all(listed(flags.cacert ?? []).map(readCertificate))
    const ca = [...given, ...(local === undefined ? [] : [local])]
    const { secret, tolerance, insecure, strict } = flags
    const state = stateCheck(flags, { ca, insecure })
    const settings = {
      url,
      headers,
      ca,
      insecure,
      secret,
      tolerance,
      serviceName,
      events,
      strict,
      cases,
      state,
    }
    await this.report(flags, (tell, signal) =>
      checkReceiver({
        ...settings,
        signal,
        begin: (one, index = 0, total = 0) =>
          tell(
            one === undefined ? 'a plain delivery first' : `${index + 1} of ${total}  ${one.group}/${one.id}`,
          ),
      }),
    )
  }
}
