import type { Finding } from '../../findings/index.ts'
import type { FindingCode } from '../../model/simulator/finding-code.ts'
import type { Seen } from './push-sequence.ts'

/** A finding with the request that shows it. */
export interface Shown {
  request: Seen
  finding: Finding
}

/** Findings whose requests the log has forgotten: of a long session nothing is lost but the oldest examples. */
export interface FindingArchive {
  keep(shown: Shown): void
  kept(): readonly Shown[]
  /** How many of a kind are known by number alone, and of which time the first and the last of them are. */
  counted(code: FindingCode): Counted | undefined
  clear(): void
}

export interface Counted {
  count: number
  first_at: string
  last_at: string
}

export function createFindingArchive(keepOfEach = 1_000): FindingArchive {
  const kept = new Map<FindingCode, Shown[]>()
  const counted = new Map<FindingCode, Counted>()

  function count(code: FindingCode, { started_at }: Seen): void {
    const before = counted.get(code) ?? { count: 0, first_at: started_at, last_at: started_at }
    counted.set(code, { ...before, count: before.count + 1, last_at: started_at })
  }

  return {
    keep(shown) {
      const { code } = shown.finding
      const all = kept.get(code) ?? []
      kept.set(code, all)
      const oldest = all.push(shown) > keepOfEach ? all.shift() : undefined
      if (oldest !== undefined) count(code, oldest.request)
    },
    kept: () => [...kept.values()].flat(),
    counted: (code) => counted.get(code),
    clear() {
      kept.clear()
      counted.clear()
    },
  }
}
