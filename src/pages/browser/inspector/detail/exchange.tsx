import type { Attempt, HttpHeader } from '../../../../model/delivery.ts'
import type { SentRequest } from '../../../../model/simulator/sent-request.ts'
import { elapsedText, Time } from '../clock.tsx'
import { Badge, CopyButton, Section, StatusCode } from '../elements.tsx'
import { Body } from './body.tsx'

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
          <span class="quiet">
            Time of the signature in Unix seconds: {signedAt.slice(0, 19).replace('T', ' ')} UTC
          </span>
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
