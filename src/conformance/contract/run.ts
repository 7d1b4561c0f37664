import { setTimeout as sleep } from 'node:timers/promises'
import { INTERRUPTED, untilInterrupted, type CaseResult, type Verdict } from '../report.ts'
import { access } from './access.ts'
import { isLater, isSuccess, NoAnswer, type ServiceResponse } from './ask.ts'
import type { ContractCase } from './case.ts'
import { Broken, NotChecked } from './outcome.ts'
import { checks, refusedWhole } from './checks.ts'
import { conflicts } from './conflicts.ts'
import { deliveries, lateDeliveries } from './deliveries.ts'
import { endpoints, secretOnce } from './endpoints.ts'
import { everyAnswer, idsDiffer, requests } from './requests.ts'
import { retries } from './retries.ts'
import type { Target } from './target.ts'

/** The specification as cases. Retries move the clock, so they come last. */
export const contractCases: readonly ContractCase[] = [
  ...requests,
  ...access,
  ...checks,
  ...conflicts,
  ...endpoints,
  ...deliveries,
  ...lateDeliveries,
  ...retries,
  secretOnce,
  refusedWhole,
  idsDiffer,
  everyAnswer,
]

/** After this many cases without an answer, each of which took seconds, the rest does not run. */
const MOST_SILENT = 2

/** Requests that succeeded before the first case. A service that refuses them later has stopped working. */
export interface Working {
  locations: boolean
  pushes: boolean
}

/** Runs the cases one after the other. Every case gets a verdict, also when the service fails or the run is interrupted. */
export async function runContract(
  target: Target,
  cases: readonly ContractCase[],
  working: Working,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const causes: unknown[] = []
  let silent = 0
  /** Why the rest does not run. */
  let end: string | undefined
  for (const [index, one] of cases.entries()) {
    const { group, id, title, section } = one
    tell(`${index + 1} of ${cases.length}  ${group}/${id}`)
    const started = performance.now()
    const before = target.silences()
    let seen = end === undefined ? await judge(target, one, signal) : skipped(results, end)
    if (end === undefined && !signal.aborted) {
      if (seen.silent === true) silent += 1
      const isSuspect = seen.verdict === 'failed' || target.silences() > before
      const gone = await whyGone(target, { ...working, pushes: working.pushes && isSuspect })
      if (gone !== undefined) end = gone
      else if (silent >= MOST_SILENT) end = `the service did not respond in ${MOST_SILENT} earlier cases`
      // A service that is down, or a key that has expired, breaks no rule and keeps none.
      if (gone !== undefined)
        seen = {
          verdict: 'error',
          detail: seen.detail === null ? `Not checked: ${gone}.` : `${sentence(seen.detail)} Then ${gone}.`,
        }
    }
    const duration_ms = Math.round(performance.now() - started)
    const { verdict } = seen
    const detail = seen.detail === null ? null : reportable(seen.detail, target.secrets())
    const basis = 'observe' in one ? 'open' : one.basis
    causes.push(seen.cause)
    results.push({
      group,
      id,
      title,
      basis,
      reason: `Specification, ${section}.`,
      verdict,
      detail,
      duration_ms,
    })
  }
  return results.map((result, index) => dependent(result, causes[index], results, causes))
}

/** Names the failed case in a case that was not checked because its control failed with the same error. */
function dependent(
  result: CaseResult,
  cause: unknown,
  results: readonly CaseResult[],
  causes: readonly unknown[],
): CaseResult {
  if (result.verdict !== 'not_checked' || cause === undefined) return result
  const broken = results.find(({ verdict }, index) => verdict === 'failed' && causes[index] === cause)
  if (broken === undefined) return result
  return { ...result, detail: `Not checked: depends on ${broken.group}/${broken.id}, which failed.` }
}

interface Seen {
  verdict: Verdict
  detail: string | null
  /** Thrown errors: cases with the same error share one reason. */
  cause?: unknown
  silent?: boolean
}

/** A text that may end with what the service wrote, with a period at its end. */
function sentence(text: string | null): string {
  return (text ?? '').trimEnd().replace(/[^.]$/, '$&.')
}

/** Attempts of a request whose response may be that of a passing failure, and the time between two, in milliseconds. */
const LOOKS = 2
const LOOK_AGAIN_MS = 200

/** Repeats what succeeded before the first case. Returns why the rest cannot be judged; `undefined` while the service works. */
async function whyGone(target: Target, { locations, pushes }: Working): Promise<string | undefined> {
  const list = () => target.ask('GET', '/locations')
  const push = () => {
    const check = target.freshCheck()
    return target.ask('PUT', check.path, { json: target.body(check, [check.item('a')]) })
  }
  return (
    (await whyRefused('GET /locations', list, locations)) ??
    (pushes ? await whyRefused('a push', push, true) : undefined)
  )
}

