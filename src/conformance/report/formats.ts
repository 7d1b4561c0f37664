import { grouped, type CaseResult, type ConformanceReport } from './result.ts'

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
  const suites = [...grouped(report.cases)].map(([group, cases]) => suiteOf(report, group, cases))
  return builder.build({
    '?xml': attributes({ version: '1.0', encoding: 'UTF-8' }),
    testsuites: { ...attributes(countsOf(report.cases)), testsuite: suites },
  })
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
  return { tests: cases.length, failures: count('failed'), errors: 0, skipped: count('not_checked') }
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
    ...(verdict === 'failed' && {
      failure: { ...attributes({ message: detail ?? '', type: id }), '#text': xmlText(reason) },
    }),
    ...(verdict === 'not_checked' && { skipped: {} }),
    ...(detail !== null && verdict !== 'failed' && { 'system-out': xmlText(detail) }),
  }
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
  const end = interrupted ? ['Bail out! Interrupted.'] : []
  return [...pragma, `1..${cases.length}`, ...lines, ...end, ''].join('\n')
}

function resultLine({ group, id, title, verdict, detail }: CaseResult, number: number): string {
  const result = verdict === 'failed' ? 'not ok' : 'ok'
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

const severities = { failed: 'fail', advised: 'comment', observed: 'comment' } as const

/** A hash would begin a directive, and a backslash escapes. */
function escaped(text: string): string {
  return oneLine(text).replace(/[\\#]/g, '\\$&')
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
}
