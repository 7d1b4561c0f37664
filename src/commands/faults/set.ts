import { Args, Errors, Flags } from '@oclif/core'
import { endpointIdOf } from '../../cli/endpoint-urls.ts'
import { usageError } from '../../cli/errors.ts'
import type { Client } from '../../client.ts'
import { readFaultWords } from '../../cli/parse-faults.ts'
import { fromEnvironment, listed, requireAll } from '../../cli/flags.ts'
import { renderFaults } from '../../cli/render/controls.ts'
import { ServiceCommand, typedAs } from '../../cli/service-command.ts'
import { DAY_MS, durationMs } from '../../model/text/time.ts'
import { eventTypes, type EventType } from '../../model/event.ts'
import type { Fault } from '../../model/simulator/fault.ts'

/** Parses a duration from 1ms to 24h. */
const durationFlag = Flags.custom<number>({
  parse: async (input) => {
    const ms = durationMs(input)
    if (ms !== undefined && ms > DAY_MS)
      throw new Errors.CLIError(`must be at most 24h, got ${JSON.stringify(input)}.`)
    if (ms !== undefined && ms > 0) return ms
    throw new Errors.CLIError(
      `must be a duration such as 500ms, 30s, 5m or 1h, got ${JSON.stringify(input)}.`,
    )
  },
})

export default class FaultsSet extends ServiceCommand {
  static override description =
    'Inject faults into deliveries and API requests.\nThe same seed and the same calls give the same faults.\nOn deliveries: duplicate, reorder, delay, drop. On the API: latency, error, reset, lost_answer.'
  static override examples = [
    '<%= config.bin %> faults set duplicate=0.3 reorder=0.5 delay drop=0.2 --seed 7',
    '<%= config.bin %> faults set drop --type check.closed --times 3',
    "<%= config.bin %> faults set latency=200ms error=0.1 --path 'PUT /v1/checks/*'",
  ]
  static override strict = false
  static override typedAs = typedAs({
    seed: '--seed',
    times: '--times',
    event_types: '--type',
    endpoint_ids: '--endpoint',
    delay_ms: '--delay-for',
    reorder_ms: '--reorder-for',
    paths: '--path',
    error_status: '--status',
  })
  static override args = {
    fault: Args.string({
      ignoreStdin: true,
      description:
        'Fault and its probability from 0 to 1, such as drop=0.2 (default: 1); latency takes 1ms to 60s.',
      required: true,
    }),
  }
  static override flags = fromEnvironment({
    seed: Flags.integer({ description: 'Random seed, 0 or more (default: the current seed, or 1).', min: 0 }),
    times: Flags.integer({
      description: 'Maximum number of affected attempts or requests, at least 1 (default: no limit).',
      min: 1,
    }),
    type: Flags.string({
      description: 'Only deliveries of this event type.',
      multiple: true,
      // Not oclif's options: it would compare them with the whole list when that comes from the environment.
      parse: async (input) => requireAll(input, eventTypes),
      multipleNonGreedy: true,
    }),
    endpoint: Flags.string({
      description: 'Only deliveries to this endpoint (id or URL).',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'delay-for': durationFlag({ description: 'Duration of the delay fault, at most 24h (default: 30s).' }),
    'reorder-for': durationFlag({
      description: 'Maximum duration of the reorder fault, at most 24h (default: 1m).',
    }),
    path: Flags.string({
      description: 'Only requests to this path, optionally after a method; * matches any characters.',
      multiple: true,
      multipleNonGreedy: true,
    }),
    status: Flags.integer({
      description: 'Status of the error fault, 400 to 599 (default: 503).',
      min: 400,
      max: 599,
    }),
    add: Flags.boolean({
      description:
        'Keep the current faults. Without it, those on the same target (deliveries or API) are replaced.',
    }),
  })

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(FaultsSet)
    // Wrong words are refused before the service is asked.
    faultsOf(argv as string[], flags)
    const client = await this.connect(flags)
    const endpoint = flags.endpoint && (await endpointIds(client, listed(flags.endpoint)))
    const asked = faultsOf(argv as string[], { ...flags, endpoint })
    const before = await client.faults.show()
    const replaces = (fault: Fault) => !flags.add && asked.some(({ on }) => on === fault.on)
    const kept = before.faults.filter((fault) => !replaces(fault))
    const faults = await client.faults.set({
      seed: flags.seed ?? before.seed,
      faults: [...kept, ...asked],
    })
    this.print(faults, (columns) => renderFaults(faults, columns))
    if (kept.length < before.faults.length) this.say('Replaced the previous faults. Pass --add to keep them.')
    if (!flags.add && kept.length > 0)
      this.say(`The faults on ${nameOf(kept[0])} are unchanged, and their counts begin again.`)
  }
}

/** @throws ApiError or CommandError when there is no such endpoint. */
async function endpointIds(client: Client, wanted: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const one of wanted) ids.push((await client.endpoints.get(await endpointIdOf(client, one))).id)
  return ids
}

interface Limits {
  times?: number | undefined
  type?: string[] | undefined
  endpoint?: string[] | undefined
  'delay-for'?: number | undefined
  'reorder-for'?: number | undefined
  path?: string[] | undefined
  status?: number | undefined
}

/**
 * Returns a fault on deliveries, one on the API, or both.
 * @throws CommandError for a limit without its fault.
 */
function faultsOf(words: readonly string[], flags: Limits): Fault[] {
  const { deliveries, api } = readFaultWords(words)
  const [onDeliveries, onApi] = [Object.keys(deliveries), Object.keys(api)]
  const needs = (flag: keyof Limits, what: string, isThere: boolean) => {
    if (flags[flag] !== undefined && !isThere) throw usageError(`--${flag} needs ${what}.`)
  }
  for (const flag of ['type', 'endpoint'] as const)
    needs(flag, 'a fault on deliveries, such as drop', onDeliveries.length > 0)
  needs('delay-for', 'the fault delay', 'delay' in deliveries)
  needs('reorder-for', 'the fault reorder', 'reorder' in deliveries)
  needs('path', 'a fault on the API, such as error', onApi.length > 0)
  needs('status', 'the fault error', 'error_rate' in api)
  const { times } = flags
  const limitsOfDeliveries = {
    delay_ms: flags['delay-for'],
    reorder_ms: flags['reorder-for'],
    event_types: flags.type && (listed(flags.type) as EventType[]),
    endpoint_ids: flags.endpoint && listed(flags.endpoint),
  }
  const limitsOfApi = { error_status: flags.status, paths: flags.path && listed(flags.path) }
  const faults: Fault[] = []
  if (onDeliveries.length > 0) faults.push({ on: 'deliveries', ...deliveries, ...limitsOfDeliveries, times })
  if (onApi.length > 0) faults.push({ on: 'api', ...api, ...limitsOfApi, times })
  return faults
}

function nameOf(fault: Fault | undefined): string {
  return fault?.on === 'api' ? 'the API' : 'deliveries'
}
