import type { Attempt } from '../../../../model/delivery.ts'
import { elapsedText, Time } from '../clock.tsx'
import { Badge, StatusCode } from '../elements.tsx'
import { groupsOf } from '../../../../model/attempt-groups.ts'

interface AttemptsProps {
  attempts: readonly Attempt[]
  /** Number of the attempt whose request and response are shown. */
  shown: number | undefined
  onShow: (number: number) => void
}

/** All attempts, newest first; attempts with the same result are one line, which unfolds. */
export function Attempts({ attempts, shown, onShow }: AttemptsProps) {
  const line = (attempt: Attempt) => (
    <Line
      key={attempt.number}
      attempt={attempt}
      isShown={attempt.number === shown}
      onShow={attempts.length === 1 ? undefined : onShow}
    />
  )
  return (
    <ol class="attempts" reversed>
      {groupsOf(attempts)
        .toReversed()
        .map((group) => {
          const [first] = group
          const last = group.at(-1)
          if (first === undefined || last === undefined) return null
          return (
            <li key={first.number}>
              {first === last ? (
                line(first)
              ) : (
                <details>
                  <summary>
                    <b>
                      #{first.number}–#{last.number}
                    </b>{' '}
                    <Result attempt={first} /> <span class="quiet">{group.length} times the same, last</span>{' '}
                    <Time at={last.started_at} />
                  </summary>
                  <div class="same">{group.toReversed().map(line)}</div>
                </details>
              )}
              {first.error !== null && <p class="reason">{first.error}</p>}
            </li>
          )
        })}
    </ol>
  )
}

interface LineProps {
  attempt: Attempt
  isShown: boolean
  onShow: ((number: number) => void) | undefined
}

function Line({ attempt, isShown, onShow }: LineProps) {
  const { number, started_at, duration_ms } = attempt
  return (
    <p class="line">
      <b>#{number}</b> <Time at={started_at} /> <Result attempt={attempt} />{' '}
      <span class="quiet">{elapsedText(duration_ms)}</span>{' '}
      {onShow !== undefined && (
        <button type="button" class="plain" aria-pressed={isShown} onClick={() => onShow(number)}>
          Show<span class="spoken"> request and response of attempt {number}</span>
        </button>
      )}
    </p>
  )
}

function Result({ attempt: { outcome, response_status, faults } }: { attempt: Attempt }) {
  return (
    <>
      <Badge word={outcome} /> {response_status !== null && <StatusCode status={response_status} />}
      {faults !== undefined && <span class="tag">fault: {faults.join(', ')}</span>}
    </>
  )
}
