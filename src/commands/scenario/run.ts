import { Args, Flags } from '@oclif/core'
import { openAuthority, readAuthorityCertificate } from '../../certificates/authority.ts'
import { CommandError, exitCodes } from '../../cli/errors.ts'
import { fromEnvironment, fetchDeliveriesFlag, secretFromFileFlag } from '../../cli/flags.ts'
import { expandFiles } from '../../cli/files/input.ts'
import { renderScenarioEnd, renderStep } from '../../cli/render/steps.ts'
import { endpointIdOf } from '../../cli/endpoint-urls.ts'
import { forwarding } from '../../cli/listen/endpoints.ts'
import {
  receiverAuthorities,
  requireUsableSecret,
  stateFlags,
  stateCheck,
} from '../../cli/conformance/receiver.ts'
import type { Watched } from '../../cli/scenario/expect.ts'
import { playScenario, type PlayOptions, type ScenarioReport } from '../../cli/scenario/play.ts'
import { readScenario } from '../../cli/scenario/files.ts'
import { judgeBy, learnBy } from '../../cli/scenario/receiver.ts'
import type { Scenario } from '../../cli/scenario/schema.ts'
import { scenarioFile } from '../../cli/scenario/shipped.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import type { Client } from '../../client.ts'
import { createAgreement } from '../../conformance/receiver/agreement.ts'
import { NotJudged } from '../../conformance/receiver/convergence/state-view.ts'
import { eventTypes } from '../../model/event.ts'
import { ORDER_BY } from '../../model/revision.ts'

