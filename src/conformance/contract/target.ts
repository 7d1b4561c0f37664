import ipaddr from 'ipaddr.js'
import { bareHost, isLoopbackName } from '../../model/url.ts'
import {
  isLater,
  isSuccess,
  NoAnswer,
  type ServiceResponse,
  type Ask,
  type Method,
  type RequestOptions,
} from './ask.ts'
import { Broken, must, NotChecked } from './outcome.ts'
import { fillBody, fillPath, type Profile, type RequestTemplate } from './profile.ts'
import type { Arrival, Hook, Receiver } from './receiver.ts'
import { idCandidates, secretsIn } from './shape.ts'
import { createTrialChecks, type Item, type TrialCheck, type TrialChecks } from './trial-checks.ts'
import { count } from '../../model/text/count.ts'

/** A registered webhook endpoint, with the path where its deliveries arrive. */
export interface Registered {
  /** The texts in the answer that begin with `whsec_`: one of them is the secret, and signs. */
  secrets: readonly string[]
  /** The URL that the service accepted. */
  url: string
  hook: Hook
  answer: ServiceResponse
  /** True when the service was given a name that leads nowhere, since it refused the receiver's address. */
  isUnreachable: boolean
}

/** A ping that the service accepted. */
interface Ping {
  /** The id of the endpoint. */
  id: string
  answer: ServiceResponse
  /** The form that was accepted: without a body, or with `{}`. */
  sent: RequestOptions
}

/** The service under test, with what the cases need to look at it. */
export interface Target extends TrialChecks {
  ask: Ask
  profile: Profile
  receiver: Receiver
  /** The name in the signature header; `undefined` where any name will do. */
  serviceName: string | undefined
  /** A key without write scope; `undefined` when there is none. */
  limitedKey: string | undefined
  timeouts: Timeouts
  /** True when cases that take longer than ten seconds run. */
  slow: boolean
  /** Sends a registration, which may be a wrong one. What the service accepts is removed in the end. */
  tryToRegister(sent: RequestOptions): Promise<ServiceResponse>
  /** Registers a hook for these event types. @throws Broken | NotChecked when that is refused. */
  register(...eventTypes: readonly string[]): Promise<Registered>
  /**
   * Pings an endpoint, whose id is found by trying.
   * @throws Broken when no id is accepted, NotChecked when the service seems unable to reach the receiver.
   */
  ping(endpoint: Registered): Promise<Ping>
  /** Makes a guest claim one unit of an item. @throws NotChecked when that is not possible. */
  claim(check: TrialCheck, item: Item): Promise<void>
  /** Moves the service's clock on. @throws NotChecked when that is not possible. */
  advance(seconds: number): Promise<void>
  /**
   * Makes the error for something that did not arrive. It tells a service that does not send from one that cannot reach the
   * receiver, and says whether other deliveries arrived.
   */
  missing(what: string): Broken | NotChecked
  /** Returns true when a delivery mentions a check or an item of this run. */
  mentions(arrival: Arrival): boolean
  /** Hooks of registrations that were refused: nothing may arrive there. */
  refusedHooks: Hook[]
  /** The API key of a request, as `ask` sends it. */
  keyFor: (method: Method, path: string) => string | undefined
  /** The request ids that came more than once so far, as `GET /locations: r-1`. */
  repeatedIds: readonly string[]
  /** The answers so far without `X-Request-Id`, as `GET /locations: 404`. */
  unidentified: readonly string[]
  /** Number of requests so far that got no answer. */
  silences(): number
  /** Secrets that reports must not show: the keys of this run and the secrets of its endpoints. */
  secrets(): readonly string[]
  /** Does a thing once for all cases that look at it. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Removes an endpoint; `undefined` where it is not known how. */
  remove(endpoint: Pick<Registered, 'answer'>): Promise<ServiceResponse | undefined>
  /** Removes the registered endpoints where possible; returns how many stay. */
  cleanUp(): Promise<number>
}

export interface Timeouts {
  /** Time limit for an answer, in milliseconds. */
  answerMs: number
  /** Time limit of all waits for a service that asks for requests later, in milliseconds. */
  repeatMs: number
  /** Time limit for a delivery, in milliseconds. */
  eventMs: number
  /** Time limit until GET shows a push, in milliseconds. */
  settleMs: number
  /** Wait where no further delivery is expected, in milliseconds. */
  quietMs: number
  /** Delay of the first retry, in milliseconds: it is waited for where no clock can be moved. */
  retryMs: number
}

