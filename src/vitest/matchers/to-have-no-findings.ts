import type { Simulator } from '../../library/create-simulator.ts'
import type { FindingCode } from '../../model/finding-code.ts'
import type { ReportedFinding } from '../../model/report.ts'
import { failed, passed, type Outcome } from './outcome.ts'

/** Which findings count. */
export interface FindingsOptions {
  /** Those that are no mistake here. */
  except?: readonly FindingCode[]
  /** Only what began then or later. */
  since?: Date
}

/** What the linter has to say of the pushes so far, as `tabwire report` does. */
export async function toHaveNoFindings(
  simulator: Pick<Simulator, 'report'>,
  { except = [], since }: FindingsOptions = {},
): Promise<Outcome> {
  const { findings } = await simulator.report(since)
  const found = findings.filter(({ code }) => !except.includes(code))
  if (found.length === 0) return passed('The pushes were to show a finding, but show none.')
  return failed(['The pushes show findings:', ...found.flatMap(linesOf)].join('\n'))
}

function linesOf({ code, count, requests }: ReportedFinding): string[] {
  const shown = requests.map(({ method, path, message }) => `    ${method} ${path}: ${message}`)
  return [`  ${code}, ${count} times`, ...shown]
}