export default class ScenarioRun extends ServiceCommand {
  static override description =
    'Run end-to-end scenarios against the service.\nEach run uses new checks, so it can be repeated. It stops at the first step that fails.\nWith --state-url, also compares the view of your receiver where a scenario expects it to agree. Each step then advances the clock by a second.\nExit 3 when an expectation is not met, 1 when the service unexpectedly refuses a step.'
  static override examples = [
    '<%= config.bin %> scenario run dinner-for-four',
    '<%= config.bin %> scenario run my-scenario.json void-after-claim --forward-to localhost:3000/webhooks',
    '<%= config.bin %> scenario run walk-out --endpoint we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --json',
  ]
  static override strict = false
  static override args = {
    scenario: Args.string({
      ignoreStdin: true,
      description: 'File, or name of a built-in scenario; several run in order.',
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    endpoint: Flags.string({
      description: 'Check the expected deliveries at this endpoint, for its event types.',
      exclusive: ['forward-to'],
    }),
    'forward-to': Flags.string({
      description: 'Forward deliveries to this URL, like `listen`, and check them.',
    }),
    relay: fetchDeliveriesFlag,
    secret: Flags.string({
      description: 'Signing secret of the receiver at --forward-to (default: the secret of `listen`).',
    }),
    'secret-file': secretFromFileFlag('the signing secret'),
    ...stateFlags,
    timeout: Flags.integer({
      description: 'Seconds to wait for each delivery, 1 to 86,400.',
      min: 1,
      max: 86_400,
      default: 10,
    }),
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(ScenarioRun)
    const { secret } = flags
    // Without --forward-to, the variable may hold the secret of another program.
    if (secret !== undefined && flags['forward-to'] !== undefined) requireUsableSecret(secret)
    const scenarios: Scenario[] = []
    for (const word of await expandFiles(argv as string[]))
      scenarios.push(await readScenario(await scenarioFile(word)))
    const ca = await receiverAuthorities(await readAuthorityCertificate(flags['data-dir']))
    const state = stateCheck({ ...flags, seed: 1 }, { ca, insecure: false })
    const client = await this.connect(flags)
    // Checked before the first push: the service must be a simulator.
    const { order_by = ORDER_BY } = await client.health()
    const timeout_ms = flags.timeout * 1000
    const agreement = state && createAgreement(state, new AbortController().signal)
    const play = async (watched: Watched | undefined) => {
      const judged = agreement && { judge: judgeBy(client, agreement), isPaced: true }
      if (agreement !== undefined && scenarios.some(needsTheView))
        await this.waiting(
          'Reading the view of the receiver',
          learnBy(client, agreement, order_by, watched?.endpoint_id),
        )
      await this.playAll(scenarios, client, { watched, orderBy: order_by, ...judged })
    }
    try {
      await this.withEndpoint(flags, client, timeout_ms, play)
    } catch (error) {
      throw error instanceof NotJudged ? new CommandError('not_judged', error.message) : error
    } finally {
      await agreement?.close()
    }
  }

  /** Forwards deliveries while `work` runs, or watches the endpoint that is named. */
  private async withEndpoint(
    flags: RunFlags,
    client: Client,
    timeout_ms: number,
    work: (watched: Watched | undefined) => Promise<void>,
  ): Promise<void> {
    const to = flags['forward-to']
    if (to === undefined) return work(await watchedAt(client, flags.endpoint, timeout_ms))
    const directory = flags['data-dir']
    const service = new URL((await this.locate(flags)).url).origin
    await prepareDataDirectory(directory)
    const { secret, relay } = flags
    const certificates = { openAuthority, readAuthorityCertificate }
    const connect = this.reconnect(flags)
    const onOpen = (remove: () => Promise<unknown>) => (this.removeEndpoint = remove)
    const parts = { to, directory, service, certificates, secret, relay, connect, onOpen }
    await forwarding(client, parts, (endpoint_id) =>
      work({ endpoint_id, event_types: eventTypes, timeout_ms }),
    )
  }

  private removeEndpoint: (() => Promise<unknown>) | undefined

  /** The first signal removes the endpoint of --forward-to; the second ends at once. */
  protected override interrupted(): void {
    const remove = this.removeEndpoint
    this.removeEndpoint = undefined
    if (remove === undefined) return super.interrupted()
    void remove().finally(() => super.interrupted())
  }

  /** The steps go on, because the exit code judges all of them. */
  protected override abandoned(): void {}

  private async playAll(scenarios: readonly Scenario[], client: Client, options: PlayOptions): Promise<void> {
    const reports: ScenarioReport[] = []
    for (const scenario of scenarios) {
      this.tell(scenario.title)
      const report = await playScenario(scenario, client, options, (step) => this.tell(renderStep(step)))
      this.tell(renderScenarioEnd(report))
      reports.push(report)
    }
    const failed = reports.filter(({ passed }) => !passed)
    if (this.wantsJson)
      this.print(
        { passed: reports.length - failed.length, failed: failed.length, scenarios: reports },
        () => '',
      )
    if (failed.length > 0) process.exitCode = exitCodeOf(failed)
  }

  private tell(text: string): void {
    if (!this.wantsJson) this.printLine(undefined, () => text)
  }
}

interface RunFlags {
  'forward-to': string | undefined
  endpoint: string | undefined
  secret: string | undefined
  relay: boolean | undefined
  'data-dir': string
  url: string | undefined
  'api-key': string | undefined
  cacert: string | undefined
}

function needsTheView({ steps }: Scenario): boolean {
  return steps.some((step) => step.do === 'expect' && step.receiver !== undefined)
}

async function watchedAt(
  client: Client,
  endpoint: string | undefined,
  timeout_ms: number,
): Promise<Watched | undefined> {
  if (endpoint === undefined) return undefined
  const { id, event_types } = await client.endpoints.get(await endpointIdOf(client, endpoint))
  return { endpoint_id: id, event_types, timeout_ms }
}

function exitCodeOf(failed: readonly ScenarioReport[]): number {
  const unmet = failed.some(({ steps }) => (steps.at(-1)?.mismatches.length ?? 0) > 0)
  return unmet ? exitCodes.checkFailed : exitCodes.failed
}
