import type { LoggedRequest } from '../../../../model/simulator/request-entry.ts'
import { Badge, StatusCode } from '../badge.tsx'
import { requestCurl } from '../commands.ts'
import { CopyButton } from '../copy-button.tsx'
import { FindingLink, findingsOf } from '../findings.tsx'
import { Link } from '../link.tsx'
import { Moment } from '../moment.tsx'
import { tookText } from '../time-text.ts'
import { Diff } from './diff.tsx'
import { Body, Fields, Heading, Missing, Section } from './parts.tsx'
import { useAsked } from '../use-asked.ts'

/** A request: what was asked, what was answered, and of a push what it changed and what is odd about it. */
export function RequestDetail({ id }: { id: string }) {
  const { value, problem } = useAsked<LoggedRequest>(`/requests/${encodeURIComponent(id)}`)
  if (value === undefined) return <Missing problem={problem} />
  const { method, path, status, started_at, duration_ms, push, request_body, response_body, faults } = value
  const diff = push?.diff ?? null
  const findings = findingsOf(value)
  return (
    <>
      <Heading
        kind={push === null ? 'Request' : 'Push'}
        name={push?.external_check_id ?? `${method} ${path}`}
      >
        {push === null ? <StatusCode status={status} /> : <Badge word={push.outcome} />}
      </Heading>
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => requestCurl(location.origin, value)} />
        <CopyButton label="Copy X-Request-Id" text={() => id} />
      </div>
      <Fields
        rows={[
          ['X-Request-Id', <code>{id}</code>],
          ['Request', <code>{`${method} ${path}`}</code>],
          ['Status', <StatusCode status={status} />],
          ['Started', <Moment at={started_at} />],
          ['Took', tookText(duration_ms)],
          [
            'Check',
            push !== null && (
              <Link to={{ open: `check/${push.external_check_id}` }}>{push.external_check_id}</Link>
            ),
          ],
          ['Faults', faults?.join(', ')],
        ]}
      />
      {findings.length > 0 && (
        <Section title="Findings">
          <ul class="findings-list">
            {findings.map(({ code, message }) => (
              <li key={code + message}>
                <FindingLink code={code} /> {message}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {diff !== null && (
        <Section title="What it changed">
          <Diff diff={diff} />
        </Section>
      )}
      {request_body !== null && (
        <Section title="Asked">
          <Body text={request_body} label="The body of the request" />
        </Section>
      )}
      {response_body !== null && (
        <Section title="Answered">
          <Body text={response_body} label="The body of the answer" />
        </Section>
      )}
    </>
  )
}
