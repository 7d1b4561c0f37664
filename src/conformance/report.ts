/**
 * `advised`: a case based on advice failed; exit codes ignore it. `error`: a flag asked for the case, and it could not run, or
 * the service stopped responding. `not_checked`: this run could not see it. `observed`: the specification leaves it open, so the
 * report states what was seen.
 */
export type Verdict = 'passed' | 'failed' | 'advised' | 'error' | 'not_checked' | 'observed'

/** Basis of a case: a sentence of the specification, good practice, or none, where nothing is judged. */
export type Basis = 'specification' | 'advice' | 'open'

/** Result of one case, by `fixtures/conformance-report.schema.json`. */
export interface CaseResult {
  group: string
  /** Unique in its group, in snake case: what `--only` and `--skip` take. */
  id: string
  title: string
  basis: Basis
  /** Reason of the case: a section of the specification, or the effect of a failure in production. */
  reason: string
  verdict: Verdict
  /** Observation, or why the case was not checked; `null` when there is nothing to add. */
  detail: string | null
  duration_ms: number
}

type Totals = Record<Verdict, number>

/** Report of a conformance suite. */
export interface ConformanceReport {
  /** The command, such as `receiver check`. */
  suite: string
  /** Examined service or receiver, without secrets. */
  target: string
  /** Every requested case could run, none failed, at least one was checked, and the run was not interrupted. */
  ok: boolean
  /** Ctrl-C ended the run: cases without a verdict are not checked. */
  interrupted: boolean
  duration_ms: number
  totals: Totals
  cases: readonly CaseResult[]
}

type Examined = Pick<ConformanceReport, 'suite' | 'target' | 'duration_ms' | 'cases'> & {
  interrupted?: boolean
  /** Cases that rest on advice fail, too. */
  strict?: boolean
}

/** Counts the verdicts. A failed case that rests on advice becomes `advised`, unless `strict`. */
export function makeReport({
  interrupted = false,
  strict = false,
  cases: examinedCases,
  ...examined
}: Examined): ConformanceReport {
  const cases = strict ? examinedCases : examinedCases.map(adviceAside)
  const totals: Totals = { passed: 0, failed: 0, advised: 0, error: 0, not_checked: 0, observed: 0 }
  for (const { verdict } of cases) totals[verdict] += 1
  const ok = totals.failed + totals.error === 0 && !interrupted && !isUnchecked(cases)
  return { ...examined, ok, interrupted, totals, cases }
}

/**
 * Returns the report in which a case that was not checked is an `error` when `required` names it or its group; unchanged
 * after an interruption.
 */
export function requireChecked(report: ConformanceReport, required: readonly string[]): ConformanceReport {
  if (report.interrupted || required.length === 0) return report
  const cases = report.cases.map((one) => (isNamed(one, required) ? asError(one) : one))
  // Failed cases that rest on advice are set aside already.
  return makeReport({ ...report, cases, strict: true })
}

/** Returns true when none of the cases was checked, and none failed. Those of the group `control` only prepare the others. */
export function isUnchecked(cases: readonly CaseResult[]): boolean {
  if (cases.some(({ verdict }) => isBad(verdict))) return false
  const others = cases.filter(({ group }) => group !== 'control')
  return others.length > 0 && others.every(({ verdict }) => verdict === 'not_checked')
}

function adviceAside(one: CaseResult): CaseResult {
  return one.verdict === 'failed' && one.basis === 'advice' ? { ...one, verdict: 'advised' } : one
}

/** Groups the cases, in the order in which groups first appear. */
export function casesByGroup(cases: readonly CaseResult[]): ReadonlyMap<string, readonly CaseResult[]> {
  const groups = new Map<string, CaseResult[]>()
  for (const one of cases) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  return groups
}

/** A case that `--only` and `--skip` can name. */
interface Named {
  group: string
  id: string
}

/** Names, each of a group, of a case, or of both as `group/case`. An absent `only` means all. */
interface Selection {
  only?: readonly string[] | undefined
  skip?: readonly string[] | undefined
}

/** Returns true when a case was asked for. */
export function isSelected(one: Named, { only = [], skip = [] }: Selection): boolean {
  return (only.length === 0 || isNamed(one, only)) && !isNamed(one, skip)
}

/** Returns the names that no case and no group has: a typing mistake would silently check less or more. */
export function unknownNames(cases: readonly Named[], names: readonly string[]): string[] {
  return names.filter((name) => !cases.some((one) => isNamed(one, [name])))
}

function isNamed({ group, id }: Named, names: readonly string[]): boolean {
  return [group, id, `${group}/${id}`].some((name) => names.includes(name))
}

/** Why a run is not ok although no case failed. */
export const UNCHECKED = 'None of the requested cases was checked.'

/** Why a case has no verdict that was cut short by Ctrl-C, or had not begun. */
export const INTERRUPTED = 'Not checked: interrupted.'

/**
 * Resolves with the work, unless the signal aborts first: then it rejects with the signal's reason, and the work's
 * result is ignored.
 */
