import { useState } from 'preact/hooks'
import { groupsOf } from '../../../../model/attempt-groups.ts'
import { type Attempt, type Delivery, deliveryWord } from '../../../../model/delivery.ts'
import { mostAttempts } from '../../../../model/retry-schedule.ts'
import type { SentRequest } from '../../../../model/simulator/sent-request.ts'
import { createdAt } from '../../../../model/text/time.ts'
import { DEFAULT_SERVICE_NAME } from '../../../../model/text/service-name.ts'
import { resend } from '../actions.ts'
import { CheckLink, Link } from '../address.tsx'
import { announceNow } from '../announce.tsx'
import { session } from '../api.ts'
import { advanceToAttempt } from '../clock-moves.tsx'
import { Countdown, elapsedText, Time } from '../clock.tsx'
import { deliveryCurl, verifyCommand } from '../commands.ts'
import { Action, Badge, CopyButton, Fields, Heading, NotLoaded, Section, StatusCode } from '../elements.tsx'
import { registerAgain } from '../endpoint-actions.tsx'
import { useKeys } from '../keyboard.tsx'
import { useRead } from '../live.ts'
import { endpointName } from '../views/endpoints.tsx'
import { RequestSent, ResponseReceived } from './exchange.tsx'

/** A delivery: why it failed, its attempts with request and response, and the actions that resend it. */
export function DeliveryDetail({ id }: { id: string }) {
  const path = `/deliveries/${encodeURIComponent(id)}`
  const [chosen, setChosen] = useState<number>()
  const { value, problem } = useRead<Delivery>(path)
  const request = useRead<SentRequest>(`${path}/request${chosen === undefined ? '' : `?attempt=${chosen}`}`)
  if (value === undefined) return <NotLoaded problem={problem} />
  const { attempts } = value
  const sent = request.value
  const shown = attempts.find(({ number }) => number === (chosen ?? attempts.length))
  return (
    <>
      <Heading kind="Delivery" name={value.event_type}>
        <Badge word={deliveryWord(value)} />
      </Heading>
      <Actions delivery={value} sent={sent} />
      <DeliveryFields delivery={value} sent={sent} />
      <Section title={attempts.length === 0 ? 'No attempts' : 'Attempts'}>
        {attempts.length === 0 ? (
          <p>{untriedText(value, sent)}</p>
        ) : (
          <Attempts attempts={attempts} shown={shown?.number} onShow={setChosen} />
        )}
      </Section>
      {shown !== undefined && <ResponseReceived attempt={shown} />}
      {sent === undefined ? <NotLoaded problem={request.problem} /> : <RequestSent sent={sent} />}
    </>
  )
}

/** Says why a delivery has no attempts. */
function untriedText({ status }: Delivery, sent: SentRequest | undefined): string {
  if (status !== 'dead') return 'The first attempt has not been made yet.'
  const why = sent?.endpoint.status === 'removed' ? 'removed' : 'disabled'
  return `This delivery was never attempted. Its endpoint was ${why} before the first attempt.`
}

function DeliveryFields({ delivery, sent }: { delivery: Delivery; sent: SentRequest | undefined }) {
  const { id, event_type, event_id, endpoint_id, external_check_id, attempts } = delivery
  const { dead_reason, next_attempt_at } = delivery
  const most = mostAttempts(event_type)
  const isRemoved = sent?.endpoint.status === 'removed'
  return (
    <Fields
      rows={[
        [
          'Failure',
          dead_reason === 'exhausted'
            ? `${most === 1 ? 'The only attempt' : `All ${most} attempts`} failed`
            : dead_reason === null
              ? ''
              : `The endpoint was ${isRemoved ? 'removed' : 'disabled'}`,
        ],
        [
          'Next attempt',
          next_attempt_at !== null && (
            <>
              {attempts.length + 1} of {most}, <Countdown to={next_attempt_at} />
            </>
          ),
        ],
        [
          'Endpoint',
          isRemoved ? (
            `${sent.url ?? endpoint_id} (removed)`
          ) : (
            <Link to={{ open: endpoint_id }}>{sent?.url ?? endpointName(endpoint_id)}</Link>
          ),
        ],
        ['Check', external_check_id !== null && <CheckLink id={external_check_id} />],
        ['Event', <Link to={{ open: event_id }}>{event_id}</Link>],
        ['Delivery', <code>{id}</code>],
        ['Created', <Time at={createdAt(id)} />],
      ]}
    />
  )
}

interface ActionsProps {
  delivery: Delivery
  sent: SentRequest | undefined
}

