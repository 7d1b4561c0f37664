import { newToken } from '../../ids.ts'
import { withoutVersion } from '../../model/url.ts'
import { trustAdvice } from '../../model/text/advice.ts'
import { makeReport, type ConformanceReport } from '../report.ts'
import {
  createAsk,
  isSuccess,
  NoAnswer,
  statusOf,
  type ServiceResponse,
  type Ask,
  type Method,
  requestIdOf,
} from './ask.ts'
import type { ContractCase } from './case.ts'
import { simulatorProfileAt, type Profile } from './profile.ts'
import { givePushesUp } from './pushes.ts'
import { openReceiver } from './receiver.ts'
import { reportable, runContract, type Working } from './run.ts'
import { at } from './shape.ts'
import { createTarget, type Target, type Timeouts } from './target.ts'

export interface ContractCheck {
  /** With the version segment: `http://127.0.0.1:4100/v1`. */
  baseUrl: string
  /** A key with all scopes. */
  apiKey?: string | undefined
  /** A key without write scope. */
  readKey?: string | undefined
  /** The name in the signature header; without it any name will do. */
  serviceName?: string | undefined
  /** The field of a push that orders updates. */
  orderBy?: string | undefined
  profile?: Omit<Profile, 'keys'> | undefined
  /** Keys per scope, each for `apiKey` where it is missing. */
  keys?: { read?: string | undefined; push?: string | undefined; write?: string | undefined } | undefined
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
  /** Of the receiver, for 127.0.0.1, as PEM. */
  tls: { cert: string; key: string }
  receiverUrl?: string | undefined
  receiverPort?: number | undefined
  /** True when a receiver on 127.0.0.1 is known to be reachable, as it is from a service in this process. */
  isReachable?: boolean | undefined
  /** Cases that rest on advice fail, too. */
  strict?: boolean | undefined
  /** Run the cases that take longer than ten seconds. */
  slow?: boolean | undefined
  timeouts?: Partial<Timeouts> | undefined
  cases: readonly ContractCase[]
  /** Called as each case begins. */
  tell?: ((text: string) => void) | undefined
  /** Ends the check early, with a report of what was found by then. */
  signal?: AbortSignal | undefined
}

/** Nothing can be judged: `key` when the API key is refused, `address` when the address is not that of the service. */
export class UnusableTarget extends Error {
  override readonly name = 'UnusableTarget'
  readonly kind: 'key' | 'address'

  constructor(kind: 'key' | 'address', message: string) {
    super(message)
    this.kind = kind
  }
}

const defaultTimeouts: Timeouts = {
  answerMs: 10_000,
  // A run has some hundred requests, so that a limit of 20 a minute is waited out.
  repeatMs: 30 * 60_000,
  eventMs: 10_000,
  settleMs: 3_000,
  quietMs: 400,
  retryMs: 60_000,
}

/** The report, and the number of webhook endpoints that stay registered. */
interface ContractOutcome {
  report: ConformanceReport
  left: number
}

/**
 * Checks a service against the specification, with a receiver of its own (service reference, "Judging others").
 * @throws UnusableTarget when the key is refused or nothing at the address behaves like the service.
 */
export async function checkContract(check: ContractCheck): Promise<ContractOutcome> {
  const started = performance.now()
  const baseUrl = check.baseUrl.replace(/\/+$/, '')
  const timeouts = { ...defaultTimeouts, ...check.timeouts }
  const { apiKey, keys = {} } = check
  const read = check.readKey ?? keys.read
  const keyFor = keyChoice(check)
  const { note, ...requestIds } = createRequestIds()
  let silences = 0
  const signal = check.signal ?? new AbortController().signal
  const { ask, close } = createAsk({
    baseUrl,
    keyFor,
    ca: check.ca,
    signal,
    answerMs: timeouts.answerMs,
    repeatMs: timeouts.repeatMs,
    onAnswer: note,
    onNoAnswer: () => (silences += 1),
  })
  const tell = check.tell ?? (() => undefined)
  let limited: LimitedKey | undefined
  try {
    const locations = await requireAnswer(ask, baseUrl)
    const found = await profileFor(ask, baseUrl, check.profile, read === undefined)
    const { profile } = found
    limited = found.limited
    const receiver = await openReceiver({
      tls: check.tls,
      publicUrl: check.receiverUrl,
      port: check.receiverPort ?? 0,
      eventMs: timeouts.eventMs,
    })
    try {
      const target = createTarget({
        ask,
        ...requestIds,
        silences: () => silences,
        keyFor,
        baseUrl,
        receiver,
        timeouts,
        profile: { ...profile, order_by: check.orderBy ?? profile.order_by },
        serviceName: check.serviceName ?? profile.service_name,
        limitedKey: read ?? limited?.key,
        slow: check.slow ?? false,
        apiKeys: [apiKey, read, keys.push, keys.write, limited?.key].filter((key) => key !== undefined),
        token: newToken()
          .replace(/[^a-z0-9]/gi, '')
          .slice(0, 10),
        isReachable: check.isReachable ?? (receiver.isPublic && (await receiver.leadsHere())),
      })
      // Before the first case, a 429 says that nothing can be judged.
      const working = await requireService(
        { ...target, ask: target.withTables(ask) },
        locations,
        baseUrl,
        keyFor('PUT', '/') !== undefined,
      )
      const cases = await runContract(target, check.cases, working, tell, signal)
      const left = await target.cleanUp()
      const report = makeReport({
        suite: 'contract check',
        target: baseUrl,
        interrupted: signal.aborted,
        strict: check.strict ?? false,
        duration_ms: Math.round(performance.now() - started),
        cases,
      })
      return { report, left }
    } finally {
      await receiver.close()
    }
  } finally {
    if (limited !== undefined) await ask('DELETE', limited.path).catch(() => undefined)
    await close()
  }
}

