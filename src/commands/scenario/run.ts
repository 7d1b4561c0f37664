import { Args, Flags } from '@oclif/core'
import { exitCodes } from '../../cli/errors.ts'
import { fromEnvironment } from '../../cli/flags.ts'
import { expandFiles } from '../../cli/files/input.ts'
import { renderScenarioEnd, renderStep } from '../../cli/render/steps.ts'
import { forwarding } from '../../cli/listen/endpoints.ts'
import type { Watched } from '../../cli/scenario/expect.ts'
import { playScenario, type ScenarioReport } from '../../cli/scenario/play.ts'
import { readScenario } from '../../cli/scenario/read.ts'
import type { Scenario } from '../../cli/scenario/schema.ts'
import { scenarioFile } from '../../cli/scenario/shipped.ts'
import { prepareDataDirectory } from '../../cli/trust/made-here.ts'
import { ServiceCommand } from '../../cli/service-command.ts'
import type { Client } from '../../client.ts'
import { eventTypes } from '../../model/event.ts'

export default class ScenarioRun extends ServiceCommand {
  static override description =
    'Play scenarios through the service and check them.\nEach has checks of its own, so that it can be run again. It ends at the first step that does not pass.\nExit 3 when something is not as the scenario expects, 1 when a step was refused that no one expected to be.'
  static override examples = [
    '<%= config.bin %> scenario run dinner-for-four',
    '<%= config.bin %> scenario run my-scenario.json void-after-claim --forward-to localhost:3000/webhooks',
    '<%= config.bin %> scenario run walk-out --endpoint we_01K9YQ3S2M6W5VJ8T4R7N0ZBCD --json',
  ]
  static override strict = false
  static override args = {
    scenario: Args.string({
      ignoreStdin: true,
      description: 'A file, or the name of a scenario that comes along; several are played in order.',
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    endpoint: Flags.string({
      description: 'Look for the deliveries that are expected at this endpoint, of the types that it takes.',
      exclusive: ['forward-to'],
    }),
    'forward-to': Flags.string({
      description: 'Look for them at a temporary endpoint that passes them on, as listen does.',
    }),
    timeout: Flags.integer({
      description: 'How many seconds a delivery may take to come.',
      min: 1,
      default: 10,
    }),
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(ScenarioRun)
    const scenarios: Scenario[] = []
    for (const word of await expandFiles(argv as string[]))
      scenarios.push(await readScenario(await scenarioFile(word)))
    const client = await this.connect(flags)
    // Checked before the first push: the service must be a simulator.
    await client.health()
    const timeout_ms = flags.timeout * 1000
    const to = flags['forward-to']
    if (to === undefined)
      return this.playAll(scenarios, client, await watchedAt(client, flags.endpoint, timeout_ms))
    const { openAuthority } = await import('../../certificates.ts')
    const directory = flags['data-dir']
    const service = new URL((await this.locate(flags)).url).origin
    await prepareDataDirectory(directory)
    const parts = { to, directory, service, authority: await openAuthority(directory) }
    await forwarding(client, parts, (endpoint_id) =>
      this.playAll(scenarios, client, { endpoint_id, event_types: eventTypes, timeout_ms }),
    )
  }

  private async playAll(
    scenarios: readonly Scenario[],
    client: Client,
    watched: Watched | undefined,
  ): Promise<void> {
    const reports: ScenarioReport[] = []
    for (const scenario of scenarios) {
      this.tell(scenario.title)
      const report = await playScenario(scenario, client, watched, (step) => this.tell(renderStep(step)))
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

async function watchedAt(
  client: Client,
  endpoint: string | undefined,
  timeout_ms: number,
): Promise<Watched | undefined> {
  if (endpoint === undefined) return undefined
  const { id, event_types } = await client.endpoints.get(endpoint)
  return { endpoint_id: id, event_types, timeout_ms }
}

function exitCodeOf(failed: readonly ScenarioReport[]): number {
  const unmet = failed.some(({ steps }) => (steps.at(-1)?.mismatches.length ?? 0) > 0)
  return unmet ? exitCodes.checkFailed : exitCodes.failed
}
