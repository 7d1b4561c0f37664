import type { TestContext } from 'vitest'
import { checkContract, type ContractCheck } from '../../../src/conformance/contract/check.ts'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import type { ConformanceReport, Verdict } from '../../../src/conformance/report.ts'
import { foreignProfile, openForeignService, type Choices } from '../../support/foreign-service.ts'
import { testAuthority } from '../../support/simulator.ts'

export interface Variant {
  changes?: Partial<Choices>
  settings?: Partial<Omit<ContractCheck, 'baseUrl'>>
  /** The groups of cases to run; all of them unless it is given. */
  groups?: readonly string[] | undefined
}

/** Short waits, since the foreign service answers at once unless it says otherwise. */
const timeouts = { eventMs: 2_000, settleMs: 600, quietMs: 150 }

let issued: Promise<{ cert: string; key: string }> | undefined

/** One certificate for the receivers of all tests: making keys takes a while. */
export function receiverTls(): Promise<{ cert: string; key: string }> {
  issued ??= testAuthority().then((authority) => authority.issue(['localhost', '127.0.0.1']))
  return issued
}

/** Checks a variant of the foreign service, which the receiver is known to be reachable for. */
export async function examine(
  { changes, settings = {}, groups }: Variant,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<ConformanceReport> {
  const { baseUrl, apiKey, readKey } = await openForeignService(changes, onTestFinished)
  const tls = await receiverTls()
  const { report } = await checkContract({
    baseUrl,
    apiKey,
    readKey,
    tls,
    cases: contractCases.filter(({ group }) => groups?.includes(group) ?? true),
    isReachable: true,
    ...settings,
    profile: { ...foreignProfile, ...settings.profile },
    timeouts: { ...timeouts, ...settings.timeouts },
  })
  return report
}

/** The cases with a verdict, as `group/id`, in alphabetical order. */
export function named({ cases }: ConformanceReport, wanted: Verdict): string[] {
  return cases.flatMap(({ verdict, group, id }) => (verdict === wanted ? [`${group}/${id}`] : [])).sort()
}