function Actions({ delivery: { id, next_attempt_at }, sent }: ActionsProps) {
  const name = typeof session.value === 'string' ? DEFAULT_SERVICE_NAME : session.value.service_name
  const refusal = sent === undefined ? undefined : refusalOf(sent)
  useKeys(
    {
      r: () => (refusal === undefined ? resend(id, true) : announceNow(refusal)),
      ...(next_attempt_at !== null && { a: () => advanceToAttempt(id) }),
    },
    [id, refusal, next_attempt_at],
  )
  const refusedBy = refusal === undefined ? undefined : 'why-not-resent'
  return (
    <>
      <div class="buttons">
        <Action kind="main" refusedBy={refusedBy} onClick={() => resend(id, true)}>
          Resend
        </Action>
        <Action refusedBy={refusedBy} onClick={() => resend(id, false)}>
          Resend verbatim
        </Action>
        {next_attempt_at !== null && (
          <button type="button" onClick={() => advanceToAttempt(id)}>
            Advance clock to next attempt
          </button>
        )}
        {sent !== undefined && <CopyButton label="Copy as curl" text={() => deliveryCurl(sent, name)} />}
        {sent?.unsigned_reason === null && (
          <CopyButton
            label="Copy as tabwire verify"
            hint="The command reads the signing secret from the variable WEBHOOK_SECRET."
            text={() => verifyCommand(id)}
          />
        )}
      </div>
      {refusal !== undefined && sent !== undefined && <Refusal text={refusal} sent={sent} />}
    </>
  )
}

/** Returns why a delivery cannot be resent; `undefined` when it can. */
function refusalOf({ endpoint: { status, disabled_reason } }: SentRequest): string | undefined {
  if (status === 'removed') return 'Cannot resend: the endpoint was removed.'
  if (status === 'disabled')
    return `Cannot resend: the endpoint is disabled (${disabled_reason ?? 'no reason stored'}).`
  return undefined
}

/** Why a delivery cannot be resent, and a way to receive further events. */
function Refusal({ text, sent: { url, endpoint } }: { text: string; sent: SentRequest }) {
  const { event_types } = endpoint
  return (
    <div class="notice wait refusal">
      <p id="why-not-resent">
        {text} A new endpoint with the same URL receives further events.
        {event_types.length === 0 && ' It subscribes to all events.'}
      </p>
      {url !== null && (
        <Action onClick={() => registerAgain({ url, event_types: [...event_types] })}>Register again</Action>
      )}
    </div>
  )
}

interface AttemptsProps {
  attempts: readonly Attempt[]
  /** Number of the attempt whose request and response are shown. */
  shown: number | undefined
  onShow: (number: number) => void
}

/** All attempts, newest first; attempts with the same result are one line, which unfolds. */
function Attempts({ attempts, shown, onShow }: AttemptsProps) {
  const line = (attempt: Attempt) => (
    <Line
      key={attempt.number}
      attempt={attempt}
      isShown={attempt.number === shown}
      onShow={attempts.length === 1 ? undefined : onShow}
    />
  )
  return (
    <ol class="attempts" reversed>
      {groupsOf(attempts)
        .toReversed()
        .map((group) => {
          const [first] = group
          const last = group.at(-1)
          if (first === undefined || last === undefined) return null
          return (
            <li key={first.number}>
              {first === last ? (
                line(first)
              ) : (
                <details>
                  <summary>
                    <b>
                      #{first.number}–#{last.number}
                    </b>{' '}
                    <Result attempt={first} /> <span class="quiet">{group.length} times the same, last</span>{' '}
                    <Time at={last.started_at} />
                  </summary>
                  <div class="same">{group.toReversed().map(line)}</div>
                </details>
              )}
              {first.error !== null && <p class="reason">{first.error}</p>}
            </li>
          )
        })}
    </ol>
  )
}

interface LineProps {
  attempt: Attempt
  isShown: boolean
  onShow: ((number: number) => void) | undefined
}

function Line({ attempt, isShown, onShow }: LineProps) {
  const { number, started_at, duration_ms } = attempt
  return (
    <p class="line">
      <b>#{number}</b> <Time at={started_at} /> <Result attempt={attempt} />{' '}
      <span class="quiet">{elapsedText(duration_ms)}</span>{' '}
      {onShow !== undefined && (
        <button type="button" class="plain" aria-pressed={isShown} onClick={() => onShow(number)}>
          Show<span class="spoken"> request and response of attempt {number}</span>
        </button>
      )}
    </p>
  )
}

function Result({ attempt: { outcome, response_status, faults } }: { attempt: Attempt }) {
  return (
    <>
      <Badge word={outcome} /> {response_status !== null && <StatusCode status={response_status} />}
      {faults !== undefined && <span class="tag">fault: {faults.join(', ')}</span>}
    </>
  )
}
