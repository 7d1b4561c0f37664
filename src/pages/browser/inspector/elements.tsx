import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Attempt } from '../../../model/delivery.ts'
import { busy } from './actions.ts'
import { outcome } from './announce.tsx'
import { elapsedText } from './clock.tsx'

/** Colour, sign and words of each kind of badge; the signs differ by shape, for readers who do not see the colours. */
const badgeKinds = {
  good: ['✓', ['delivered', 'succeeded', 'created', 'updated', 'enabled', 'open', 'paid', 'fully paid']],
  wait: ['◔', ['pending', 'retrying', 'held', 'active', 'stale']],
  calm: ['–', ['unchanged', 'closed', 'released', 'refunded', 'partially refunded']],
} as const

/** A status word with colour and sign; a word in no list counts as bad. */
export function Badge({ word }: { word: string }) {
  const [kind, [sign]] = Object.entries(badgeKinds).find(([, [, words]]) =>
    (words as readonly string[]).includes(word),
  ) ?? ['bad', ['✗']]
  return (
    <span class={`badge ${kind}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  )
}

/** The status code of an HTTP response. Of a receiver's (`received`), all but 2xx are bad; of the service's, 4xx only warn. */
export function StatusCode({ status, received = false }: { status: number; received?: boolean }) {
  const refused = received || status >= 500 ? 'bad' : 'wait'
  return <span class={`code ${status >= 200 && status < 300 ? 'good' : refused}`}>{status}</span>
}

/** The result of an attempt: the receiver's status code or the outcome, and the duration. */
export function AttemptResult({
  attempt: { outcome: word, response_status, duration_ms },
}: {
  attempt: Attempt
}) {
  return (
    <>
      {response_status === null ? <Badge word={word} /> : <StatusCode status={response_status} received />}{' '}
      <span class="quiet">{elapsedText(duration_ms)}</span>
    </>
  )
}

/** The heading of a record: its kind and its name. */
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

/** The fields of a record, one per line; empty values are left out. */
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

/** Stands for a value that is still being read, or could not be read. */
export function Missing({ problem }: { problem: string | undefined }) {
  return problem === undefined ? <p class="quiet">Loading…</p> : <p class="notice bad">{problem}</p>
}

interface ActionProps {
  onClick: () => void
  kind?: 'main' | 'danger'
  children: ComponentChildren
}

/** A button that changes the service; inactive while another action is in flight. */
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

/** Characters of a body that are shown before "Show all". */
const SHORT = 2_000

/** A body as text; JSON is indented, a long body is cut until the user asks for all of it. */
export function Body({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false)
  const indented = indent(text)
  const isLong = indented.length > SHORT
  return (
    <>
      <pre class="body" tabIndex={0} role="region" aria-label={label}>
        {whole || !isLong ? indented : `${indented.slice(0, SHORT)}…`}
      </pre>
      {isLong && !whole && (
        <button type="button" class="plain" onClick={() => setWhole(true)}>
          Show all {indented.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A terminal command with a button that copies it. */
export function Command({ text }: { text: string }) {
  return (
    <p class="command">
      <code>{text}</code>
      <CopyButton text={() => text} label="Copy" />
    </p>
  )
}

/** Milliseconds for which a copy button says "Copied". */
const COPIED_MS = 1_500

/** A button that copies a text, which is made at the click. */
export function CopyButton({ text, label }: { text: () => string | Promise<string>; label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    const words = await text()
    try {
      await navigator.clipboard.writeText(words)
      setCopied(true)
      setTimeout(() => setCopied(false), COPIED_MS)
    } catch {
      // Browsers allow no copying on plain HTTP from another machine.
      outcome.value = { text: `The browser blocked copying. Copy this text: ${words}`, bad: true }
    }
  }
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {copied ? 'Copied' : label}
    </button>
  )
}