interface TargetOptions extends Pick<
  Target,
  | 'ask'
  | 'profile'
  | 'unidentified'
  | 'repeatedIds'
  | 'silences'
  | 'keyFor'
  | 'receiver'
  | 'serviceName'
  | 'limitedKey'
  | 'timeouts'
  | 'slow'
> {
  baseUrl: string
  /** Makes the names of this run unique. */
  token: string
  /** The API keys of this run. */
  apiKeys: readonly string[]
  /** True when it is known that the service can reach the receiver. */
  isReachable: boolean
}

/** In seconds. */
const HOUR = 3600

export function createTarget({ baseUrl, token, apiKeys, isReachable, ...options }: TargetOptions): Target {
  const { profile, timeouts } = options
  const limited: Ask = async (method, path, sent) => {
    const answer = await options.ask(method, path, sent)
    if (!isLater(answer)) return answer
    if (answer.status === 503)
      throw new NotChecked(`${method} ${path} returned 503 with Retry-After, so it asks for a later attempt.`)
    throw new NotChecked(
      `${method} ${path} returned 429: the service limits the request rate. Raise its limit for the keys of this run.`,
    )
  }
  const trialChecks = createTrialChecks({ ask: limited, profile, token, settleMs: timeouts.settleMs })
  const ask = trialChecks.withTables(limited)
  const { origin } = new URL(baseUrl)
  const known = new Map<string, Promise<unknown>>()
  const missing = (what: string) => whyMissing(what, { ...options, isReachable })
  const mentions = ({ body }: Arrival) => body.includes(`-${token}-`)
  const { secrets, ...endpoints } = createEndpoints({ ...options, ask, origin, token, missing, mentions })
  return {
    ...options,
    ask,
    ...trialChecks,
    ...endpoints,
    async cleanUp() {
      await trialChecks.freeTables()
      return endpoints.cleanUp()
    },
    refusedHooks: [],
    missing,
    secrets: () => [...apiKeys, ...secrets()],
    async claim(check, item) {
      if (profile.claim === undefined)
        throw new NotChecked(
          'This case needs a claimed item. Describe the request that claims one with --profile (claim).',
        )
      const values = { origin, external_check_id: check.id, external_id: item.external_id }
      const answer = await sendTemplate("The guest's claim", profile.claim, values)
      if (!isSuccess(answer)) throw new NotChecked(`The guest's claim returned ${answer.status}.`)
    },
    async advance(seconds) {
      if (profile.clock === undefined)
        throw new NotChecked(
          'Retries take 35 hours. Describe the request that moves the clock with --profile (clock).',
        )
      await advance(profile.clock, seconds)
    },
    mentions,
    async once<T>(name: string, work: () => Promise<T>) {
      const before = known.get(name) as Promise<T> | undefined
      if (before !== undefined) return before
      const doing = work()
      known.set(name, doing)
      return doing
    },
  }

  async function advance(clock: RequestTemplate, seconds: number): Promise<void> {
    const { status } = await sendTemplate('Moving the clock', clock, { origin, seconds })
    if (isSuccess({ status })) return
    const isRefused = status >= 400 && status < 500
    if (!isRefused || seconds <= HOUR) throw new NotChecked(`Moving the clock returned ${status}.`)
    // A service may limit how far one request moves its clock.
    const half = Math.ceil(seconds / 2)
    await advance(clock, half)
    await advance(clock, seconds - half)
  }

  /** Sends a request of the profile, which is not a rule of the specification. @throws NotChecked without a response. */
  async function sendTemplate(
    what: string,
    { method, path, headers, body }: RequestTemplate,
    values: Readonly<Record<string, string | number>>,
  ): Promise<ServiceResponse> {
    const json = fillBody(body, values)
    const sent = { ...(json === undefined ? {} : { json }), ...(headers === undefined ? {} : { headers }) }
    return ask(method, fillPath(path, values), sent).catch((error: unknown) => {
      if (error instanceof NoAnswer) throw new NotChecked(`${what} failed: ${error.message}.`)
      throw error
    })
  }
}

