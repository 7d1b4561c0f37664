import { z } from 'zod'
import { checkKey, parsePush, type StoredCheck } from '../check.ts'
import { invalid, issuesOf, type ValidationIssue } from '../validation.ts'
import {
  type Account,
  type Finding,
  type FindingCode,
  findingCodes,
  type RefusedPushes,
  type Report,
  type UnsettledConflict,
} from './report.ts'

import { apiFaultKinds, type ApiFaultKind } from './fault-kinds.ts'
import type { FaultsView } from './fault.ts'
import type { Revision } from '../revision.ts'
import { pushOutcomes, type LoggedRequest, type PushOutcome } from './request-entry.ts'
import { readOrderBy, readServiceName, signTimes, type Reader, type SignTime } from './settings.ts'
import type { State } from './state.ts'
import { brokenRelations, stateBody } from './state-checks.ts'
import { id, stateRecords, time, traceId } from './state-records.ts'
import { accountView, faultsView, findingView, refusedPushes, reportView } from './views.ts'

export const BUNDLE_FORMAT = 'tabwire-bundle'
/** Version of the format. Increases when older versions of Tabwire can no longer read it. */
export const BUNDLE_VERSION = 1

/** A service at one moment, without its secrets: everything that a replay needs to give the same verdict. */
export interface Bundle {
  format: typeof BUNDLE_FORMAT
  version: typeof BUNDLE_VERSION
  /** Versions of the program that wrote the bundle, such as `1.0.0`, `v24.1.0` and `linux x64`. */
  tabwire: string
  node: string
  platform: string
  /** Real time of the bundle. */
  recorded_at: string
  /** Real time at which the service started. */
  started_at: string
  /** The location whose account the verdict has. */
  location_id: string
  clock: BundleClock
  settings: BundleSettings
  faults: FaultsView
  /** The command that wrote the bundle; `null` for a bundle of the API. */
  command: BundleCommand | null
  verdict: RecordedVerdict
  state: State
  log: SavedLog
}

/** The service clock of a bundle. */
interface BundleClock {
  now: string
  frozen: boolean
  /** Milliseconds ahead of real time. */
  offset_ms: number
}

/** Settings of the service that decide a verdict, or that a reader of the bundle needs. */
export interface BundleSettings {
  service_name: string
  order_by: string
  strict: boolean
  disable_after: number
  keep_events: number
  sign_time: SignTime
  seed: number | null
}

/** The command that wrote a bundle, and how it judged. */
interface BundleCommand {
  name: 'report' | 'exec'
  /** The examined service, as reports name it. */
  target: string
  /** True when the report had the account. */
  account: boolean
  fail_on: readonly string[]
  /** Exit code of the command that `exec` ran. */
  exit_code: number | null
  /** Guests that `exec` played. */
  guests: { seed: number; guests: number } | null
}

/** Report and account at the moment of the bundle. */
export interface RecordedVerdict {
  since: string | null
  all_closed: boolean
  report: Report
  account: Account
}

/** The request log with everything that findings depend on. */
export interface SavedLog {
  /** Every version of a check that the log knows, once. Other fields refer to it by index. */
  checks: readonly StoredCheck[]
  /** In the order of their responses. */
  requests: readonly SavedRequest[]
  /** Number of all pushes, and refused pushes by code. */
  pushes: number
  refused: readonly RefusedPushes[]
  /** Digests of the states of checks without revision, by location and external id. */
  states: readonly { check: string; digests: readonly string[] }[]
  /** Findings of dropped requests. */
  archive: SavedArchive
  sequence: SavedSequence
  watch: SavedWatch
  /** Refused pushes of claimed checks without an accepted push since. */
  conflicts: readonly SavedConflict[]
}

export interface SavedRequest extends Omit<LoggedRequest, 'push' | 'findings'> {
  push: SavedPush | null
  /** Findings that depend on earlier requests. */
  following: readonly Finding[]
}

interface SavedPush {
  external_check_id: string
  outcome: PushOutcome
  findings: readonly Finding[]
  /** Indexes in `checks`. */
  before: number | null
  after: number | null
}

interface SavedReportedRequest {
  id: string
  method: string
  path: string
  status: number
  started_at: string
  /** Absent when no key was accepted. */
  location_id?: string | undefined
}

/** A request with a finding. */
interface SavedRequestFinding {
  request: SavedReportedRequest
  finding: Finding
}