/** Returns a function that chooses the key of a request: that of its scope below the base URL, or else the one with all scopes. */
function keyChoice({ apiKey, keys = {} }: Pick<ContractCheck, 'apiKey' | 'keys'>): Target['keyFor'] {
  const byMethod: Partial<Record<Method, string | undefined>> = {
    GET: keys.read,
    PUT: keys.push,
    POST: keys.write,
    DELETE: keys.write,
  }
  return (method, path) => (path.startsWith('/') ? byMethod[method] : undefined) ?? apiKey ?? keys.write
}

/** Notes the request ids of all answers under the base URL. */
function createRequestIds() {
  const unidentified: string[] = []
  const repeatedIds: string[] = []
  const ids = new Set<string>()
  const note = (method: Method, path: string, answer: ServiceResponse) => {
    if (!path.startsWith('/')) return
    const id = requestIdOf(answer)
    if (id === '') unidentified.push(`${method} ${path}: ${answer.status}`)
    else if (ids.has(id)) repeatedIds.push(`${method} ${path}: ${id}`)
    ids.add(id)
  }
  return { note, unidentified, repeatedIds }
}

/** OpenSSL's words for a server that answers a TLS handshake in plain text. */
const PLAIN = /wrong version number|packet length too long/i

/** Asks for the locations. @throws UnusableTarget when nothing answers at the base URL. */
async function requireAnswer(ask: Ask, baseUrl: string): Promise<ServiceResponse> {
  try {
    return await ask('GET', '/locations')
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const { reason, code } = error
    if (PLAIN.test(reason))
      throw new UnusableTarget('address', `${baseUrl} does not use TLS. Pass --base-url with http://.`)
    const next = trustAdvice(code, 'Pass its certificate authority with --cacert.') ?? 'Check --base-url.'
    throw new UnusableTarget('address', `${baseUrl} did not respond: ${reason}. ${next}`)
  }
}

/**
 * Pushes a check, to see with the answer to `GET /locations` whether there is something to judge. Returns which of the two
 * succeeded. @throws UnusableTarget
 */
async function requireService(
  target: Target,
  read: ServiceResponse,
  baseUrl: string,
  hasKey: boolean,
): Promise<Working> {
  const { ask, freshCheck, body } = target
  const check = freshCheck()
  const push = await ask('PUT', check.path, { json: body(check, [check.item('a')]) }).catch(
    (error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error
      if (isSuccess(read)) return error
      throw new UnusableTarget('address', `${error.message}. Check --base-url.`)
    },
  )
  if (push instanceof NoAnswer) {
    await givePushesUp(target, push)
    return { locations: isSuccess(read), pushes: false }
  }
  const refused = [
    { asked: 'GET /locations', status: read.status },
    { asked: 'a push', status: push.status },
  ].find(({ status }) => status === 401 || status === 403)
  if (refused !== undefined) {
    const answered = `${refused.asked} returned ${refused.status}`
    throw new UnusableTarget(
      'key',
      hasKey
        ? `The service refuses the API key: ${answered}. Pass a key with all scopes with --api-key.`
        : `${baseUrl} needs an API key: ${answered}. Pass one with --api-key.`,
    )
  }
  // A server that answers every request with the same status is not the service.
  const isRefused = [400, 409, 422].includes(push.status) && push.status !== read.status
  const hasRoutes = isSuccess(read) || isSuccess(push) || isRefused
  if (hasRoutes) return { locations: isSuccess(read), pushes: isSuccess(push) }
  const isDown = read.status >= 500 && push.status >= 500
  const isRedirected = [read, push].some(({ status }) => status >= 300 && status < 400)
  const next = isDown
    ? 'The service, or a proxy before it, fails. Check its log.'
    : isRedirected
      ? 'Redirects are not followed. Check --base-url, and that the paths of the service end without a slash.'
      : 'Check --api-key and --base-url, which ends with the version segment /v1.'
  const seen = reportable(`GET /locations returned ${statusOf(read)}, a push ${statusOf(push)}`, [])
  throw new UnusableTarget('address', `${baseUrl} does not behave like this service: ${seen}. ${next}`)
}

/** A key without write scope that this check made, and the path of its removal. */
interface LimitedKey {
  key: string
  path: string
}

/** Returns the given profile, completed by Tabwire's own where the service is Tabwire; makes a key without write scope there. */
async function profileFor(
  ask: Ask,
  baseUrl: string,
  given: Omit<Profile, 'keys'> | undefined,
  needsKey: boolean,
): Promise<{ profile: Omit<Profile, 'keys'>; limited: LimitedKey | undefined }> {
  // A proxy may serve Tabwire below a path.
  const root = withoutVersion(baseUrl)
  const health = await ask('GET', `${root}/_sim/health`).catch(() => undefined)
  if (at(health?.json, 'status') !== 'ok') return { profile: given ?? {}, limited: undefined }
  const own = simulatorProfileAt(root)
  const orderBy = at(health?.json, 'order_by')
  const profile: Profile = {
    ...own,
    ...(typeof orderBy === 'string' && { order_by: orderBy }),
    ...given,
    paths: { ...own.paths, ...given?.paths },
  }
  if (!needsKey) return { profile, limited: undefined }
  // Without an answer, the case that needs this key is not checked.
  const made = await ask('POST', `${root}/_sim/keys`, {
    json: { name: 'contract check', scopes: ['read'] },
  }).catch(() => undefined)
  const [id, key] = [at(made?.json, 'id'), at(made?.json, 'api_key')]
  const limited =
    typeof id === 'string' && typeof key === 'string'
      ? { key, path: `${root}/_sim/keys/${encodeURIComponent(id)}` }
      : undefined
  return { profile, limited }
}
