import type { CaseResult, ConformanceReport } from './result.ts'

/** The report in TAP 14, one line per case; failures, advice and observations carry a YAML block. */
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
