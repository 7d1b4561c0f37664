import { Flags, type Interfaces } from '@oclif/core'
import { createAuthority, openAuthority } from '../../certificates/authority.ts'
import {
  ConformanceCommand,
  conformanceFlags,
  chosenCases,
  type About,
  type ReportFlags,
} from '../../cli/conformance/command.ts'
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
import { readCertificate } from '../../cli/files/input.ts'
import { typedValue } from '../../cli/files/secrets.ts'
import { requireNoPassword } from '../../cli/service-command.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'
import {
  checkContract,
  UnusableTarget,
  type ContractCheck as Check,
} from '../../conformance/contract/check.ts'
import { contractCases } from '../../conformance/contract/run.ts'
import { isCheckField } from '../../model/revision.ts'
import { readOrderBy } from '../../model/simulator/settings.ts'
import { DEFAULT_SERVICE_NAME, signatureHeader } from '../../model/text/service-name.ts'
import { startSimulator } from '../../simulator.ts'

type Settings = Omit<Check, 'tell' | 'signal'>
/** Settings that do not depend on the service. */
type Common = Omit<Settings, 'baseUrl' | 'tls'>
type CheckFlags = Interfaces.InferredFlags<typeof ContractCheck.flags>

/** Seconds. */
const DEFAULT_WAIT = 10

export default class ContractCheck extends ConformanceCommand {
  static override description =
    'Test an implementation against the specification.\nWithout --base-url, tests a new Tabwire service in memory. Exit 3 when a rule of the specification is broken, 4 when the key is refused. Exit 1 when no usable service answers, or no case was checked.\nThe test pushes checks, registers endpoints and advances the clock by days where it can. --skip retries does not advance it.'
  static override examples = [
    '<%= config.bin %> contract check',
    '<%= config.bin %> contract check --base-url https://staging.example.com/v1 --api-key KEY --receiver-url https://tunnel.example.com --receiver-port 8443',
    '<%= config.bin %> contract check --base-url http://127.0.0.1:4100/v1 --api-key KEY --order-by revision --junit contract.xml',
    '<%= config.bin %> contract check --base-url https://staging.example.com/v1 --profile staging.json',
  ]
  static override flags = fromEnvironment({
    'base-url': httpUrlFlag({ description: 'Base URL of the implementation, including /v1.' }),
    'api-key': apiKeyFlag({ description: 'API key of the implementation, with all scopes.' }),
    'api-key-file': secretFromFileFlag('the API key'),
    'read-key': apiKeyFlag({
      description: 'API key without write scope (default: created, if the service is Tabwire).',
      dependsOn: ['base-url'],
    }),
    'read-key-file': secretFromFileFlag('the key without write scope'),
    'order-by': Flags.string({
      description: 'Push field that orders updates; enables the cases about order.',
    }),
    profile: Flags.string({
      description:
        'Profile of tabwire.config.json, or a JSON file with the names, paths, keys, claims and clock of a deployment.',
    }),
    cacert: Flags.string({ description: "PEM file of the implementation's certificate authority." }),
    'receiver-url': httpsUrlFlag({
      description: 'Public HTTPS URL of the receiver of this test, such as a tunnel.',
    }),
    'receiver-port': Flags.integer({
      description: 'HTTPS port of this receiver on 127.0.0.1 (default: any free port).',
      min: 0,
      max: 65_535,
    }),
    wait: Flags.integer({
      description:
        'Seconds to wait for a delivery, 1 to 86,400; above 10 also for a response and for a GET to show a push.',
      min: 1,
      max: 86_400,
      default: DEFAULT_WAIT,
    }),
    slow: Flags.boolean({ description: 'Also run the cases that take longer than ten seconds.' }),
    'service-name': Flags.string({
      description: 'Name in the signature header, X-<name>-Signature (default: any).',
      parse: serviceNameFlag.parse,
    }),
    ...conformanceFlags,
    ...placeFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ContractCheck)
    const cases = chosenCases(contractCases, flags)
    requireOrderBy(flags)
    const common = {
      cases,
      serviceName: flags['service-name'],
      orderBy: flags['order-by'],
      receiverUrl: flags['receiver-url'],
      receiverPort: flags['receiver-port'],
      strict: flags.strict,
      slow: flags.slow,
      timeouts: {
        eventMs: flags.wait * 1000,
        // A service may answer a ping after its receiver did.
        ...(flags.wait > DEFAULT_WAIT && { settleMs: flags.wait * 1000, answerMs: flags.wait * 1000 }),
      },
    }
    const baseUrl = flags['base-url']
    if (baseUrl !== undefined) return this.checkDeployment(baseUrl, flags, common)
    const typed = ['api-key', 'api-key-file', 'cacert', 'receiver-url'].find(
      (name) => typedValue(this.argv, name) !== undefined,
    )
    const given = typed ?? (flags.profile === undefined ? undefined : 'profile FILE')
    if (given === undefined) return this.checkOwnService(flags, common)
    throw usageError(`--${given} also needs --base-url: the URL of the implementation to test.`)
  }

