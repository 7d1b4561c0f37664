/** `observed`: the specification leaves it open, so what was seen is told and nothing is judged. */
export type Verdict = 'passed' | 'failed' | 'skipped' | 'observed'

/** What came of one case, in the words of `fixtures/conformance-report.schema.json`. */
export interface CaseResult {
  group: string
  /** Unique in its group, in snake case: what `--only` and `--skip` take. */
  id: string
  title: string
  /** Why it is a case: the section of the specification, or what it means in production when it fails. */
  reason: string
  verdict: Verdict
  /** What was seen, or why the case was skipped; `null` when there is nothing to add. */
  detail: string | null
  duration_ms: number
}

export type Totals = Record<Verdict, number>

/** What a conformance suite found. */
export interface ConformanceReport {
  /** The command, such as `receiver check`. */
  suite: string
  /** What was examined, without secrets. */
  target: string
  /** No case failed, and the check was not interrupted. */
  ok: boolean
  /** Ctrl-C ended it: what had no verdict by then is skipped. */
  interrupted: boolean
  duration_ms: number
  totals: Totals
  cases: readonly CaseResult[]
}

type Examined = Pick<ConformanceReport, 'suite' | 'target' | 'duration_ms' | 'cases'> & {
  interrupted?: boolean
}

/** Counts the verdicts: a report is good when nothing failed, even if all was skipped. */
export function makeReport({ interrupted = false, cases, ...examined }: Examined): ConformanceReport {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0, observed: 0 }
  for (const { verdict } of cases) totals[verdict] += 1
  return { ...examined, ok: totals.failed === 0 && !interrupted, interrupted, totals, cases }
}

/** The cases under the names of their groups, in the order in which groups first appear. */
export function grouped(cases: readonly CaseResult[]): ReadonlyMap<string, readonly CaseResult[]> {
  const groups = new Map<string, CaseResult[]>()
  for (const one of cases) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  return groups
}
