import { Flags } from '@oclif/core'
import { createAuthority, openAuthority } from '../../certificates.ts'
import { ConformanceCommand, conformanceFlags, chosenCases } from '../../cli/conformance/command.ts'
import { readProfile } from '../../cli/conformance/profile.ts'
import { contractProfileOf, isProfileName } from '../../cli/config/profiles.ts'
import { CommandError, exitCodes, usageError } from '../../cli/errors.ts'
import {
  apiKeyFlag,
  fromEnvironment,
  placeFlags,
  secretFromFileFlag,
  serviceNameFlag,
  httpsUrlFlag,
  httpUrlFlag,
} from '../../cli/flags.ts'
import { readInput } from '../../cli/files/input.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'
import {
  checkContract,
  UnusableTarget,
  type ContractCheck as Check,
} from '../../conformance/contract/check.ts'
import { contractCases } from '../../conformance/contract/run.ts'
import { DEFAULT_SERVICE_NAME } from '../../model/text/service-name.ts'
import { startSimulator } from '../../simulator.ts'

type Settings = Omit<Check, 'tell' | 'signal'>

export default class ContractCheck extends ConformanceCommand {
  static override description =
    'Test an implementation against the specification.\nWithout --base-url, a fresh Tabwire service in memory is tested. Only sentences of the specification are judged: exit 3 when one is broken, 4 when the key is refused, 1 when nothing usable answers.\nThe test pushes checks and registers endpoints; where a clock can be moved, it is moved by days, unless with --skip retries.'
  static override examples = [
    '<%= config.bin %> contract check',
    '<%= config.bin %> contract check --base-url https://staging.example.com/v1 --api-key KEY --receiver-url https://tunnel.example.com --receiver-port 8443',
    '<%= config.bin %> contract check --base-url http://127.0.0.1:4100/v1 --api-key KEY --order-by revision --junit contract.xml',
    '<%= config.bin %> contract check --base-url https://staging.example.com/v1 --profile staging.json',
  ]
  static override flags = fromEnvironment({
    'base-url': httpUrlFlag({ description: 'The implementation, with its version segment /v1.' }),
    'api-key': apiKeyFlag({ description: 'A key with all scopes there.', dependsOn: ['base-url'] }),
    'api-key-file': secretFromFileFlag('that key'),
    'read-key': apiKeyFlag({
      description: 'A key without write scope there; a Tabwire service is asked for one.',
      dependsOn: ['base-url'],
    }),
    'read-key-file': secretFromFileFlag('that key'),
    'order-by': Flags.string({ description: 'The field of a push that orders updates: judges ordering.' }),
    profile: Flags.string({
      description:
        'Profile of tabwire.config.json, or a JSON file with the choices of a deployment: names, paths, keys, claims, clock.',
    }),
    cacert: Flags.string({ description: "PEM file of the authority of the implementation's certificate." }),
    'receiver-url': httpsUrlFlag({
      description: "HTTPS URL, such as a tunnel's, that leads to the receiver of this test.",
    }),
    'receiver-port': Flags.integer({
      description: 'Port of that receiver on 127.0.0.1, with HTTPS; by default any free one.',
      min: 0,
      max: 65_535,
    }),
    wait: Flags.integer({
      description: 'How long a delivery is waited for, in seconds.',
      min: 1,
      default: 10,
    }),
    slow: Flags.boolean({ description: 'Also run the cases that take longer than ten seconds.' }),
    'service-name': Flags.string({
      description: 'The name in the signature header, X-<name>-Signature; by default any.',
      parse: serviceNameFlag.parse,
    }),
    ...conformanceFlags,
    ...placeFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ContractCheck)
    const cases = chosenCases(contractCases, { only: flags.only, skip: flags.skip })
    const common = {
      cases,
      serviceName: flags['service-name'],
      orderBy: flags['order-by'],
      receiverUrl: flags['receiver-url'],
      receiverPort: flags['receiver-port'],
      strict: flags.strict,
      slow: flags.slow,
      timeouts: { eventMs: flags.wait * 1000 },
    }
    const baseUrl = flags['base-url']
    if (baseUrl === undefined && flags.profile !== undefined)
      throw usageError('--profile FILE also needs --base-url: the URL of the implementation to test.')
    if (baseUrl === undefined) return this.checkOwnService(flags, common)
    await prepareDataDirectory(flags['data-dir'])
    const authority = await openAuthority(flags['data-dir'])
    const tls = await authority.issue(['localhost', '127.0.0.1'])
    const ca = flags.cacert === undefined ? undefined : (await readInput(flags.cacert)).toString()
    const choices = await choicesOf(flags)
    const loaded = choices === undefined ? {} : await readProfile(choices)
    const [apiKey, readKey] = [flags['api-key'], flags['read-key']]
    return this.check(flags, { ...common, ...loaded, baseUrl, apiKey, readKey, ca, tls })
  }

  private async checkOwnService(
    flags: { tap: boolean; junit: string | undefined },
    common: Omit<Settings, 'baseUrl' | 'tls'>,
  ): Promise<void> {
    const authority = await createAuthority()
    const { serviceName = DEFAULT_SERVICE_NAME, orderBy } = common
    const simulator = await startSimulator({
      port: 0,
      cacert: [authority.certificatePem],
      serviceName,
      orderBy,
    })
    const { baseUrl, apiKey } = simulator
    const tls = await authority.issue(['localhost', '127.0.0.1'])
    try {
      await this.check(flags, { ...common, serviceName, orderBy, baseUrl, apiKey, tls, isReachable: true })
    } finally {
      await simulator.close()
    }
  }

  /** @throws CommandError with the exit code for a key that is refused, or an address that is not the service's. */
  private async check(flags: { tap: boolean; junit: string | undefined }, settings: Settings): Promise<void> {
    let left = 0
    try {
      await this.report(flags, async (tell, signal) => {
        const outcome = await checkContract({ ...settings, tell, signal })
        left = outcome.left
        return outcome.report
      })
    } catch (error) {
      if (!(error instanceof UnusableTarget)) throw error
      throw error.kind === 'key'
        ? new CommandError('unauthorized', error.message, exitCodes.keyRefused)
        : new CommandError('unreachable', error.message)
    }
    if (left > 0)
      this.say(
        `Webhook endpoints left registered there: ${left}. Name their DELETE path with --profile (paths.delete_endpoint).`,
      )
  }
}

/** Returns the file that describes the deployment: named by --profile itself, or by that profile of the settings file. */
async function choicesOf({ profile, config }: Record<'profile' | 'config', string | undefined>) {
  return profile !== undefined && isProfileName(profile) ? contractProfileOf(profile, config) : profile
}