export async function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController()
  const interruption = new Promise<never>((_resolve, reject) => {
    const give = () => reject(signal.reason as Error)
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { signal: over.signal })
  })
  return Promise.race([work, interruption]).finally(() => over.abort())
}

/** Formats the report as JUnit XML, one test suite per group. Times are in seconds. */
export async function toJUnit(report: ConformanceReport): Promise<string> {
  const { default: Builder } = await import('fast-xml-builder')
  const builder = new Builder({
    ignoreAttributes: false,
    attributeNamePrefix: ATTRIBUTE,
    format: true,
    suppressEmptyNode: true,
    suppressBooleanAttributes: false,
  })
  // Some CI systems read the file only, and not the exit code.
  const cases = isUnchecked(report.cases) ? report.cases.map(asError) : report.cases
  const suites = [...casesByGroup(cases)].map(([group, members]) => suiteOf(report, group, members))
  return builder.build({
    '?xml': attributes({ version: '1.0', encoding: 'UTF-8' }),
    testsuites: { ...attributes(countsOf(cases)), testsuite: suites },
  })
}

/** Makes a case that was not checked an error. */
function asError(one: CaseResult): CaseResult {
  return one.verdict === 'not_checked' ? { ...one, verdict: 'error' } : one
}

/** Prefix that tells an attribute from an element. */
const ATTRIBUTE = '@'

function attributes(values: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [ATTRIBUTE + name, xmlText(String(value))]),
  )
}

function countsOf(cases: readonly CaseResult[]) {
  const count = (wanted: CaseResult['verdict']) => cases.filter(({ verdict }) => verdict === wanted).length
  return {
    tests: cases.length,
    failures: count('failed'),
    errors: count('error'),
    skipped: count('not_checked'),
  }
}

function suiteOf(
  { suite, target, interrupted }: ConformanceReport,
  group: string,
  cases: readonly CaseResult[],
): object {
  const time = cases.reduce((sum, { duration_ms }) => sum + duration_ms, 0) / 1000
  const properties = [
    { name: 'target', value: target },
    ...(interrupted ? [{ name: 'interrupted', value: 'true' }] : []),
  ]
  return {
    ...attributes({ name: `${suite}: ${group}`, time, ...countsOf(cases) }),
    properties: { property: properties.map(attributes) },
    testcase: cases.map((one) => caseOf(suite, one)),
  }
}

function caseOf(
  suite: string,
  { group, id, title, reason, verdict, detail, duration_ms }: CaseResult,
): object {
  const classname = `${suite.replaceAll(' ', '.')}.${group}`
  return {
    ...attributes({ classname, name: `${id}: ${title}`, time: duration_ms / 1000 }),
    ...(isBad(verdict) && {
      [verdict === 'failed' ? 'failure' : 'error']: {
        ...attributes({ message: detail ?? '', type: id }),
        '#text': xmlText(reason),
      },
    }),
    ...(verdict === 'not_checked' && { skipped: {} }),
    ...(detail !== null && !isBad(verdict) && { 'system-out': xmlText(detail) }),
  }
}

function isBad(verdict: Verdict): boolean {
  return verdict === 'failed' || verdict === 'error'
}

/** Removes characters that XML 1.0 does not allow. */
function xmlText(text: string): string {
  return Buffer.from(text)
    .toString()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
}

/** Formats the report as TAP 14, one line per case; failures, advice and observations have a YAML block. */
export function toTap({ suite, target, interrupted, cases }: ConformanceReport): string {
  const lines = cases.flatMap((one, at) => [resultLine(one, at + 1), ...block(one)])
  const pragma = ['TAP version 14', `# ${oneLine(`${suite} ${target}`)}`]
  const end = interrupted ? ['Bail out! Interrupted.'] : isUnchecked(cases) ? [`Bail out! ${UNCHECKED}`] : []
  return [...pragma, `1..${cases.length}`, ...lines, ...end, ''].join('\n')
}

function resultLine({ group, id, title, verdict, detail }: CaseResult, number: number): string {
  const result = isBad(verdict) ? 'not ok' : 'ok'
  const skip = verdict === 'not_checked' ? ` # SKIP ${escaped(detail ?? '')}`.trimEnd() : ''
  return `${result} ${number} - ${escaped(`${group}/${id}: ${title}`)}${skip}`
}

function block({ verdict, detail, reason, duration_ms }: CaseResult): string[] {
  if (verdict === 'passed' || verdict === 'not_checked') return []
  const fields = { message: detail ?? '', severity: severities[verdict], reason, duration_ms }
  // JSON's strings and numbers are YAML's too, whatever stands in them.
  const lines = Object.entries(fields).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`)
  return ['  ---', ...lines, '  ...']
}

const severities = { failed: 'fail', error: 'fail', advised: 'comment', observed: 'comment' } as const

/** A hash would begin a directive, and a backslash escapes. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\#]/g, '\\$&')
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
}
