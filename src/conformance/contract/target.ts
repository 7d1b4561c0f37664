import { bareHost, isLoopbackName } from '../../model/loopback.ts'
import { TRIAL_PREFIX } from '../../model/simulator/request-entry.ts'
import { isSuccess, NoAnswer, type ServiceResponse, type Ask, type Method, type Sent } from './ask.ts'
import { Broken, must, NotChecked, unlessNotChecked } from './outcome.ts'
import { fillBody, fillPath, type Profile, type RequestTemplate } from './profile.ts'
import type { Arrival, Hook, Receiver } from './receiver.ts'
import { idCandidates, isObject, isRemoved, itemLists, listsAt, secretsIn, type Entries } from './shape.ts'

/** An item of a push, with just the fields of the specification, section 2, and those of the profile. */
export interface Item {
  external_id: string
  name: string
  quantity: number
  price_cents: number
  note: string
}

/** A check that only this run pushes. */
export interface TrialCheck {
  /** Its external id. */
  id: string
  /** The path of its push. */
  path: string
  /** An item whose external id no other check has, so that it can be found wherever the service names it. */
  item(name: string, changes?: Partial<Item>): Item
}

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

/** The service under test, with what the cases need to look at it. */
export interface Target {
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
  freshCheck(): TrialCheck
  /** The body of a push of the latest check. With an ordering field, each body is newer than the one before. */
  body(items: readonly Item[], changes?: object): object
  /** The same body at a place in the order, 1 being the oldest. @throws NotChecked without an ordering field. */
  ordered(body: object, place: number): object
  /** Writes the ordering field in another form from now on; false where none is left to try. */
  orderOtherwise(): boolean
  /** Returns true when the service refused the first form, so that the present one is a guess. */
  isOrderGuessed(): boolean
  /** Pushes bodies one after the other. @throws Broken when one is refused. */
  push(check: TrialCheck, ...bodies: readonly object[]): Promise<void>
  /** The path where GET of the check is expected. */
  readPath(check: TrialCheck): string
  /**
   * Returns the answer to GET of the check.
   * @throws NotChecked when it cannot be read.
   */
  read(check: TrialCheck): Promise<unknown>
  /** Waits until the check has the expected ones of `items`. @throws Broken when it does not, NotChecked when it cannot be read. */
  shows(check: TrialCheck, items: readonly Item[], expected: readonly Item[]): Promise<void>
  /** The entries of an item in a check, unless they say that they are removed; `isAnswer` where GET answered the value. */
  entriesIn(value: unknown, item: Item, isAnswer?: boolean): readonly unknown[]
  /** Looks again and again until something is there; `undefined` when it is not, by the time that a push may take. */
  eventually<T>(look: () => Promise<T>, isThere: (seen: T) => boolean): Promise<T | undefined>
  /** Sends a registration, which may be a wrong one. What the service accepts is removed in the end. */
  tryToRegister(sent: Sent): Promise<ServiceResponse>
  /** Registers a hook for these event types. @throws Broken | NotChecked when that is refused. */
  register(...eventTypes: readonly string[]): Promise<Registered>
  /**
   * Pings an endpoint, whose id is found by trying.
   * @throws Broken when no id is accepted, NotChecked when the service seems unable to reach the receiver.
   */
  ping(endpoint: Registered): Promise<{ id: string; answer: ServiceResponse }>
  /** Makes a guest claim one unit of an item. @throws NotChecked when that is not possible. */
  claim(check: TrialCheck, item: Item): Promise<void>
  /** Moves the service's clock on. @throws NotChecked when that is not possible. */
  advance(seconds: number): Promise<void>
  /**
   * The error for something that did not arrive, which tells a service that does not send from one that cannot, and whether
   * other deliveries arrived.
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
  /** Time limit for a delivery, in milliseconds. */
  eventMs: number
  /** Time limit until GET shows a push, in milliseconds. */
  settleMs: number
  /** Wait where no further delivery is expected, in milliseconds. */
  quietMs: number
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

/** Form of the ordering field: a whole number, a number as text, or a time with `Z` or `+00:00`. */
type OrderForm = 'integer' | 'string' | 'time' | 'offset'

/** The places of ordered pushes are 9, 10 and 11, so that a service that compares numbers as text is seen. */
const ORDERED_FROM = 8

/** Ordering times lie in the past, since a service may refuse others. */
const HOUR_MS = 3_600_000

/** Between two looks at a check that does not yet show what was pushed, in milliseconds. */
const LOOK_AGAIN_MS = 100

export function createTarget({ baseUrl, token, apiKeys, isReachable, ...options }: TargetOptions): Target {
  const { ask, profile, receiver, timeouts } = options
  const { origin } = new URL(baseUrl)
  const { paths = {}, fields = {} } = profile
  const order = orderingOf(profile)
  const known = new Map<string, Promise<unknown>>()
  /** Registrations that the service accepted, with the id of the endpoint once a ping has confirmed it. */
  const registered: { answer: ServiceResponse; id: string | undefined }[] = []
  let hasRegistered = false
  const started = Date.now()
  let isUnreadable = false
  let isGuessed = false
  /** Set when GET of a check got no answer. */
  let unanswered: NotChecked | undefined
  /** The names of lists that have shown the items as they were pushed, each time. */
  let listNames: readonly string[] | undefined
  let checks = 0
  let latest = ''
  let bodies = 0
  /** The body with a value for its place in the order. */
  const stamped = (body: object, place: number): object => {
    if (order === undefined) return body
    const time = new Date(started - HOUR_MS + place * 1000).toISOString().replace(/\.\d+Z/, 'Z')
    const offset = time.replace('Z', '+00:00')
    const value = { integer: place, string: String(place), time, offset }[order.forms[0] ?? 'integer']
    return withField(body, order.field.split('.'), value)
  }

  const target: Target = {
    ...options,
    refusedHooks: [],
    freshCheck() {
      const number = ++checks
      const id = `${TRIAL_PREFIX}${token}-${number}`
      latest = id
      return {
        id,
        path: `/checks/external/${id}`,
        item: (name, changes = {}) => ({
          external_id: `${name}-${token}-${number}`,
          name: `Dish ${name}`,
          quantity: 1,
          price_cents: 900,
          note: 'no onions',
          ...profile.item,
          ...changes,
        }),
      }
    },
    body(items, changes = {}) {
      const subtotal = items.reduce((sum, { price_cents, quantity }) => sum + price_cents * quantity, 0)
      const tax = Math.round(subtotal / 10)
      const totals = { subtotal_cents: subtotal, tax_cents: tax, total_cents: subtotal + tax }
      // A table of its own for each check, since a service may allow one open check per table.
      const table = { number: String(checks) }
      const more = fillBody(profile.push, { external_check_id: latest }) as object | undefined
      return stamped({ table, status: 'open', items, totals, ...more, ...changes }, ++bodies)
    },
    ordered(body, place) {
      if (order === undefined)
        throw new NotChecked(
          'The specification defines no field that orders pushes. Name the field of this service with --order-by.',
        )
      return stamped(body, ORDERED_FROM + place)
    },
    orderOtherwise() {
      if (order === undefined || order.forms.length < 2) return false
      order.forms.shift()
      isGuessed = true
      return true
    },
    isOrderGuessed: () => isGuessed,
    async push(check, ...all) {
      for (const json of all) {
        const answer = await ask('PUT', check.path, { json })
        if (!isSuccess(answer)) throw refusalOf(answer)
      }
    },
    readPath: (check) =>
      fillPath(paths.check ?? '/checks/external/{external_check_id}', { external_check_id: check.id }),
    async read(check) {
      const path = target.readPath(check)
      if (unanswered !== undefined) throw unanswered
      const answer = await ask('GET', path).catch((error: unknown) => {
        if (!(error instanceof NoAnswer)) throw error
        // Each further one would take as long.
        unanswered = new NotChecked(
          `${error.message}. The specification does not define how to read a check.`,
        )
        throw unanswered
      })
      if (isSuccess(answer) && answer.json !== undefined) return answer.json
      throw new NotChecked(
        `GET ${path} returned ${answer.status}. The specification does not define how to read a check. Name the path with --profile (paths.check).`,
      )
    },
    async shows(check, items, expected) {
      let seen = ''
      const found = await target.eventually(
        async () => {
          const compared = compare(await readFresh(check), items, expected)
          seen = compared.seen
          return compared.isSame
        },
        (isSame) => isSame,
      )
      must(found !== undefined, `The items are ${seen}; expected ${namesOf(expected)}.`)
    },
    entriesIn(value, { external_id }, isAnswer = true) {
      const places = isAnswer ? fields : { external_id: fields.external_id }
      const lists = itemLists(value, [external_id], places)
      const names = listNames ?? (lists.has('items') ? ['items'] : [...lists.keys()])
      return names.flatMap((name) => lists.get(name)?.get(external_id) ?? []).filter(isKept)
    },
    async eventually(look, isThere) {
      const deadline = performance.now() + timeouts.settleMs
      for (;;) {
        const seen = await look()
        if (isThere(seen)) return seen
        if (performance.now() >= deadline) return undefined
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
      }
    },
    async tryToRegister(sent) {
      const answer = await ask('POST', '/webhook-endpoints', sent)
      if (isSuccess(answer)) registered.push({ answer, id: undefined })
      return answer
    },
    async register(...event_types) {
      const hook = receiver.open()
      const first = await target.tryToRegister({ json: { url: hook.url, event_types } })
      // A service may refuse private addresses; what a registration answers can be seen with another name, too.
      const isUnreachable = !isSuccess(first) && !hasRegistered && isPrivate(receiver.url)
      const nowhere = `https://${token.toLowerCase()}.invalid/${hook.url.split('/').at(-1)}`
      const answer = isUnreachable
        ? await target.tryToRegister({ json: { url: nowhere, event_types } })
        : first
      if (!isSuccess(answer)) {
        const seen = `Registering ${hook.url} returned ${first.status}`
        if (hasRegistered)
          throw new NotChecked(
            `${seen}, but another was accepted. The service may limit the number of endpoints.`,
          )
        if (receiver.isPublic && !isPrivate(receiver.url)) throw new Broken(`${seen}: ${first.text}`)
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
      must(
        candidates.length > 0,
        'The response to the registration contains no value that could be the id of the endpoint.',
      )
      const tried: string[] = []
      let bodyRefused: string | undefined
      for (const id of candidates) {
        const path = `/webhook-endpoints/${encodeURIComponent(id)}/test`
        const bare = await ask('POST', path)
        // The body of this request is not shown, and a service may want one.
        const answer = ofBody.has(bare.status) ? await ask('POST', path, { json: {} }) : bare
        if (ofBody.has(answer.status)) bodyRefused ??= path
        if (isSuccess(answer)) {
          for (const one of registered) if (one.answer === endpoint.answer) one.id = id
          return { id, answer }
        }
        tried.push(`${id}: ${answer.status}`)
        // A valid id does not prove that the ping reached this receiver.
        if (answer.status >= 500 || answer.status === 409 || answer.status === 424)
          throw target.missing(`The ping (status ${answer.status})`)
      }
      if (bodyRefused !== undefined)
        throw new NotChecked(
          `POST ${bodyRefused} refuses requests without a body and with {}. The specification does not define the body.`,
        )
      throw new Broken(
        `POST /webhook-endpoints/{id}/test accepted no id from the response to the registration (${tried.join(', ')}).`,
      )
    },
    async claim(check, item) {
      if (profile.claim === undefined)
        throw new NotChecked(
          'This case needs a claimed item. Describe the request that claims one with --profile (claim).',
        )
      const values = { origin, external_check_id: check.id, external_id: item.external_id }
      await control("The guest's claim", profile.claim, values)
    },
    async advance(seconds) {
      if (profile.clock === undefined)
        throw new NotChecked(
          'Retries take 35 hours. Describe the request that moves the clock with --profile (clock).',
        )
      await control('Moving the clock', profile.clock, { origin, seconds })
    },
    missing(what) {
      const late = `${what} did not arrive within ${timeouts.eventMs / 1000} s`
      if (receiver.dropped() > 0)
        return new NotChecked(
          `${late}, and ${receiver.dropped()} deliveries were too large or too many to keep.`,
        )
      if (receiver.arrived() === 0 && receiver.distrusted() > 0)
        return new NotChecked(
          `The service does not trust the certificate of ${receiver.url}. Make the service trust ca/ca.pem of the data directory (.tabwire), or pass --receiver-url.`,
        )
      const [others, strays] = [receiver.arrived(), receiver.strays()]
      // A tunnel that does not lead here may also change the path.
      if (others === 0 && strays.length > 0 && (isReachable || !receiver.isPublic))
        return new Broken(
          `${late} at a registered URL, such as ${receiver.url}/hook-1. Signed requests arrived elsewhere: ${strays.join(', ')}.`,
        )
      if (others > 0)
        return new Broken(`${late}. ${others} other ${others === 1 ? 'delivery' : 'deliveries'} arrived.`)
      if (isReachable) return new Broken(`${late}.`)
      return new NotChecked(
        receiver.isPublic
          ? `${late}, and --receiver-url ${receiver.url} does not lead to the receiver of this command.`
          : `${late}. If the service cannot reach ${receiver.url}, pass --receiver-url and --receiver-port. If it sends later, pass --wait.`,
      )
    },
    secrets: () => [
      ...apiKeys,
      ...registered.flatMap(({ answer }) => secretsIn(answer.json, fields.signing_secret)),
    ],
    mentions: ({ body }) => body.includes(`-${token}-`),
    async once<T>(name: string, work: () => Promise<T>) {
      const before = known.get(name) as Promise<T> | undefined
      if (before !== undefined) return before
      const doing = work()
      known.set(name, doing)
      return doing
    },
    async remove({ answer: accepted }) {
      const one = registered.find(({ answer }) => answer === accepted)
      const id = one?.id ?? idCandidates(accepted, fields.endpoint_id)[0]
      if (paths.delete_endpoint === undefined || one === undefined || id === undefined) return undefined
      const answer = await ask('DELETE', fillPath(paths.delete_endpoint, { origin, id }))
      if (isSuccess(answer)) registered.splice(registered.indexOf(one), 1)
      return answer
    },
    async cleanUp() {
      await Promise.all(registered.map((one) => target.remove(one).catch(() => undefined)))
      return registered.length
    },
  }
  return target

  /** Sends a request of the profile, which is no rule of the specification. @throws NotChecked unless it succeeds. */
  async function control(
    what: string,
    { method, path, headers, body }: RequestTemplate,
    values: Readonly<Record<string, string | number>>,
  ): Promise<void> {
    const json = fillBody(body, values)
    const sent = { ...(json === undefined ? {} : { json }), ...(headers === undefined ? {} : { headers }) }
    const answer = await ask(method, fillPath(path, values), sent).catch((error: unknown) => {
      if (error instanceof NoAnswer) throw new NotChecked(`${what} failed: ${error.message}.`)
      throw error
    })
    if (!isSuccess(answer)) throw new NotChecked(`${what} returned ${answer.status}.`)
  }

  /**
   * Returns true when the items are the expected ones in one of the lists that showed them so far; before anything was shown, in a
   * list called `items`, or else in any. Other lists, such as a history, also hold what was removed.
   */
  function compare(check: unknown, items: readonly Item[], expected: readonly Item[]) {
    if (fields.items !== undefined && listsAt(check, fields.items) === undefined)
      throw new NotChecked(
        `The response of GET has no list at ${fields.items}. Correct fields.items of --profile, a path from the root of the response.`,
      )
    const lists = itemLists(
      check,
      items.map(({ external_id }) => external_id),
      fields,
    )
    const names = listNames ?? (lists.has('items') ? ['items'] : [...lists.keys()])
    const shownIn = (name: string) => namesOf(foundIn(lists.get(name), items))
    const matching = names.filter((name) => shownIn(name) === namesOf(expected))
    const isSame = matching.length > 0 || (names.length === 0 && expected.length === 0)
    if (isSame && expected.length > 0) listNames = matching
    return { isSame, seen: names[0] === undefined ? namesOf([]) : shownIn(names[0]) }
  }

  /** A check that was just pushed may not be there yet; where none could be read before, this does not wait. */
  async function readFresh(check: TrialCheck): Promise<unknown> {
    let seen: unknown
    await target.eventually(
      async () => (seen = await unlessNotChecked(target.read(check))),
      (one) => isUnreadable || !(one instanceof NotChecked),
    )
    isUnreadable = seen instanceof NotChecked
    if (seen instanceof NotChecked) throw seen
    return seen
  }
}

/** The fields of a push that the specification shows. */
const SHOWN =
  /^(table|number|status|items?|external_id|name|quantity|price_cents|note|totals?|subtotal_cents|tax_cents|total_cents)$/
/** Words around the name of a field in an error. */
const COMMON = /^(is|are|was|be|field|fields|value|property|key|parameter|attribute|a|an|the|of|and|or)$/i

/**
 * The error for a push that was refused. Which fields are required is not shown, so a service may want one that is not
 * pushed: then nothing can be judged until a profile names it.
 */
function refusalOf({ status, text }: ServiceResponse): Broken | NotChecked {
  const seen = `A push returned ${status}: ${text}`
  const named = [
    ...text.matchAll(/(\w+)\W*(?:is|are|was)?\W*(?:required|missing|must be (?:set|given|present))/gi),
    ...text.matchAll(/(?:required|requires|missing)\W*(?:fields?|property|key|parameter)?\W*(\w+)/gi),
  ].flatMap(([, name = '']) => (COMMON.test(name) ? [] : [name]))
  const isUnknown = named.some((name) => !SHOWN.test(name) && !/^\d/.test(name))
  if ((status === 400 || status === 422) && isUnknown && !named.some((name) => SHOWN.test(name)))
    return new NotChecked(`Name the fields that this service requires with --profile (push, item). ${seen}`)
  return new Broken(seen)
}

/** Returns true when an address is one that services may refuse or cannot reach: of this machine or a private network. */
function isPrivate(url: string): boolean {
  const { hostname } = new URL(url)
  return isLoopbackName(bareHost({ hostname })) || /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(hostname)
}

/** Statuses of a response to a body that is missing or wrong. */
const ofBody: ReadonlySet<number> = new Set([400, 411, 415, 422])

function isKept(entry: unknown): boolean {
  return !isRemoved(entry)
}

function foundIn(entries: Entries | undefined, items: readonly Item[]): Item[] {
  return items.filter(({ external_id }) => entries?.get(external_id)?.some(isKept))
}

/** A copy with a value at a path of property names. */
function withField(body: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  if (rest.length === 0) return { ...body, [name]: value }
  const inside: unknown = Reflect.get(body, name)
  return { ...body, [name]: withField(isObject(inside) ? inside : {}, rest, value) }
}

/** The field that orders pushes, and the forms that its values may have, most likely first. */
function orderingOf({ order_by }: Profile): { field: string; forms: OrderForm[] } | undefined {
  if (order_by === undefined) return undefined
  const times: OrderForm[] = ['time', 'offset']
  if (typeof order_by !== 'string')
    return { field: order_by.field, forms: order_by.type === 'time' ? times : [order_by.type] }
  const isTime = /(_at|_on|time|date|timestamp)$/i.test(order_by)
  const numbers: OrderForm[] = ['integer', 'string']
  return { field: order_by, forms: isTime ? [...times, ...numbers] : [...numbers, ...times] }
}

function namesOf(items: readonly Item[]): string {
  const names = items.map(({ external_id }) => external_id.split('-')[0] ?? '').sort()
  return names.length === 0 ? 'none' : names.join(', ')
}
