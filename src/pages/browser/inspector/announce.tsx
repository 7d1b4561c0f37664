import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { messageOf, Refused } from '../call.ts'
import { connection } from './live.ts'

/** The result of the last action. A success leaves by itself; an error stays until it is dismissed or replaced. */
export const outcome = signal<{ text: string; bad: boolean } | null>(null)

/** Shows an error as the result of an action. A service that does not respond has a banner instead. */
export function showFailure(error: unknown): void {
  if (error instanceof Refused && error.code === 'unreachable' && connection.value !== 'live') return
  outcome.value = { text: messageOf(error), bad: true }
}

/** Resolves with false where the browser blocks copying: on plain HTTP from another machine. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Shows a text to copy by hand. */
export function showBlocked(text: string): void {
  outcome.value = { text: `The browser blocked copying. Copy this text: ${text}`, bad: true }
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
      <div role="status">{done?.bad === false && <Outcome done={done} />}</div>
      <div role="alert">{done?.bad === true && <Outcome done={done} />}</div>
    </div>
  )
}

/** Milliseconds for which a success is shown; not counted while the pointer or the focus is on it. */
const SHOWN_MS = 5_000

function Outcome({ done: { text, bad } }: { done: { text: string; bad: boolean } }) {
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isHeld = bad || isHovered || isFocused
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => (outcome.value = null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome.value, isHeld])
  return (
    <div
      class={`outcome ${bad ? 'bad' : 'good'}`}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocusIn={() => setFocused(true)}
      onFocusOut={() => setFocused(false)}
    >
      <span>{text}</span>
      <button type="button" class="plain" aria-label="Dismiss" onClick={() => (outcome.value = null)}>
        ×
      </button>
    </div>
  )
}
