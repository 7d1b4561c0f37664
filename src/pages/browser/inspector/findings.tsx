import type { FindingCode } from '../../../model/simulator/report.ts'
import type { LoggedRequest } from '../../../model/simulator/request-entry.ts'
import { Link } from './link.tsx'

/** What is odd about a push, whether it came to anything or not. */
export function findingsOf({ push, findings }: LoggedRequest): NonNullable<LoggedRequest['findings']> {
  return push?.findings ?? findings ?? []
}

/** Leads from a finding to all pushes that have it. */
export function FindingLink({ code }: { code: FindingCode }) {
  return <Link to={{ view: 'pushes', filters: { finding: code }, open: '' }}>{code}</Link>
}