async function whyRefused(
  name: string,
  send: () => Promise<ServiceResponse>,
  hasWorked: boolean,
): Promise<string | undefined> {
  for (let look = 1; ; look += 1) {
    const answer = await send().catch((error: unknown) => {
      if (error instanceof NoAnswer) return undefined
      // A rate limiter, which says nothing about the service behind it.
      if (error instanceof NotChecked) return { status: 429, headers: {} }
      throw error
    })
    if (answer === undefined) return 'the service stopped responding'
    const { status } = answer
    const isRefusal = status === 401 || status === 403
    if (!hasWorked || isSuccess(answer) || isLater(answer) || (!isRefusal && status < 500)) return undefined
    if (look < LOOKS) await sleep(LOOK_AGAIN_MS)
    else if (isRefusal) return `the service now refuses the API key: ${name} returned ${status}`
    else return `the service, or a proxy before it, now fails: ${name} returned ${status}`
  }
}

/** The first skipped case is an error unless a rule was broken before. Otherwise a run with unchecked cases would pass. */
function skipped(results: readonly CaseResult[], why: string): Seen {
  const isKnown = results.some(
    ({ verdict, basis }) => verdict === 'error' || (verdict === 'failed' && basis === 'specification'),
  )
  return { verdict: isKnown ? 'not_checked' : 'error', detail: `Not checked: ${why}.` }
}

async function judge(target: Target, one: ContractCase, signal: AbortSignal): Promise<Seen> {
  const interrupted: Seen = { verdict: 'not_checked', detail: INTERRUPTED }
  if (signal.aborted) return interrupted
  const work = 'observe' in one ? observe(target, one) : examine(target, one)
  try {
    return await untilInterrupted(work, signal)
  } catch (error) {
    if (signal.aborted) return interrupted
    return verdictOf(error)
  }
}

async function observe(target: Target, one: Extract<ContractCase, { observe: unknown }>): Promise<Seen> {
  try {
    return { verdict: 'observed', detail: await one.observe(target) }
  } catch (error) {
    // Nothing that an observation meets breaks a rule: the cases judge that.
    return { ...verdictOf(error), verdict: 'not_checked', detail: notChecked(error) }
  }
}

async function examine(target: Target, one: Exclude<ContractCase, { observe: unknown }>): Promise<Seen> {
  if (one.control !== undefined && one.control !== one.check) {
    const failure = await one.control(target).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure !== undefined)
      return { ...verdictOf(failure), verdict: 'not_checked', detail: notChecked(failure) }
  }
  await one.check(target)
  return { verdict: 'passed', detail: null }
}

/** @throws errors that are not verdicts: bugs. */
function verdictOf(error: unknown): Seen {
  if (error instanceof NotChecked) return { verdict: 'not_checked', detail: notChecked(error) }
  if (error instanceof Broken) return { verdict: 'failed', detail: error.message, cause: error }
  if (error instanceof NoAnswer) return { verdict: 'failed', detail: `${error.message}.`, silent: true }
  throw error
}

function notChecked(error: unknown): string {
  if (error instanceof NoAnswer) return `Not checked: ${error.message}.`
  return `Not checked: ${error instanceof Error ? error.message : String(error)}`
}

/** The most characters of a detail in the report. */
const MOST_LENGTH = 600
/** A shorter key is not hidden: it may be a word of any text, such as `key`. */
const MIN_SECRET = 8

/**
 * Makes a text that may quote the service fit for a report: hides keys and secrets, and escapes control
 * characters and line breaks. The text ends after `MOST_LENGTH` characters.
 */
export function reportable(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .flatMap((secret) => formsOf(secret))
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
    .replace(/whsec_[^\s"'<>,;.\\)\]}]+/g, 'whsec_[hidden]')
  const line = hidden.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escaped)
  return line.length > MOST_LENGTH ? `${line.slice(0, MOST_LENGTH).trimEnd()}…` : line
}

/** A key as it is, and as a service may quote it from the header. */
function formsOf(secret: string): string[] {
  const base64 = [secret, `Bearer ${secret}`].map((one) => Buffer.from(one).toString('base64'))
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    json,
    // PHP escapes slashes in JSON, and .NET these.
    json.replaceAll('/', String.raw`\/`),
    json.replace(/[&'+<>`]/g, (one) => `\\u00${one.charCodeAt(0).toString(16).toUpperCase()}`),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    ...base64.map((one) => one.replace(/=+$/, '')),
  ]
}

function escaped(character: string): string {
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
  return named ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
