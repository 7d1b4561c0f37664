import { Errors, Flags } from '@oclif/core'
import type { RecordedVerdict } from '../model/simulator/bundle.ts'
import { makeReport, type CaseResult, type ConformanceReport } from '../conformance/report.ts'
import {
  type Account,
  accountCodes,
  byCount,
  MOST_EXAMPLES,
  type FindingCode,
  findingCodes,
  type Problem,
  type RefusedPushes,
  type Report,
  type ReportedFinding,
} from '../model/simulator/report.ts'
import { NO_SUCH_PATH } from '../model/simulator/request-entry.ts'
import { byMessage } from './render/report.ts'
import { count } from '../model/text/count.ts'
import { printable } from './render/text.ts'
import type { Client } from '../client.ts'
import { didYouMeanSentence } from '../model/text/advice.ts'
import { fromEnvironment, splitAtCommas } from './flags.ts'

type AccountCode = (typeof accountCodes)[number]

const words: readonly string[] = [...findingCodes, ...accountCodes, 'any', 'none']

/**
 * Returns the findings and problems that `--fail-on` names.
 * @throws CLIError for an unknown one.
 */
export function failingCodes(given: string | readonly string[]): string[] {
  const codes = splitAtCommas(given)
  const unknown = codes.find((code) => !words.includes(code))
  if (unknown === undefined) return codes
  throw new Errors.CLIError(
    `--fail-on must be finding codes, any or none, got ${JSON.stringify(unknown)}.${didYouMeanSentence(unknown, words)} Finding codes: ${findingCodes.join(', ')}. Problems of the account: ${accountCodes.join(', ')}.`,
  )
}

/** Returns those codes that this version knows: another one may have recorded them. */
export function knownCodes(codes: readonly string[]): string[] {
  return codes.filter((code) => words.includes(code))
}

/** Flags of commands that can print the account. */
export const accountFlags = fromEnvironment({
  account: Flags.boolean({
    description: 'Also print the account: amounts of all checks, and what does not add up.',
  }),
  'all-closed': Flags.boolean({ description: 'Also expect every check to be closed; implies --account.' }),
})

/** Returns true when `--fail-on` names a problem that only an account shows. */
export function needsAccount(failOn: readonly string[]): boolean {
  return accountCodes.some((code) => failOn.includes(code))
}

/** A report, and the account where it was asked for. */
export interface Reported extends Report {
  account?: Account
}

/** Returns the report of a verdict, with its account where that is wanted. */
export function reportedOf({ report, account }: RecordedVerdict, withAccount: boolean): Reported {
  return withAccount ? { ...report, account } : report
}

/**
 * Returns true when a report has a finding or a problem of `--fail-on`. With `any`, misdirected calls fail, too; they are
 * the message of `misdirectedCalls`.
 */
export function fails(
  { findings, account }: Reported,
  failOn: readonly string[],
  misdirected: string | undefined,
): boolean {
  if (misdirected !== undefined && failOn.includes('any')) return true
  return [...findings, ...(account?.problems ?? [])].some(({ code }) => isFailing(code, failOn))
}

/** Returns one report of several, which follow each other: of a service whose state was replaced. */
export function mergedReport(reports: readonly Report[]): Report {
  const refused = new Map<string, RefusedPushes>()
  for (const one of reports.flatMap((report) => report.refused)) {
    const key = `${one.status} ${one.code}`
    refused.set(key, { ...one, count: one.count + (refused.get(key)?.count ?? 0) })
  }
  const all = reports.flatMap(({ findings }) => findings)
  const findings = findingCodes.flatMap((wanted) => {
    const [first, ...others] = all.filter(({ code }) => code === wanted)
    return first === undefined ? [] : [others.reduce(mergedFinding, first)]
  })
  return {
    since: null,
    pushes: reports.reduce((sum, { pushes }) => sum + pushes, 0),
    refused: [...refused.values()].toSorted(byCount),
    findings,
  }
}

function mergedFinding(earlier: ReportedFinding, later: ReportedFinding): ReportedFinding {
  return {
    ...later,
    count: earlier.count + later.count,
    first_at: earlier.first_at,
    requests: [...earlier.requests, ...later.requests].slice(-MOST_EXAMPLES),
  }
}

/** What a report means for the commands that print one. */
interface Judged {
  /** The report as cases, for JUnit and TAP. */
  cases: ConformanceReport
  /** Message to print after the report, when no push but misdirected calls arrived. */
  misdirected: string | undefined
  /** True when `--fail-on` names a finding or problem of it; with `any`, also for misdirected calls. */
  failed: boolean
}

/**
 * Judges the report of a service by the findings and problems that `--fail-on` names. `unlogged` is a message like
 * those of {@link misdirectedCalls}, about requests that are not in the log.
 */
export async function judgeReport(
  client: Pick<Client, 'requests'>,
  report: Reported,
  failOn: readonly string[],
  about: Pick<ConformanceReport, 'suite' | 'target'>,
  unlogged?: string,
): Promise<Judged> {
  const misdirected = (await misdirectedCalls(client, report)) ?? (report.pushes === 0 ? unlogged : undefined)
  return {
    cases: casesOf(report, failOn, about, misdirected),
    misdirected,
    failed: fails(report, failOn, misdirected),
  }
}

/** Most calls that a message names. */
const MOST_CALLS = 5

/** Methods of HTTP that clients of an API send. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Returns a message when no push arrived, but requests to paths or with methods that the API does not have, or that are
 * not HTTP/1.1: a report of nothing would look like one without findings. `GET` to unknown paths does not count, because
 * browsers send it.
 */