/** Returns the error for a delivery that did not arrive in time: `Broken` where only the service can be the reason. */
function whyMissing(
  what: string,
  { timeouts, receiver, isReachable }: Pick<TargetOptions, 'timeouts' | 'receiver' | 'isReachable'>,
): Broken | NotChecked {
  const late = `${what} did not arrive within ${timeouts.eventMs / 1000} s`
  if (receiver.dropped() > 0)
    return new NotChecked(
      `${late}. Deliveries that were too large or too many to keep: ${receiver.dropped()}.`,
    )
  if (receiver.arrived() === 0 && receiver.distrusted() > 0)
    return new NotChecked(
      `The service does not trust the certificate of ${receiver.url}. Make the service trust ca/ca.pem of the data directory (.tabwire), or pass --receiver-url.`,
    )
  const [others, strays] = [receiver.arrived(), receiver.strays()]
  // A tunnel that does not lead here may also change the path.
  if (others === 0 && strays.length > 0 && (isReachable || !receiver.isPublic))
    return new Broken(
      `${late} at a registered URL, such as ${receiver.url}/Hook-1. Signed requests arrived elsewhere: ${strays.join(', ')}.`,
    )
  if (others > 0)
    return new Broken(
      `${late}. ${count(others, 'other delivery', 'other deliveries')} arrived. If the service sends later, pass --wait.`,
    )
  if (isReachable) return new Broken(`${late}.`)
  return new NotChecked(
    receiver.isPublic
      ? `${late}, and --receiver-url ${receiver.url} does not lead to the receiver of this command.`
      : `${late}. If the service cannot reach ${receiver.url}, pass --receiver-url and --receiver-port. If it sends later, pass --wait.`,
  )
}

/** @throws NotChecked when the answer to a registration has a body in another form than JSON. */
export function requireJson({ json, text }: ServiceResponse): void {
  if (json === undefined && text.trim() !== '')
    throw new NotChecked(
      'The response to the registration is not JSON. The specification does not define its form.',
    )
}

/** Creates what registers, pings and removes endpoints of the receiver. `secrets` returns those of the endpoints that stay. */
function createEndpoints({
  ask,
  profile,
  receiver,
  origin,
  token,
  missing,
  mentions,
  timeouts,
}: Pick<TargetOptions, 'ask' | 'profile' | 'receiver' | 'token' | 'timeouts'> &
  Pick<Target, 'missing' | 'mentions'> & { origin: string }): Pick<
  Target,
  'tryToRegister' | 'register' | 'ping' | 'remove' | 'cleanUp' | 'secrets'
