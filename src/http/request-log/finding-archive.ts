import type { Finding } from '../../findings/index.ts'
import type { SavedArchive } from '../../model/simulator/bundle.ts'
import {
  MOST_EXAMPLES,
  type FindingCode,
  findingCodes,
  type Report,
  type ReportedFinding,
} from '../../model/simulator/report.ts'
import type { ReportedRequest } from './push-sequence.ts'

/** A finding with its request. */
export interface RequestFinding {
  request: ReportedRequest
  finding: Finding
}

/** Findings whose requests were dropped from the log. In a long session only the oldest examples are lost. */
interface FindingArchive {
  keep(shown: RequestFinding): void
  kept(): readonly RequestFinding[]
  /** Number and times of the findings of a code whose examples are lost. */
  counted(code: FindingCode): Counted | undefined
  save(): SavedArchive
  clear(): void
}

interface Counted {
  count: number
  first_at: string
  last_at: string
}

export function createFindingArchive({
  keepOfEach = 1_000,
  saved,
}: { keepOfEach?: number; saved?: SavedArchive | undefined } = {}): FindingArchive {
  const kept = new Map<FindingCode, RequestFinding[]>()
  const counted = new Map<FindingCode, Counted>()
  for (const { code, ...times } of saved?.counted ?? []) counted.set(code, times)

  function count(code: FindingCode, { started_at }: ReportedRequest): void {
    const before = counted.get(code) ?? { count: 0, first_at: started_at, last_at: started_at }
    counted.set(code, { ...before, count: before.count + 1, last_at: started_at })
  }

  function keep(shown: RequestFinding): void {
    const { code } = shown.finding
    const all = kept.get(code) ?? []
    kept.set(code, all)
    const oldest = all.push(shown) > keepOfEach ? all.shift() : undefined
    if (oldest !== undefined) count(code, oldest.request)
  }

  for (const shown of saved?.kept ?? []) keep(shown)
  return {
    keep,
    kept: () => [...kept.values()].flat(),
    counted: (code) => counted.get(code),
    save: () => ({
      kept: [...kept.values()].flat(),
      counted: Array.from(counted, ([code, times]) => ({ code, ...times })),
    }),
    clear() {
      kept.clear()
      counted.clear()
    },
  }
}

/** Findings of the log and of the archive. */
interface Findings {
  shown: readonly RequestFinding[]
  counted(code: FindingCode): Counted | undefined
}

/** Groups the findings from `since` on by their code (contract section 11). */
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
  shown: readonly RequestFinding[],
  older: Counted | undefined,
  limited: boolean,
): ReportedFinding[] {
  const times = shown.map(({ request }) => request.started_at)
  const first_at = older?.first_at ?? times[0]
  const last_at = times.at(-1) ?? older?.last_at
  if (first_at === undefined || last_at === undefined) return []
  const requests = shown
    .slice(-MOST_EXAMPLES)
    .map(({ request: { location_id: _location, ...request }, finding }) => ({
      ...request,
      message: finding.message,
    }))
  const count = shown.length + (older?.count ?? 0)
  return [{ code, count, first_at, last_at, requests, includes_earlier: limited && older !== undefined }]
}
