import { Args, Flags } from '@oclif/core'
import { readAuthorityCertificate } from '../../certificates/authority.ts'
import { usageError } from '../../cli/errors.ts'
import { ConformanceCommand, conformanceFlags, chosenCases } from '../../cli/conformance/command.ts'
import {
  receiverAuthorities,
  receiverUrl,
  requireSafeHeaders,
  stateCheck,
  stateFlags,
} from '../../cli/conformance/receiver.ts'
import { givenSecret, SECRET_REQUIRED } from '../../cli/files/secrets.ts'
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
import { parseHeaders } from '../../cli/listen/target.ts'
import { isSelected } from '../../conformance/report.ts'
import { control } from '../../conformance/receiver/control.ts'
import { receiverCases, checkReceiver } from '../../conformance/receiver/check.ts'

export default class ReceiverCheck extends ConformanceCommand {
  static override description =
    'Test a receiver with valid, invalid and forged deliveries.\nEach failed case explains its effect in production. Cases based on advice fail only with --strict.\nExit 0 when no case fails, 3 when one fails. Exit 1 when the receiver cannot be reached, its state at --state-url cannot be judged, or no case was checked.'
  static override examples = [
    '<%= config.bin %> receiver check https://localhost:8443/webhooks --secret whsec_…',
    '<%= config.bin %> receiver check 3000/webhooks --only refuses --junit report.xml   # the secret in TABWIRE_SECRET',
  ]
  static override args = {
    url: Args.string({
      description: 'URL of the receiver: https:, or http: on this machine.',
      required: true,
    }),
  }
  static override baseFlags = { ...jsonFlag, ...placeFlags, ...profileFlag }
  static override flags = fromEnvironment({
    secret: Flags.string({
      description: `Signing secret of the receiver (whsec_…). ${SECRET_REQUIRED}`,
    }),
    'secret-file': secretFromFileFlag('the signing secret'),
    ...conformanceFlags,
    'add-header': Flags.string({
      char: 'H',
      aliases: ['header'],
      description: "Header to add to each request: 'Name: value'.",
      multiple: true,
      multipleNonGreedy: true,
    }),
    cacert: Flags.string({
      description: 'PEM file of a further certificate authority to trust.',
      multiple: true,
      multipleNonGreedy: true,
    }),
    insecure: Flags.boolean({
      description: 'Accept any certificate of the receiver. Environment variable: TABWIRE_RECEIVER_INSECURE.',
      env: 'TABWIRE_RECEIVER_INSECURE',
    }),
    events: Flags.string({
      description: 'Event types of the receiver, separated by commas (default: all).',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    tolerance: Flags.integer({
      description: 'Seconds that the receiver allows between t and its clock, at least 2.',
      min: 2,
      default: 300,
    }),
    'service-name': knownServiceNameFlag(),
    ...stateFlags,
    'state-ignore': Flags.string({
      description: 'Field of the state that is not compared, as messages name it: log, items[].note.',
      multiple: true,
      multipleNonGreedy: true,
      dependsOn: ['state-url'],
    }),
    seed: Flags.integer({
      description: 'Random seed of the deliveries for --state-url.',
      default: 1,
    }),
  })

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ReceiverCheck)
    const secret = givenSecret(flags.secret)
    const url = receiverUrl(args.url, 'URL', '--add-header')
    const headers = parseHeaders(flags['add-header'])
    const serviceName = await this.serviceName({ ...flags, cacert: undefined })
    requireSafeHeaders(headers, serviceName)
    const cases = chosenCases(receiverCases, flags)
    const skipped = control.find((one) => !isSelected(one, { skip: listed(flags.skip ?? []) }))
    if (skipped !== undefined)
      throw usageError(
        `--skip cannot skip control/${skipped.id}: the verdicts of all other cases rest on it.`,
      )
    const events = chosenEvents(flags.events ?? ['all'])
    const ca = await receiverAuthorities(await readAuthorityCertificate(flags['data-dir']), flags.cacert)
    const { tolerance, insecure, strict } = flags
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
            one === undefined ? 'a valid delivery first' : `${index + 1} of ${total}  ${one.group}/${one.id}`,
          ),
      }),
    )
  }
}
