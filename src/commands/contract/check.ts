import { Flags } from '@oclif/core'
import { createAuthority, openAuthority } from '../../certificates.ts'
import { ConformanceCommand } from '../../cli/conformance/conformance-command.ts'
import { checkContract, type ContractTarget } from '../../cli/conformance/contract-check.ts'
import { conformanceFlags } from '../../cli/conformance/flags.ts'
import { chosenCases } from '../../cli/conformance/selection.ts'
import { CommandError, exitCodes } from '../../cli/failure.ts'
import { fromEnvironment, placeFlags, serviceNameFlag } from '../../cli/flags.ts'
import { readInput } from '../../cli/input.ts'
import { contractCases } from '../../conformance/contract/run.ts'
import { startSimulator } from '../../simulator.ts'

export default class ContractCheck extends ConformanceCommand {
  static override description =
    'Check whether an implementation keeps the specification.\nWithout --base-url, a fresh service of our own is checked, in memory. Exit 3 when a rule is broken.\nPushes checks and registers endpoints; the clock of a simulator is moved on by days, unless with --skip retries.'
  static override examples = [
    '<%= config.bin %> contract check',
    '<%= config.bin %> contract check --base-url https://staging.example.com/v1 --api-key KEY --receiver-url https://tunnel.example.com --receiver-port 8443',
    '<%= config.bin %> contract check --base-url http://127.0.0.1:4100/v1 --api-key KEY --skip retries --junit contract.xml',
  ]
  static override flags = fromEnvironment({
    'base-url': Flags.string({ description: 'The implementation, with its version segment /v1.' }),
    'api-key': Flags.string({ description: 'A key with all scopes there.', dependsOn: ['base-url'] }),
    'read-key': Flags.string({
      description: 'A key without write scope there; a simulator is asked for one.',
      dependsOn: ['base-url'],
    }),
    cacert: Flags.string({ description: "PEM file of the authority of the implementation's certificate." }),
    'receiver-url': Flags.string({
      description: 'HTTPS URL that leads to the receiver of this check, such as that of a tunnel.',
    }),
    'receiver-port': Flags.integer({
      description: 'The port of that receiver on 127.0.0.1, with HTTPS; by default any.',
      min: 0,
      max: 65_535,
    }),
    'service-name': serviceNameFlag,
    ...conformanceFlags,
    ...placeFlags,
  })

  async run(): Promise<void> {
    const { flags } = await this.parse(ContractCheck)
    const cases = chosenCases(contractCases, { only: flags.only, skip: flags.skip })
    const baseUrl = flags['base-url']
    for (const url of [baseUrl, flags['receiver-url']]) requireUrl(url)
    const receiver = { receiverUrl: flags['receiver-url'], receiverPort: flags['receiver-port'] }
    const common = { serviceName: flags['service-name'], ...receiver }
    const check = (target: ContractTarget) =>
      this.report(flags, (tell, signal) => checkContract(target, cases, tell, signal))
    if (baseUrl === undefined) return this.checkOurOwn(check, common)
    const authority = await openAuthority(flags['data-dir'])
    const tls = await authority.issue(['localhost', '127.0.0.1'])
    const ca = flags.cacert === undefined ? undefined : (await readInput(flags.cacert)).toString()
    await check({ ...common, baseUrl, apiKey: flags['api-key'], limitedKey: flags['read-key'], ca, tls })
  }

  private async checkOurOwn(
    check: (target: ContractTarget) => Promise<unknown>,
    common: Omit<ContractTarget, 'baseUrl' | 'tls'>,
  ): Promise<void> {
    const authority = await createAuthority()
    const { serviceName } = common
    const simulator = await startSimulator({ port: 0, ca: [authority.certificatePem], serviceName })
    const { baseUrl, apiKey } = simulator
    const tls = await authority.issue(['localhost', '127.0.0.1'])
    try {
      await check({ ...common, baseUrl, apiKey, tls })
    } finally {
      await simulator.close()
    }
  }
}

function requireUrl(url: string | undefined): void {
  if (url === undefined || /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) return
  throw new CommandError('usage', `${url} is no http or https URL.`, exitCodes.usage)
}