export interface SavedArchive {
  kept: readonly SavedRequestFinding[]
  counted: readonly { code: FindingCode; count: number; first_at: string; last_at: string }[]
}

/** Failed and refused pushes that wait for their repetition. */
export interface SavedSequence {
  refused: readonly { path: string; location_id?: string | undefined; marks: readonly string[] }[]
  lost: readonly SavedLost[]
}

interface SavedLost extends SavedRequestFinding {
  /** Digest of the pushed state; `null` when the body did not arrive. */
  digest: string | null
  /** Digest without the revision, and the revision. Absent without a revision. */
  content?: string | undefined
  revision?: Revision | undefined
}

export interface SavedConflict extends UnsettledConflict {
  /** The newest refused pushes in a row that conflict because of the same items; absent when no response was kept. */
  again?: { pushes: number; conflicts: readonly string[]; newest: SavedReportedRequest } | undefined
}

/** Checks, items and products that are compared between pushes. */
export interface SavedWatch {
  checks: readonly { key: string; check: number; request: SavedReportedRequest }[]
  items: readonly SavedItem[]
  products: readonly { key: string; ids: readonly string[]; are_lines: boolean }[]
  pairs: readonly {
    key: string
    other: string
    ids: readonly string[]
    request: SavedReportedRequest
  }[]
  unclosed: readonly { key: string; since: string }[]
  reused: readonly string[]
}

interface SavedItem {
  key: string
  name: string
  checks: readonly string[]
  /** By how much the pushes of a check lowered the quantity. */
  lowered?: readonly { check: string; quantity: number }[] | undefined
}

const countSchema = z.int().min(0)
const textsSchema = z.array(z.string())
const httpStatus = z.int().min(100).max(599)

const reportedRequest = z.strictObject({
  id: id('req'),
  method: z.string(),
  path: z.string(),
  status: httpStatus,
  started_at: time,
  location_id: id('loc').exactOptional(),
})
const requestFinding = z.strictObject({ request: reportedRequest, finding: findingView })

const savedLog = z.strictObject({
  checks: z.array(stateRecords.checks),
  requests: z.array(
    reportedRequest.extend({
      duration_ms: z.number().min(0),
      trace_id: traceId,
      push: z
        .strictObject({
          external_check_id: z.string(),
          outcome: z.enum(pushOutcomes),
          findings: z.array(findingView),
          before: countSchema.nullable(),
          after: countSchema.nullable(),
        })
        .nullable(),
      request_body: z.string().nullable(),
      response_body: z.string().nullable(),
      faults: z.array(z.enum<readonly ApiFaultKind[]>(apiFaultKinds)).exactOptional(),
      following: z.array(findingView),
    }),
  ),
  pushes: countSchema,
  refused: refusedPushes,
  states: z.array(z.strictObject({ check: z.string(), digests: textsSchema })),
  archive: z.strictObject({
    kept: z.array(requestFinding),
    counted: z.array(
      z.strictObject({
        code: z.enum(findingCodes),
        count: z.int().min(1),
        first_at: time,
        last_at: time,
      }),
    ),
  }),
  sequence: z.strictObject({
    refused: z.array(
      z.strictObject({ path: z.string(), location_id: id('loc').exactOptional(), marks: textsSchema }),
    ),
    lost: z.array(
      requestFinding.extend({
        digest: z.string().nullable(),
        content: z.string().exactOptional(),
        revision: z.union([z.number(), z.string()]).exactOptional(),
      }),
    ),
  }),
  watch: z.strictObject({
    checks: z.array(z.strictObject({ key: z.string(), check: countSchema, request: reportedRequest })),
    items: z.array(
      z.strictObject({
        key: z.string(),
        name: z.string(),
        checks: textsSchema,
        lowered: z
          .array(z.strictObject({ check: z.string(), quantity: z.number().positive() }))
          .exactOptional(),
      }),
    ),
    products: z.array(z.strictObject({ key: z.string(), ids: textsSchema, are_lines: z.boolean() })),
    pairs: z.array(
      z.strictObject({ key: z.string(), other: z.string(), ids: textsSchema, request: reportedRequest }),
    ),
    unclosed: z.array(z.strictObject({ key: z.string(), since: time })),
    reused: textsSchema,
  }),
  conflicts: z.array(
    z.strictObject({
      location_id: id('loc'),
      external_check_id: z.string(),
      request: id('req'),
      started_at: time,
      again: z
        .strictObject({ pushes: z.int().min(1), conflicts: textsSchema, newest: reportedRequest })
        .exactOptional(),
    }),
  ),
}) satisfies z.ZodType<SavedLog>

