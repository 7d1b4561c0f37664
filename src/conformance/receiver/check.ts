import { createNewId } from '../../ids.ts'
import { makeReport, type ConformanceReport } from '../report/result.ts'
import type { ReceiverCase } from './case.ts'
import { createConvergence, type StateCheck } from './convergence/judge.ts'
import { readExamples } from './examples.ts'
import { bytes, createForge } from './forge.ts'
import { runReceiverCases, unanswered } from './run.ts'
import { createSend, type Destination } from './send.ts'

/** Of specification section 8, in milliseconds. */
const ANSWER_MS = 10_000

export interface ReceiverCheck extends Omit<Destination, 'timeoutMs' | 'signal'> {
  secret: string
  /** Seconds. */
  tolerance: number
  serviceName: string
  cases: readonly ReceiverCase[]
  /** Where the receiver shows its state, for the cases that look at it. */
  state?: StateCheck | undefined
  /** How long each answer is waited for, in milliseconds: 10 s unless a test has less time. */
  timeoutMs?: number
  /** Ends the check early, with a report of what has been found by then. */
  signal?: AbortSignal
  /** Advice that is not kept fails, too. */
  strict?: boolean
  /** Is told of each case as it begins; of the plain delivery before them, with no case. */
  begin?: (one?: ReceiverCase, index?: number) => void
}

/**
 * Checks a receiver with the cases given.
 * @throws Error when nothing can be reached there.
 */
export async function checkReceiver(check: ReceiverCheck): Promise<ConformanceReport> {
  const started = performance.now()
  const now = () => Date.now()
  const newId = createNewId(() => new Date())
  const forge = createForge({ ...check, examples: await readExamples(), newId: () => newId('evt'), now })
  const {
    timeoutMs = ANSWER_MS,
    signal = new AbortController().signal,
    strict = false,
    begin = () => undefined,
  } = check
  const send = createSend({ ...check, timeoutMs, signal })
  begin()
  const probe = await send(forge.genuine(bytes(forge.envelope())))
  if ('code' in probe && unreachable.test(probe.code))
    throw new Error(
      `${check.url.origin} cannot be checked: ${probe.error} (${probe.code}).${hint(probe.code)}`,
    )
  const convergence = check.state && createConvergence({ state: check.state, forge, newId, signal })
  const cases =
    'code' in probe && probe.code === 'TIMEOUT'
      ? unanswered(check.cases, timeoutMs)
      : await runReceiverCases(
          check.cases,
          { forge, send, ...(convergence && { convergence }) },
          { timeoutMs, signal, begin },
        )
  await convergence?.close()
  const duration_ms = Math.round(performance.now() - started)
  const interrupted = signal.aborted
  return makeReport({
    suite: 'receiver check',
    target: shown(check.url),
    interrupted,
    strict,
    duration_ms,
    cases,
  })
}

const unreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO|ERR_TLS_.*|ERR_SSL_.*|.*CERT.*|.*SIGNATURE.*)$/

function hint(code: string): string {
  return /CERT|SIGNATURE/.test(code) ? ' Pass its authority with --cacert, or --insecure.' : ''
}

/** Without the query, which may hold a token. */
function shown({ origin, pathname }: URL): string {
  return origin + pathname
}
