import type { Builder, TestCase } from 'junit-report-builder'
import { grouped, type CaseResult, type ConformanceReport } from './result.ts'

/** The report as JUnit XML, a test suite for each group. Times are in seconds. */
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

/** What a receiver answers may hold characters that XML 1.0 cannot, and a CDATA section must not end early. */
function xmlText(text: string): string {
  return Buffer.from(text)
    .toString()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(']]>', ']] >')
}