const program = z.string().min(1).max(100)

/** Schema of a text that a setting accepts. */
const setting = (read: Reader<unknown>) =>
  z.string().refine((text) => read(text).issue === undefined, 'must be valid for its setting')

/** Schema of a bundle, and of the response of `GET /_sim/bundle`. */
export const bundleBody: z.ZodType<Bundle> = z.strictObject({
  format: z.literal(BUNDLE_FORMAT),
  version: z.literal(BUNDLE_VERSION),
  tabwire: program,
  node: program,
  platform: program,
  recorded_at: time,
  started_at: time,
  location_id: id('loc'),
  clock: stateBody.shape.clock.extend({ offset_ms: z.number() }),
  settings: z.strictObject({
    service_name: setting(readServiceName),
    order_by: setting(readOrderBy),
    strict: z.boolean(),
    disable_after: countSchema,
    keep_events: countSchema,
    sign_time: z.enum(signTimes),
    seed: countSchema.nullable(),
  }),
  faults: faultsView,
  command: z
    .strictObject({
      name: z.enum(['report', 'exec']),
      target: z.string().max(2048),
      account: z.boolean(),
      fail_on: textsSchema.max(1000),
      exit_code: z.int().nullable(),
      guests: z.strictObject({ seed: countSchema, guests: countSchema }).nullable(),
    })
    .nullable(),
  verdict: z.strictObject({
    since: time.nullable(),
    all_closed: z.boolean(),
    report: reportView,
    account: accountView,
  }),
  state: stateBody,
  log: savedLog,
})

/**
 * Returns the bundle in a parsed JSON value.
 * @throws Refusal `validation_failed` with all issues of single fields, or if there are none, of relations between them.
 */
export function bundleOf(value: unknown): Bundle {
  const issues = issuesOf(bundleBody, value, [])
  if (issues.length > 0) throw invalid(issues)
  const bundle = value as Bundle
  const broken = [...brokenRelations(bundle.state)].flat()
  const contradictions = [
    ...broken.map(({ path, message }) => ({ path: `state.${path}`, message })),
    ...issuesOfClock(bundle),
    ...issuesOfLog(bundle.log, bundle.settings.order_by),
  ]
  if (contradictions.length > 0) throw invalid(contradictions)
  return bundle
}

function issuesOfClock({ clock, location_id, state }: Bundle): ValidationIssue[] {
  return [
    ...(clock.now === state.clock.now ? [] : [{ path: 'clock.now', message: 'must be state.clock.now' }]),
    ...(state.locations.some((location) => location.id === location_id)
      ? []
      : [{ path: 'location_id', message: `must refer to a location of the state, got ${location_id}` }]),
  ]
}

function issuesOfLog({ checks, requests, watch }: SavedLog, orderBy: string): ValidationIssue[] {
  const message = `must be an index of log.checks, which has ${checks.length} elements`
  const outside = (index: number | null | undefined) =>
    index !== null && index !== undefined && index >= checks.length
  return [
    ...requests.flatMap(({ push }, at) =>
      (['before', 'after'] as const)
        .filter((name) => outside(push?.[name]))
        .map((name) => ({ path: `log.requests[${at}].push.${name}`, message })),
    ),
    ...requests.flatMap((request, at) =>
      isApplied(request) && !isPushBody(request.request_body, orderBy)
        ? [{ path: `log.requests[${at}].request_body`, message: 'must be a push, as JSON text' }]
        : [],
    ),
    ...watch.checks.flatMap(({ check, key }, at) => {
      const path = `log.watch.checks[${at}]`
      const found = checks[check]
      if (found === undefined) return [{ path: `${path}.check`, message }]
      return checkKey(found) === key ? [] : [{ path: `${path}.key`, message: 'must be the key of its check' }]
    }),
  ]
}

function isApplied({ push }: SavedRequest): boolean {
  return push?.outcome === 'created' || push?.outcome === 'updated'
}

/** Returns true for a body that the log can compare with the check before it, and for a body that was not kept. */
function isPushBody(body: string | null, orderBy: string): boolean {
  if (body === null) return true
  try {
    parsePush(JSON.parse(body), { orderBy })
    return true
  } catch {
    return false
  }
}