  private async checkDeployment(baseUrl: string, flags: CheckFlags, common: Common): Promise<void> {
    requireBase('--base-url', baseUrl)
    if (common.receiverUrl !== undefined) requireBase('--receiver-url', common.receiverUrl)
    await prepareDataDirectory(flags['data-dir'])
    const authority = await openAuthority(flags['data-dir'])
    const tls = await authority.issue(['localhost', '127.0.0.1'])
    const ca = flags.cacert === undefined ? undefined : await readCertificate(flags.cacert)
    const choices = await choicesOf(flags)
    const loaded: Partial<Awaited<ReturnType<typeof readProfile>>> =
      choices === undefined ? {} : await readProfile(choices)
    const [apiKey, readKey] = [flags['api-key'], flags['read-key']]
    const hasKeys = Object.values(loaded.keys ?? {}).some((key) => key !== undefined)
    const about = [
      ['service', this.nameOf(flags)],
      ['signature', headerOf(common.serviceName ?? loaded.profile?.service_name)],
      ['API key', this.keySource(flags, hasKeys ? choices : undefined)],
    ] as const
    return this.check(flags, { ...common, ...loaded, baseUrl, apiKey, readKey, ca, tls }, about)
  }

  private async checkOwnService(flags: ReportFlags, common: Common): Promise<void> {
    const authority = await createAuthority()
    const { serviceName = DEFAULT_SERVICE_NAME, orderBy } = common
    const simulator = await startSimulator({
      port: 0,
      cacert: [authority.certificatePem],
      serviceName,
      orderBy,
    })
    const { baseUrl, apiKey } = simulator
    try {
      const tls = await authority.issue(['localhost', '127.0.0.1'])
      // The environment may name the receiver's URL for a deployment. This service reaches the receiver itself.
      const own = { ...common, receiverUrl: undefined }
      const settings = { ...own, serviceName, orderBy, baseUrl, apiKey, tls, isReachable: true }
      await this.check(flags, settings, [
        ['service', 'a new Tabwire service in memory'],
        ['signature', headerOf(serviceName)],
        ['API key', 'of that service'],
      ])
    } finally {
      await simulator.close()
    }
  }

  private nameOf({ profile }: { profile: string | undefined }): string {
    if (profile === undefined) return `given by ${this.sourceOf('base-url')}`
    return isProfileName(profile) ? `profile ${profile}` : `described by ${profile}`
  }

  /** Names the source of the key, and never the key. */
  private keySource(
    flags: { profile: string | undefined; 'api-key': string | undefined },
    withKeys: string | undefined,
  ): string {
    const { profile } = flags
    const isTyped = ['api-key', 'api-key-file'].some((name) => typedValue(this.argv, name) !== undefined)
    const own = profile !== undefined && isProfileName(profile) && !isTyped
    const given =
      flags['api-key'] === undefined ? [] : [own ? `profile ${profile}` : this.sourceOf('api-key')]
    const sources = [...given, ...(withKeys === undefined ? [] : [`keys of ${withKeys}`])]
    return sources.length === 0 ? 'none' : sources.join('; ')
  }

  /** @throws CommandError with the exit code for a key that is refused, or an address that is not the service's. */
  private async check(flags: ReportFlags, settings: Settings, about: About): Promise<void> {
    let left = 0
    try {
      await this.report(
        flags,
        async (tell, signal) => {
          const outcome = await checkContract({ ...settings, tell, signal })
          left = outcome.left
          return outcome.report
        },
        about,
      )
    } catch (error) {
      if (!(error instanceof UnusableTarget)) throw error
      throw error.kind === 'key'
        ? new CommandError('unauthorized', error.message, exitCodes.keyRefused)
        : new CommandError('unreachable', error.message)
    }
    if (left > 0)
      this.say(
        `Webhook endpoints still registered there: ${left}. Delete them, or set paths.delete_endpoint in --profile for the next run.`,
      )
  }
}

/** @throws CommandError (usage) for a URL that paths cannot follow, or that reports must not contain. */
function requireBase(flag: string, url: string): void {
  if (/[?#]/.test(url))
    throw usageError(
      `${flag} must end with a path, without a query or a fragment, got ${JSON.stringify(url)}.`,
    )
  requireNoPassword(flag, url)
}

/** @throws CommandError (usage) for a field that cannot order pushes. Other services may have names of any form, and paths. */
function requireOrderBy({ 'order-by': field, 'base-url': other }: CheckFlags): void {
  if (field === undefined || (other !== undefined && !isCheckField(field))) return
  const { issue } = readOrderBy(field)
  if (issue !== undefined) throw usageError(`--order-by ${issue}.`)
}

function headerOf(serviceName: string | undefined): string {
  return serviceName === undefined ? 'X-<any name>-Signature' : signatureHeader(serviceName)
}

/** Returns the file that describes the deployment: named by --profile itself, or by that profile of the settings file. */
async function choicesOf({ profile, config }: Record<'profile' | 'config', string | undefined>) {
  return profile !== undefined && isProfileName(profile) ? contractProfileOf(profile, config) : profile
}
