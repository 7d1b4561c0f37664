import { serviceNow } from './clock.ts'
import { momentText } from './time-text.ts'

/** A moment in UTC, in full when it is pointed at. */
export function Moment({ at }: { at: string }) {
  return (
    <time class="moment" dateTime={at} title={at}>
      {momentText(at, serviceNow.value)}
    </time>
  )
}
