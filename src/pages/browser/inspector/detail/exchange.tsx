import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Attempt, HttpHeader } from '../../../../model/delivery.ts'
import type { SentRequest } from '../../../../model/simulator/sent-request.ts'
import { formatTime } from '../../../../model/text/time.ts'
import { elapsedText, Time } from '../clock.tsx'
import { Badge, CopyButton, Section, StatusCode } from '../elements.tsx'
import { count } from '../../../../model/text/count.ts'

/** The request of an attempt as it was sent. */
export function RequestSent({ sent }: { sent: SentRequest }) {
  const { attempt, method, url, headers, unsigned_reason, body } = sent
  return (
    <Section title={attempt === null ? 'Request, not sent yet' : `Request of attempt ${attempt}`}>
      <p class="request-line">
        <b>{method}</b> {url ?? 'The URL is unknown: the endpoint was removed.'}
      </p>
      <Headers headers={headers} copyLabel="Copy request headers" />
      {unsigned_reason === null ? (
        <Signature headers={headers} />
      ) : (
        <p class="quiet">No signature header. {unsigned_reason}</p>
      )}
      <Body text={body} label="Request body" />
    </Section>
  )
}

/** Headers in their order, which may repeat a name. Copies them one per line. */
function Headers({ headers, copyLabel }: { headers: readonly HttpHeader[]; copyLabel: string }) {
  return (
    <>
      <dl class="headers">
        {headers.map(({ name, value }, index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="buttons">
        <CopyButton
          label={copyLabel}
          text={() => headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
        />
      </p>
    </>
  )
}

/** Explains the parts of the signature header. */
function Signature({ headers }: Pick<SentRequest, 'headers'>) {
  const header = headers.find(({ name }) => /^x-.*-signature$/i.test(name))
  const [, seconds, digest] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(header?.value ?? '') ?? []
  if (header === undefined || seconds === undefined || digest === undefined) return null
  const signedAt = new Date(Number(seconds) * 1_000).toISOString()
  return (
    <dl class="headers signature" aria-label={`Parts of ${header.name}`}>
      <div>
        <dt>t</dt>
        <dd>
          {seconds}
          <span class="quiet">Time of the signature in Unix seconds: {formatTime(signedAt)} UTC</span>
        </dd>
      </div>
      <div>
        <dt>v1</dt>
        <dd>
          {digest}
          <span class="quiet">
            HMAC-SHA256 in hex of <code>t.body</code> with the signing secret of the endpoint
          </span>
        </dd>
      </div>
    </dl>
  )
}

/** The response to an attempt, or why there is none. */
export function ResponseReceived({ attempt }: { attempt: Attempt }) {
  const { number, outcome, response_status, response_body, duration_ms, started_at } = attempt
  return (
    <Section title={`Response to attempt ${number}`}>
      <p class="line">
        {response_status === null ? <Badge word={outcome} /> : <StatusCode status={response_status} />}{' '}
        <span class="quiet">
          in {elapsedText(duration_ms)}, <Time at={started_at} />
        </span>
      </p>
      {response_status === null ? (
        <p>No response.</p>
      ) : (
        <>
          <ResponseHeaders attempt={attempt} />
          <p class="quiet">
            {response_body === null || response_body === ''
              ? 'The body is empty.'
              : 'The body, at most 4 KiB.'}
          </p>
        </>
      )}
      {response_body !== null && response_body !== '' && <Body text={response_body} label="Response body" />}
    </Section>
  )
}

function ResponseHeaders({
  attempt: { response_headers: headers, response_headers_cut: isCut },
}: {
  attempt: Attempt
}) {
  if (headers === undefined)
    return <p class="quiet">The headers are not stored, because an early version made this attempt.</p>
  return (
    <>
      {headers.length === 0 ? (
        <p class="quiet">The response has no headers.</p>
      ) : (
        <Headers headers={headers} copyLabel="Copy response headers" />
      )}
      {isCut === true && (
        <p class="quiet">The headers are cut. Only the first 100 headers and 4 KiB are stored.</p>
      )}
    </>
  )
}

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
          {` ${count(entries.length, isList ? 'item' : 'field')} `}
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
