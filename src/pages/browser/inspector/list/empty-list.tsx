import { go } from '../address.ts'
import { CopyButton } from '../copy-button.tsx'
import type { View } from './view.ts'

/** What an empty list says: what to do next, with the exact command. */
export function EmptyList<T extends { id: string }>({
  view,
  filtered,
}: {
  view: View<T>
  filtered: boolean
}) {
  if (filtered)
    return (
      <div class="empty">
        <h2>Nothing matches</h2>
        <p>No {view.title.toLowerCase()} with these filters.</p>
        <button type="button" onClick={() => go({ filters: {} })}>
          Show all
        </button>
      </div>
    )
  const { title, text, commands } = view.empty
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {commands.map((command) => (
        <Command key={command} text={command} />
      ))}
    </div>
  )
}

/** A command to be typed in a terminal, or copied. */
export function Command({ text }: { text: string }) {
  return (
    <p class="command">
      <code>{text}</code>
      <CopyButton text={() => text} label="Copy" />
    </p>
  )
}