export async function misdirectedCalls(
  { requests }: Pick<Client, 'requests'>,
  { pushes, since }: Pick<Report, 'pushes' | 'since'>,
): Promise<string | undefined> {
  if (pushes > 0) return undefined
  const calls = new Set<string>()
  let unread: string | undefined
  for await (const request of requests.all({ from: since ?? undefined })) {
    const { method, path, status, response_body } = request
    // TLS has no method; other protocols have a word in its place. A 408 may be half of a valid request.
    if (!METHODS.includes(method) && status !== 408)
      unread ??= /"message":"([^"\\]*)"/.exec(response_body ?? '')?.[1] ?? ''
    const isMisdirected =
      status === 405 || (method !== 'GET' && response_body?.includes(NO_SUCH_PATH) === true)
    if (isMisdirected) calls.add(`${method} ${path} (${status})`)
    if (calls.size === MOST_CALLS) break
  }
  const shown = printable([...calls].join(', '))
  if (calls.size > 0)
    return `No push arrived, and the API has no such path or method: ${shown}. Push checks with PUT /v1/checks/external/{id}.`
  return unread === undefined
    ? undefined
    : `No push arrived, but a request that is not HTTP/1.1. ${printable(unread)}`
}

function isFailing(code: string, failOn: readonly string[]): boolean {
  return failOn.includes('any') || failOn.includes(code)
}

/** Titles of passed cases, by the code of the finding or problem that is absent. */
const titles = {
  totals_mismatch: 'lines and totals add up',
  unknown_field: 'pushes have known fields only',
  revision_missing: 'every push of a check has a revision, or none has',
  revision_reused: 'each revision has one content',
  reopen_needs_revision: 'closed checks are reopened with a revision',
  possible_late_retry: 'no late retry restores an earlier state',
  item_id_reused: 'each item id names one item',
  item_id_unstable: 'items keep their ids',
  delta_suspected: 'pushes have all items of the check',
  conflict_ignored: 'refused pushes are not repeated unchanged',
  no_idempotent_retry: 'failed pushes are repeated',
  push_refused: 'pushes are accepted',
  invalid_push_repeated: 'invalid pushes are not repeated',
  quantity_precision: 'quantities have at most three decimals',
  text_encoding: 'texts are encoded once',
  check_id_reused: 'each check id is used for one party',
  paid_not_closed: 'paid checks are closed in time',
  overpaid: 'no push takes the total below the payments',
  lines_merged: 'lines keep their ids and quantities',
  item_on_two_checks: 'each item is on one open check',
  duplicate_check: 'each check has one id',
  unit_change: 'all amounts are in minor units',
  event_not_accepted: 'a receiver accepted every event about money',
  refund_not_settled: 'a push took every refund off the bill',
  conflict_not_settled: 'an accepted push followed every conflict',
  check_left_open: 'paid checks are closed at the end',
} satisfies Record<FindingCode | AccountCode, string>

/**
 * Returns a report as cases, for JUnit and TAP: one for each code. A case fails when the code was found and `--fail-on`
 * names it; others that were found are advice. The message of `misdirectedCalls` is a case of its own.
 */
export function casesOf(
  { findings, account }: Reported,
  failOn: readonly string[],
  { suite, target }: Pick<ConformanceReport, 'suite' | 'target'>,
  misdirected?: string,
): ConformanceReport {
  const caseOf = (group: string, id: FindingCode | AccountCode, found: Found | undefined): CaseResult => ({
    group,
    id,
    title: titles[id],
    basis: isFailing(id, failOn) ? 'specification' : 'advice',
    reason: found?.shown ?? '',
    verdict: found === undefined ? 'passed' : 'failed',
    detail: found?.message ?? null,
    duration_ms: 0,
  })
  const cases = [
    // The account has findings from before --since, too.
    ...findingCodes.map((code) =>
      caseOf('findings', code, findingOf(findings, code) ?? problemOf(account?.problems ?? [], code)),
    ),
    ...(account === undefined
      ? []
      : accountCodes.map((code) => caseOf('account', code, problemOf(account.problems, code)))),
  ]
  if (misdirected !== undefined)
    cases.push({
      group: 'findings',
      id: 'no_push_arrived',
      title: 'requests go to paths of the API',
      basis: failOn.includes('any') ? 'specification' : 'advice',
      reason: '',
      verdict: 'failed',
      detail: misdirected,
      duration_ms: 0,
    })
  return makeReport({ suite, target, duration_ms: 0, cases })
}

/** The messages of a code, and the requests, events and deliveries that show them. */
interface Found {
  message: string
  shown: string
}

function findingOf(findings: readonly ReportedFinding[], wanted: FindingCode): Found | undefined {
  const requests = findings.find(({ code }) => code === wanted)?.requests ?? []
  return foundOf(requests, ({ method, path, status, id }) => `${method} ${path}  ${status}  ${id}`)
}

function problemOf(problems: readonly Problem[], wanted: AccountCode | FindingCode): Found | undefined {
  const found = problems.filter(({ code }) => code === wanted)
  return foundOf(found, ({ external_check_id, requests, events, deliveries }) =>
    [external_check_id, ...requests, ...events, ...deliveries].join('  '),
  )
}

/** Returns the latest message. Where there are others, all of them are above the lines that they are about. */
function foundOf<T extends { message: string }>(
  found: readonly T[],
  lineOf: (one: T) => string,
): Found | undefined {
  const last = found.at(-1)
  if (last === undefined) return undefined
  const groups = [...byMessage(found)]
  const others = groups.length === 1 ? '' : ` And ${count(groups.length - 1, 'other message')}, see below.`
  const shown = groups.flatMap(([message, some]) => [
    ...(others === '' ? [] : [message]),
    ...some.map((one) => (others === '' ? lineOf(one) : `  ${lineOf(one)}`)),
  ])
  return { message: last.message + others, shown: shown.join('\n') }
}
