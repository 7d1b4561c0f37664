import type { Attempt } from '../../../../model/delivery.ts'
import { Badge, StatusCode } from '../badge.tsx'
import { Moment } from '../moment.tsx'
import { tookText } from '../time-text.ts'
import { Body } from './parts.tsx'

/** Every attempt, the last one first, with what the receiver answered. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <ol class="attempts" reversed>
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.number}>
          <p class="line">
            <b>#{attempt.number}</b> <Moment at={attempt.started_at} /> <Badge word={attempt.outcome} />{' '}
            {attempt.response_status !== null && <StatusCode status={attempt.response_status} />}{' '}
            <span class="quiet">{tookText(attempt.duration_ms)}</span>
            {attempt.faults !== undefined && <span class="tag">fault: {attempt.faults.join(', ')}</span>}
          </p>
          {attempt.error !== null && <p class="reason">{attempt.error}</p>}
          {attempt.response_body !== null && attempt.response_body !== '' && (
            <Body
              text={attempt.response_body}
              label={`What the receiver answered to attempt ${attempt.number}`}
            />
          )}
        </li>
      ))}
    </ol>
  )
}
