import type { Attempt } from '../../../model/delivery.ts'
import { Badge, StatusCode } from './badge.tsx'
import { tookText } from './time-text.ts'

/** What came of an attempt: the receiver's status, or why there is none; and how long it took. */
export function Answer({ attempt: { outcome, response_status, duration_ms } }: { attempt: Attempt }) {
  return (
    <>
      {response_status === null ? <Badge word={outcome} /> : <StatusCode status={response_status} received />}{' '}
      <span class="quiet">{tookText(duration_ms)}</span>
    </>
  )
}
