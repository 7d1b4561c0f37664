import { serviceNow } from './clock.ts'
import { countdownText } from './time-text.ts'

/** When something falls due, as a countdown by the clock of the service. */
export function NextAttempt({ at }: { at: string }) {
  const left = Date.parse(at) - serviceNow.value
  return (
    <time dateTime={at} title={at}>
      {left < 1_000 ? 'now' : `in ${countdownText(left)}`}
    </time>
  )
}
