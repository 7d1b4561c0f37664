import type { Builder, TestCase } from 'junit-report-builder'
import { grouped, type CaseResult, type ConformanceReport } from './result.ts'

/** Formats the report as JUnit XML, one test suite per group. Times are in seconds. */
export async function toJUnit(report: ConformanceReport): Promise<string> {
  const { default: library } = await import('junit-report-builder')
  // Its types speak of a default export within the default export, which at run time there is not.
  const builder = (library as unknown as Builder).newBuilder()
  for (const [group, cases] of grouped(report.cases)) {
    const suite = builder.testSuite().name(xmlText(`${report.suite}: ${group}`))
    suite.time(cases.reduce((sum, { duration_ms }) => sum + duration_ms, 0) / 1000)
    suite.property('target', xmlText(report.target))
    if (report.interrupted) suite.property('interrupted', 'true')
    for (const one of cases) addCase(suite.testCase(), report.suite, one)
  }
  return builder.build()
}

function addCase(testCase: TestCase, suite: string, one: CaseResult): void {
  const { group, id, title, reason, verdict, detail, duration_ms } = one
  testCase.className(xmlText(`${suite.replaceAll(' ', '.')}.${group}`)).name(xmlText(`${id}: ${title}`))
  testCase.time(duration_ms / 1000)
  const seen = xmlText(detail ?? '')
  if (verdict === 'failed') testCase.failure(seen, id).stacktrace(xmlText(reason))
  if (verdict === 'not_checked') testCase.skipped()
  if (detail !== null && verdict !== 'failed') testCase.standardOutput(seen)
}

/** Removes characters that XML 1.0 does not allow, and ends of CDATA sections. */
function xmlText(text: string): string {
  return Buffer.from(text)
    .toString()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(']]>', ']] >')
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
