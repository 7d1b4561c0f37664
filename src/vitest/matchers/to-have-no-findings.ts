import type { TimeGiven } from '../../client.ts'
import type { Simulator } from '../../library/create-simulator.ts'
import { findingCodes, type FindingCode, type ReportedFinding } from '../../model/simulator/report.ts'
import { requireKnownOptions } from '../../model/simulator/settings.ts'
import { failed, passed, requireKnown, requireSimulator, type Outcome } from './outcome.ts'

/** Which findings count. */
export interface FindingsOptions {
  /**
   * Findings that are no mistake here.
   * @default []
   */
  except?: readonly FindingCode[]
  /**
   * Only findings of requests that began then or later.
   * @default undefined, from the start of the service on
   */
  since?: TimeGiven
}

/** The linter's findings in the pushes so far, as `tabwire report` shows them. */
export async function toHaveNoFindings(
  simulator: Pick<Simulator, 'report'>,
  options: FindingsOptions = {},
): Promise<Outcome> {
  requireSimulator('toHaveNoFindings', simulator, 'report')
  requireKnownOptions(options, ['except', 'since'])
  const { except = [], since } = options
  requireKnown('finding', except, findingCodes)
  const { findings } = await simulator.report(since)
  const found = findings.filter(({ code }) => !except.includes(code))
  const got = found.map(({ code, count }) => `${code} (${count})`)
  return found.length === 0
    ? passed({ expected: 'findings in the pushes', got: 'none' })
    : failed({
        expected: 'no findings in the pushes',
        got: got.join(', '),
        lines: found.flatMap(linesOf),
        diff: { actual: got, expected: [] },
      })
}

function linesOf({ code, requests }: ReportedFinding): string[] {
  return requests.map(({ method, path, message }) => `  ${code}: ${method} ${path}: ${message}`)
}