> {
  const { paths = {}, fields = {} } = profile
  /** Registrations that the service accepted, with the id of the endpoint once a ping has confirmed it. */
  const registered: { answer: ServiceResponse; id: string | undefined }[] = []
  let hasRegistered = false

  async function tryToRegister(sent: RequestOptions): Promise<ServiceResponse> {
    const answer = await ask('POST', '/webhook-endpoints', sent)
    if (isSuccess(answer)) registered.push({ answer, id: undefined })
    return answer
  }

  async function remove({
    answer: accepted,
  }: Pick<Registered, 'answer'>): Promise<ServiceResponse | undefined> {
    const one = registered.find(({ answer }) => answer === accepted)
    const id = one?.id ?? idCandidates(accepted, fields.endpoint_id)[0]
    if (paths.delete_endpoint === undefined || one === undefined || id === undefined) return undefined
    const answer = await ask('DELETE', fillPath(paths.delete_endpoint, { origin, id }))
    if (isSuccess(answer)) registered.splice(registered.indexOf(one), 1)
    return answer
  }

  /** Asks for a ping, with `{}` where the service wants a body, which is not shown. @throws Broken | NotChecked when it never answers. */
  async function askForPing(path: string, hook: Hook, before: number) {
    const send = (sent: RequestOptions) =>
      ask('POST', path, sent).catch((error: unknown) => {
        const isLate = error instanceof NoAnswer && error.code === undefined
        throw isLate && hook.arrivals.length === before ? missing('The ping') : error
      })
    const bare = await send({})
    if (!BODY_REFUSED.has(bare.status)) return { answer: bare, sent: {} }
    const sent = { json: {} }
    return { answer: await send(sent), sent }
  }

  /** Returns true when a ping arrives after so many deliveries, within so many milliseconds. */
  async function hasPing(hook: Hook, before: number, ms: number): Promise<boolean> {
    const isPing = (arrival: Arrival) => !mentions(arrival)
    return (await hook.until((arrivals) => arrivals.slice(before).find(isPing), ms)) !== undefined
  }

  return {
    tryToRegister,
    remove,
    async register(...event_types) {
      const hook = receiver.open()
      const first = await tryToRegister({ json: { url: hook.url, event_types } })
      // A service may refuse private addresses; what a registration answers can be seen with another name, too.
      const isUnreachable = !isSuccess(first) && !hasRegistered && isPrivate(receiver.url)
      const nowhere = `https://${token.toLowerCase()}.invalid/${hook.url.split('/').at(-1)}`
      const answer = isUnreachable ? await tryToRegister({ json: { url: nowhere, event_types } }) : first
      if (!isSuccess(answer)) {
        const seen = `Registering ${hook.url} returned ${first.status}`
        if (hasRegistered)
          throw new NotChecked(
            `${seen}, but another was accepted. The service may limit the number of endpoints.`,
          )
        // Statuses of a missing route say nothing of the address.
        const isMissing = NO_ROUTE.has(first.status) && NO_ROUTE.has(answer.status)
        if (isMissing || (receiver.isPublic && !isPrivate(receiver.url)))
          throw new Broken(`${seen}: ${first.text}`)
        throw new NotChecked(
          `${seen}. If the service refuses such addresses, pass --receiver-url and --receiver-port.`,
        )
      }
      hasRegistered = true
      const secrets = secretsIn(answer.json, fields.signing_secret)
      return { secrets, url: isUnreachable ? nowhere : hook.url, hook, answer, isUnreachable }
    },
    async ping(endpoint) {
      const candidates = idCandidates(endpoint.answer, fields.endpoint_id)
      if (candidates.length === 0) requireJson(endpoint.answer)
      must(
        candidates.length > 0,
        'The response to the registration contains no value that could be the id of the endpoint.',
      )
      // A service may answer only after the receiver has answered its ping.
      const before = endpoint.hook.arrivals.length
      const tried: { id: string; path: string; status: number }[] = []
      for (const id of candidates) {
        const path = `/webhook-endpoints/${encodeURIComponent(id)}/test`
        const { answer, sent } = await askForPing(path, endpoint.hook, before)
        // Where each id fails, the wait is not that of an event each time.
        const ms = tried.some(isOfDelivery) ? timeouts.quietMs : timeouts.eventMs
        if (isSuccess(answer) || (isOfDelivery(answer) && (await hasPing(endpoint.hook, before, ms)))) {
          for (const one of registered) if (one.answer === endpoint.answer) one.id = id
          return { id, answer, sent }
        }
        tried.push({ id, path, status: answer.status })
      }
      const failed = tried.find(isOfDelivery)
      if (failed !== undefined) throw missing(`The ping (status ${failed.status})`)
      const refused = tried.find(({ status }) => BODY_REFUSED.has(status))
      if (refused !== undefined)
        throw new NotChecked(
          `POST ${refused.path} refuses requests without a body and with {}. The specification does not define the body.`,
        )
      throw new Broken(
        `POST /webhook-endpoints/{id}/test accepted no id from the response to the registration (${tried.map(({ id, status }) => `${id}: ${status}`).join(', ')}).`,
      )
    },
    secrets: () => registered.flatMap(({ answer }) => secretsIn(answer.json, fields.signing_secret)),
    async cleanUp() {
      await Promise.all(registered.map((one) => remove(one).catch(() => undefined)))
      return registered.length
    },
  }
}

/** Names of private networks: without a domain, or in one that the public DNS does not have. */
const PRIVATE_NAME =
  /^[^.]+$|\.(corp|home|home\.arpa|internal|intranet|invalid|lan|local|localhost|private|test)$/i

/** Returns true when a host is one that services may refuse or cannot reach: any but a public address or name. */
function isPrivate(url: string): boolean {
  const host = bareHost(new URL(url))
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() !== 'unicast'
  return isLoopbackName(host) || PRIVATE_NAME.test(host)
}

/** Statuses of a response to a body that is missing or wrong. */
const BODY_REFUSED: ReadonlySet<number> = new Set([400, 411, 415, 422])

/** Returns true for a status that may be that of the ping's delivery. It may also be that of a failure, as at an id of another form. */
function isOfDelivery({ status }: Pick<ServiceResponse, 'status'>): boolean {
  return status >= 500 || status === 409 || status === 424
}

/** Statuses of a path or a method that the service does not have. */
const NO_ROUTE: ReadonlySet<number> = new Set([404, 405, 501])
