import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Attempt } from '../../../model/delivery.ts'
import { busy } from './actions.ts'
import { copy, showBlocked } from './announce.tsx'
import { elapsedText } from './clock.tsx'
import { signs, toneOf, toneOfCode } from './tones.ts'

/** A status word with colour and sign. */
export function Badge({ word }: { word: string }) {
  const tone = toneOf(word)
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {word}
    </span>
  )
}

/** The status code of an HTTP response. */
export function StatusCode({ status }: { status: number }) {
  return <span class={`code ${toneOfCode(status)}`}>{status}</span>
}

/** The result of an attempt: the receiver's status code or the outcome, and the duration. */
export function AttemptSummary({
  attempt: { outcome: word, response_status, duration_ms },
}: {
  attempt: Attempt
}) {
  return (
    <>
      {response_status === null ? <Badge word={word} /> : <StatusCode status={response_status} />}{' '}
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
export function NotLoaded({ problem }: { problem: string | undefined }) {
  return problem === undefined ? <p class="quiet">Loading…</p> : <p class="notice bad">{problem}</p>
}

interface ActionProps {
  onClick: () => void
  kind?: 'main' | 'danger'
  /** Id of the element that says why the action is not possible; the button is then inactive. */
  refusedBy?: string | undefined
  children: ComponentChildren
}

/** A button that changes the service; inactive while another action is in flight. */
export function Action({ onClick, kind, refusedBy, children }: ActionProps) {
  const isRefused = refusedBy !== undefined
  return (
    <button
      type="button"
      class={isRefused ? 'refused' : kind}
      aria-disabled={busy.value || isRefused || undefined}
      aria-describedby={refusedBy}
      onClick={() => busy.peek() || isRefused || onClick()}
    >
      {children}
    </button>
  )
}

/** A terminal command with a button that copies it. */
export function Command({ text }: { text: string }) {
  return (
    <p class="command">
      <code>{text}</code>
      <CopyButton text={() => text} label="Copy" isShown />
    </p>
  )
}

/** Milliseconds for which a copy button says "Copied". */
const COPIED_MS = 1_500

interface CopyProps {
  text: () => string | Promise<string>
  label: string
  /** Tooltip: requirements of the copied text. */
  hint?: string
  /** True when the text is beside the button. */
  isShown?: boolean
}

/** A button that copies a text, which is made at the click. Where the browser blocks that, the text is shown. */
export function CopyButton({ text, label, hint, isShown = false }: CopyProps) {
  const [result, setResult] = useState<string>()
  const onClick = async () => {
    const copied = await text()
    const isCopied = await copy(copied)
    if (isCopied) setResult('Copied')
    else if (isShown) setResult('Copying is blocked')
    else return showBlocked(copied)
    setTimeout(() => setResult(undefined), COPIED_MS)
  }
  return (
    <button type="button" class="copy" title={hint} onClick={() => void onClick()}>
      {result ?? label}
    </button>
  )
}
