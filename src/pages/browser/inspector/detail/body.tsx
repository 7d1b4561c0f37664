import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../elements.tsx'

/** Characters of a body that is not JSON which are shown before "Show all". */
const SHORT = 2_000

/** Longest JSON that is shown as a tree, in characters; a longer one takes too long to render. */
const LONGEST_TREE = 100_000

/** Depth below which values are folded in a long body. */
const OPEN_DEPTH = 2

/** A body: JSON indented and coloured, with objects and lists that fold; other text as it is. Copies the exact text. */
export function Body({ text, label }: { text: string; label: string }) {
  const value = useMemo(() => parsed(text), [text])
  const [fold, setFold] = useState<{ all?: 'open' | 'folded'; turn: number }>({ turn: 0 })
  const isTree = typeof value === 'object' && value !== null
  const toggle = (all: 'open' | 'folded') => setFold(({ turn }) => ({ all, turn: turn + 1 }))
  return (
    <div class="content">
      <p class="buttons">
        <CopyButton text={() => text} label={`Copy ${label.toLowerCase()}`} />
        {isTree && (
          <>
            <button type="button" onClick={() => toggle('folded')}>
              Fold all
            </button>
            <button type="button" onClick={() => toggle('open')}>
              Unfold all
            </button>
          </>
        )}
      </p>
      {isTree ? (
        <div class="body" tabIndex={0} role="region" aria-label={label}>
          <Value
            key={fold.turn}
            value={value}
            isOpenAt={(depth) =>
              fold.all === undefined ? text.length < SHORT || depth <= OPEN_DEPTH : fold.all === 'open'
            }
          />
        </div>
      ) : (
        <Text text={text} label={label} />
      )}
    </div>
  )
}

function Text({ text, label }: { text: string; label: string }) {
  const [whole, setWhole] = useState(false)
  const isCut = text.length > SHORT && !whole
  return (
    <>
      <pre class="body" tabIndex={0} role="region" aria-label={label}>
        {isCut ? `${text.slice(0, SHORT)}…` : text}
      </pre>
      {isCut && (
        <button type="button" class="plain" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

function parsed(text: string): unknown {
  try {
    return text.length > LONGEST_TREE ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

interface ValueProps {
  value: unknown
  /** The key and its colon. */
  before?: ComponentChildren
  /** The comma before the next value. */
  after?: string
  depth?: number
  isOpenAt: (depth: number) => boolean
}

/** A JSON value; an object or a list with content folds. */
function Value({ value, before, after = '', depth = 0, isOpenAt }: ValueProps) {
  if (typeof value !== 'object' || value === null)
    return (
      <div>
        {before}
        <span class={value === null ? 'literal' : typeof value}>{JSON.stringify(value)}</span>
        {after}
      </div>
    )
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  const entries = Object.entries(value)
  if (entries.length === 0)
    return (
      <div>
        {before}
        {open}
        {close}
        {after}
      </div>
    )
  return (
    <details open={isOpenAt(depth)}>
      <summary>
        {before}
        {open}
        <span class="fold">
          {` ${entries.length} ${isList ? 'items' : 'fields'} `}
          {close}
          {after}
        </span>
      </summary>
      <div class="within">
        {entries.map(([name, child], index) => (
          <Value
            key={name}
            value={child}
            before={isList ? undefined : <Key name={name} />}
            after={index < entries.length - 1 ? ',' : ''}
            depth={depth + 1}
            isOpenAt={isOpenAt}
          />
        ))}
      </div>
      <div class="end">
        {close}
        {after}
      </div>
    </details>
  )
}

function Key({ name }: { name: string }) {
  return (
    <>
      <span class="key">{JSON.stringify(name)}</span>:{' '}
    </>
  )
}
