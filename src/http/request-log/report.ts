import { findingCodes, type FindingCode } from '../../model/simulator/finding-code.ts'
import type { Report, ReportedFinding } from '../../model/simulator/report.ts'
import type { Counted, Shown } from './finding-archive.ts'

/** All that the log knows to report. */
export interface Findings {
  shown: readonly Shown[]
  counted(code: FindingCode): Counted | undefined
}

/** As many examples as a reader looks at. */
const EXAMPLES = 10

/** Groups findings by their code, with those of `since` and later alone (contract section 11). */
export function reportOf({ shown, counted }: Findings, since: string | undefined): Report['findings'] {
  const recent = shown.filter(({ request }) => since === undefined || request.started_at >= since)
  return findingCodes.flatMap((code) => {
    const ofThis = recent
      .filter(({ finding }) => finding.code === code)
      .toSorted((one, other) => (one.request.id < other.request.id ? -1 : 1))
    const older = counted(code)
    const relevant = since === undefined || (older !== undefined && older.last_at >= since)
    return groupOf(code, ofThis, relevant ? older : undefined, since !== undefined)
  })
}

function groupOf(
  code: FindingCode,
  shown: readonly Shown[],
  older: Counted | undefined,
  limited: boolean,
): ReportedFinding[] {
  const times = shown.map(({ request }) => request.started_at)
  const first_at = older?.first_at ?? times[0]
  const last_at = times.at(-1) ?? older?.last_at
  if (first_at === undefined || last_at === undefined) return []
  const requests = shown
    .slice(-EXAMPLES)
    .map(({ request, finding }) => ({ ...request, message: finding.message }))
  const count = shown.length + (older?.count ?? 0)
  return [{ code, count, first_at, last_at, requests, includes_earlier: limited && older !== undefined }]
}
