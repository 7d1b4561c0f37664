import { signal } from '@preact/signals'
import { Refused } from '../call.ts'
import { connection } from './live.ts'

/** The result of the last action; shown until it is dismissed or the next action starts. */
export const outcome = signal<{ text: string; bad: boolean } | null>(null)

/** Shows an error as the result of an action. A service that does not respond has a banner instead. */
export function showFailure(error: unknown): void {
  if (error instanceof Refused && error.code === 'unreachable' && connection.value !== 'live') return
  outcome.value = { text: error instanceof Error ? error.message : String(error), bad: true }
}

const spoken = signal('')

/** Milliseconds after an announcement in which further ones are left out. */
const QUIET_MS = 5_000

let quietUntil = 0

/** Announces a text to screen readers; texts in quick succession are left out. */
export function announce(text: string): void {
  if (Date.now() >= quietUntil) announceNow(text)
}

/** Announces a text to screen readers at once: the effect of a key. A repeated text is varied by a trailing space. */
export function announceNow(text: string): void {
  quietUntil = Date.now() + QUIET_MS
  spoken.value = `${text}${spoken.value.endsWith(' ') ? '' : ' '}`
}

/** The live regions. They are always present: screen readers skip regions that are added with their text. */
export function Announcements() {
  const done = outcome.value
  return (
    <div class="outcomes">
      <p class="spoken" role="status">
        {spoken.value}
      </p>
      <div role="status">{done?.bad === false && <Outcome text={done.text} bad={false} />}</div>
      <div role="alert">{done?.bad === true && <Outcome text={done.text} bad />}</div>
    </div>
  )
}

function Outcome({ text, bad }: { text: string; bad: boolean }) {
  return (
    <div class={`outcome ${bad ? 'bad' : 'good'}`}>
      <span>{text}</span>
      <button type="button" class="plain" aria-label="Dismiss" onClick={() => (outcome.value = null)}>
        ×
      </button>
    </div>
  )
}
