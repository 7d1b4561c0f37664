import { accountOf } from '../../account/account.ts'
import type { Everything } from '../../model/records.ts'
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type Bundle,
  type BundleSettings,
} from '../../model/simulator/bundle.ts'
import { bundleText } from '../../model/simulator/record-lines.ts'
import type { FaultsView } from '../../model/simulator/fault.ts'
import { stateOf } from '../../model/simulator/state.ts'
import type { Service } from '../../service.ts'
import { bearerOf } from '../auth/api-key.ts'
import { choiceOf, timeIn } from '../list.ts'
import type { RequestLog } from '../request-log/log.ts'
import type { Call, Documented } from '../route.ts'
import { redacted } from './bundle-secrets.ts'
import { textBody } from './state.ts'

export interface BundleParts {
  service: Pick<Service, 'everything' | 'onCommit'>
  log: Pick<RequestLog, 'bringUpToDate' | 'report' | 'accounted' | 'save'>
  /** Shows the service's clock. */
  clockNow: () => Bundle['clock']
  faultsNow: () => Promise<FaultsView>
  /** Data about this process and this moment. */
  program: () => Pick<Bundle, 'tabwire' | 'node' | 'platform' | 'recorded_at' | 'started_at'>
  settings: BundleSettings
  /** The first key of the service, in plain text. */
  apiKey: string
}

/** `GET /_sim/bundle` (contract section 10). */
export function bundleRoute(parts: BundleParts): Documented {
  return {
    method: 'GET',
    path: '/bundle',
    scope: 'simulate',
    keyOnly: true,
    query: { since: 'since.report', all_closed: 'all_closed' },
    doc: {
      id: 'getBundle',
      tag: 'Simulator state',
      summary: 'Retrieve a bundle for a replay',
      description:
        'Returns the state, the request log, the clock, the faults, the report and the account, all of one moment. Secrets are replaced, each by one text in the whole bundle. `tabwire replay` reads the bundle.',
      answers: { 200: { description: 'The bundle, one record per line.', schema: 'Bundle' } },
    },
    async handle(call) {
      const keys = [parts.apiKey, bearerOf(call.header('authorization'))]
      const { bundle, redact } = redacted(await bundleNow(parts, call), keys)
      return {
        status: 200,
        body: textBody(bundleText(bundle, redact)),
      }
    },
  }
}

/** Returns the parameter `all_closed`: whether the account expects every check to be closed. */
export function isAllClosed(query: URLSearchParams): boolean {
  return choiceOf(query, 'all_closed', ['true', 'false']) === 'true'
}

async function bundleNow(parts: BundleParts, { key, query }: Call): Promise<Bundle> {
  const since = timeIn(query, 'since')
  const all_closed = isAllClosed(query)
  const faults = await parts.faultsNow()
  await parts.log.bringUpToDate()
  const records = await recordsNow(parts.service)
  // From here on synchronous: everything is of one moment, unless commits overtook every read of the records.
  const clock = parts.clockNow()
  const at = new Date(clock.now)
  const { location_id } = key
  const location = records.locations.find(({ id }) => id === location_id) ?? { id: location_id, currency: '' }
  const accounted = { location, records, ...parts.log.accounted(at), allClosed: all_closed }
  return {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    ...parts.program(),
    location_id,
    clock,
    settings: parts.settings,
    faults,
    command: null,
    verdict: {
      since: since ?? null,
      all_closed,
      report: parts.log.report(since, at),
      account: accountOf(accounted),
    },
    state: stateOf(records, clock),
    log: parts.log.save(),
  }
}

/** Most reads of all records, when each is overtaken by a commit. */
const MOST_READS = 10

/** Reads all records. Reads again when a commit came between the read and its result, up to {@link MOST_READS} times. */
async function recordsNow(service: BundleParts['service']): Promise<Everything> {
  let commits = 0
  const unsubscribe = service.onCommit(() => (commits += 1))
  try {
    for (let reads = 1; ; reads += 1) {
      const before = commits
      const records = await service.everything()
      if (commits === before || reads === MOST_READS) return records
    }
  } finally {
    unsubscribe()
  }
}
