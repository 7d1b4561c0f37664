import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { busy } from '../act.ts'

/** The heading of what is opened: what kind of thing it is, and its name. */
export function Heading({
  kind,
  name,
  children,
}: {
  kind: string
  name: string
  children?: ComponentChildren
}) {
  return (
    <header class="heading">
      <p class="kind">{kind}</p>
      <h2>{name}</h2>
      {children}
    </header>
  )
}

/** What there is to say of it, a line each; what is absent is left out. */
export function Fields({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="fields">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** While it has not come yet, and when it does not come. */
export function Missing({ problem }: { problem: string | undefined }) {
  return problem === undefined ? <p class="quiet">Loading…</p> : <p class="notice bad">{problem}</p>
}

interface ActionProps {
  onClick: () => void
  kind?: 'main' | 'danger'
  children: ComponentChildren
}

/** A button that does what a command does; none does anything while another is at work. */
export function Action({ onClick, kind, children }: ActionProps) {
  return (
    <button
      type="button"
      class={kind}
      aria-disabled={busy.value || undefined}
      onClick={() => busy.peek() || onClick()}
    >
      {children}
    </button>
  )
}

/** As much as is read at a glance. */
const SHORT = 2_000

/** A body as text: laid out when it is JSON, and in part when it is long. */
export function Body({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false)
  const laidOut = layOut(text)
  const isLong = laidOut.length > SHORT
  return (
    <>
      <pre class="body" tabIndex={0} role="region" aria-label={label}>
        {whole || !isLong ? laidOut : `${laidOut.slice(0, SHORT)}…`}
      </pre>
      {isLong && !whole && (
        <button type="button" class="plain" onClick={() => setWhole(true)}>
          Show all {laidOut.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
