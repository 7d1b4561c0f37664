import { signal } from '@preact/signals'

const spoken = signal('')
/** What an action has come to, for everybody to see until it is dismissed or the next one. */
export const outcome = signal<{ text: string; bad: boolean } | null>(null)

/** Seconds of quiet after something was read out. */
const QUIET_MS = 5_000

let quietUntil = 0

/** Has it read out to whoever does not see it; news that come in quick succession are left out. */
export function announce(text: string): void {
  if (Date.now() >= quietUntil) say(text)
}

/** Has it read out whatever was read out before: what a key has done. */
export function say(text: string): void {
  quietUntil = Date.now() + QUIET_MS
  spoken.value = `${text}${spoken.value.endsWith(' ') ? '' : ' '}`
}

/** The regions are always there, or nothing is read out. */
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
