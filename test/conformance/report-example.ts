import { makeReport, type CaseResult } from '../../src/conformance/report.ts'

/** A text with everything that a format could trip over. */
export const awkward = 'a # b \\ <c> & "d" ]]> \u0000\u001b[2J\nline two: \'x\' \ud800 ✓'

const one = (id: string, change: Partial<CaseResult>): CaseResult => ({
  group: 'refuses',
  id,
  title: `Title of ${id}`,
  basis: 'specification',
  reason: `Reason of ${id}`,
  verdict: 'passed',
  detail: null,
  duration_ms: 12.5,
  ...change,
})

/** A report with every verdict, in two groups. */
export const report = makeReport({
  suite: 'receiver check',
  target: 'http://127.0.0.1:1/',
  duration_ms: 1234,
  cases: [
    one('plain', { group: 'accepts' }),
    one('wrong', { verdict: 'failed', detail: awkward, reason: awkward, title: awkward }),
    one('better', { verdict: 'failed', basis: 'advice', detail: awkward }),
    one('left_out', { verdict: 'not_checked', detail: awkward }),
    one('impossible', { verdict: 'error', detail: awkward, reason: awkward }),
    one('seen', { verdict: 'observed', detail: awkward }),
  ],
})

export const empty = makeReport({ suite: 'receiver check', target: 'x', duration_ms: 0, cases: [] })
