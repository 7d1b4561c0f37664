import { isSuccess, parseJson } from './ask.ts'
import { rulesOf, type ContractCase, type CaseRule } from './case.ts'
import { isGenuine } from './receiver.ts'
import { Broken, ifPossible, must, NotChecked } from './outcome.ts'
import { fillPath } from './profile.ts'
import { nested } from './shape.ts'
import { requireJson, type Registered, type Target } from './target.ts'

/** Registers an endpoint for events about checks; done once. @throws Broken | NotChecked when that is refused. */
export function registered(target: Target): Promise<Registered> {
  return target.once('registered', async () => {
    const endpoint = await target.register('check.created', 'check.updated')
    const nonsense = await target.tryToRegister({ body: '{', authorization: null })
    if (isSuccess(nonsense))
      throw new NotChecked(
        'The service accepts a registration without JSON and key, so acceptance proves nothing.',
      )
    return endpoint
  })
}

/** Returns that endpoint when its deliveries can arrive. @throws Broken | NotChecked */
export async function reachable(target: Target): Promise<Registered> {
  const endpoint = await registered(target)
  if (!endpoint.isUnreachable) return endpoint
  throw new NotChecked(
    `The service refuses ${endpoint.hook.url} as an endpoint. Pass an accepted address with --receiver-url and --receiver-port.`,
  )
}

/** Pings that endpoint, once; returns its id, the answer, and how many deliveries had arrived before. */
export function pinged(target: Target) {
  return target.once('pinged', async () => {
    const endpoint = await reachable(target)
    const before = endpoint.hook.arrivals.length
    return { ...endpoint, before, ...(await target.ping(endpoint)) }
  })
}

/**
 * Opens a hook. Returns it with its URL, or, where the service refuses the receiver's address, with a URL under the name that
 * it accepted.
 */
export async function newUrl(target: Target): Promise<Pick<Registered, 'hook' | 'url'>> {
  const { isUnreachable, url: accepted } = await registered(target)
  const hook = target.receiver.open()
  const [path = ''] = /[^/]+$/.exec(hook.url) ?? []
  return { hook, url: isUnreachable ? accepted.replace(/[^/]+$/, path) : hook.url }
}

/** Registers another endpoint, once. @throws NotChecked when that is refused: then refusals of wrong registrations prove nothing. */
export function registeredAnother(target: Target): Promise<void> {
  return target.once('registered another', async () => {
    const { url } = await newUrl(target)
    const { status } = await target.tryToRegister({ json: { url, event_types: ['check.created'] } })
    if (!isSuccess({ status }))
      throw new NotChecked(
        `The service refuses a second registration (${status}), so it may refuse others for the same reason.`,
      )
  })
}

const rule = rulesOf('endpoints', registered)

const refuses = (
  id: string,
  title: string,
  section: string,
  urls: (accepted: string) => readonly (string | null | undefined)[],
): CaseRule =>
  rule(id, title, section, async (target) => {
    const { url: accepted } = await registered(target)
    for (const url of urls(accepted)) {
      const json = { url, event_types: ['check.created'] }
      const { status } = await target.tryToRegister({ json })
      const what =
        url === undefined ? 'A registration without url' : `Registering the url ${JSON.stringify(url)}`
      must(!isSuccess({ status }), `${what} returned ${status}; expected a 4xx status.`)
      // Another reason than the URL, such as a limit, may be the cause.
      if (status !== 400 && status !== 422) await registeredAnother(target)
    }
  })

/** Specification, sections 2 and 4: the registration of webhook endpoints. */
export const endpoints: readonly ContractCase[] = [
  {
    ...rule(
      'registered',
      'an HTTPS endpoint can be registered',
      'section 4: POST /webhook-endpoints',
      async (target) => {
        await registered(target)
      },
    ),
    control: undefined,
  },
  refuses(
    'https_only',
    'an endpoint without HTTPS is refused',
    'section 2: url must be an HTTPS URL',
    withoutTls,
  ),
  refuses('url_required', 'a registration without url is refused', 'section 2: url is required', () => [
    undefined,
    null,
  ]),
  refuses('url_is_a_url', 'an invalid url is refused', 'section 2: url must be an HTTPS URL', () => [
    'not a url',
    'httpsnowhere',
    'https://',
    'https:// not a host',
  ]),
  rule(
    'secret_shown',
    'the registration returns a signing secret that starts with whsec_',
    'section 2: the signing secret starts with whsec_',
    async (target) => {
      const { secrets, answer } = await registered(target)
      if (secrets.length === 0) requireJson(answer)
      must(secrets.length > 0, 'The response to the registration contains no text that starts with whsec_.')
    },
  ),
  {
    ...rule(
      'own_secret',
      'each endpoint has a signing secret of its own',
      "section 5: the endpoint's signing secret",
      async (target) => {
        const { secrets } = await registered(target)
        if (secrets.length === 0) throw new NotChecked('The registration returns no secret.')
        const other = await target.register('check.closed')
        const shared = secrets.every((secret) => other.secrets.includes(secret))
        must(!shared, 'Two endpoints have the same signing secret.')
      },
    ),
    basis: 'advice',
  },
  rule(
    'unknown_endpoint',
    'a ping to an unknown endpoint is refused',
    'section 4: id identifies a registered endpoint',
    async (target) => {
      const { id, sent, answer: known } = await pinged(target)
      if (!isSuccess(known))
        throw new NotChecked(
          `The ping of a registered endpoint returned ${known.status}, so a refusal shows nothing.`,
        )
      const path = `/webhook-endpoints/${encodeURIComponent(unlike(id))}/test`
      const answer = await target.ask('POST', path, sent)
      must(!isSuccess(answer), `The ping returned ${answer.status}; expected a 4xx status.`)
    },
    pinged,
  ),
  {
    group: 'endpoints',
    id: 'unknown_event_type',
    title: 'a registration for an unknown event type',
    section: 'section 2: other event types are not defined',
    async observe(target) {
      const { url } = await newUrl(target)
      const { status } = await target.tryToRegister({ json: { url, event_types: ['check.flambeed'] } })
      return `returned ${status}`
    },
  },
]

/**
 * Returns URLs without TLS: the one that the service accepts with HTTPS, in other schemes. Also plain HTTP on the machine of
 * the service, and on a host whose name never resolves.
 */
function withoutTls(accepted: string): string[] {
  const others = ['http:', 'HTTP:', 'wss:'].map((scheme) => accepted.replace(/^https:/i, scheme))
  return [...others, 'http://localhost:4199/webhooks', 'http://hooks.restaurant.invalid/webhooks']
}

/** An id of the same form that no endpoint has. */
function unlike(id: string): string {
  // Behind a prefix, too, a neighbouring number may be another endpoint.
  if (/^\D*\d{1,9}$/.test(id)) return id.replace(/\d+$/, '987654321987')
  // The character before the last: of the last one in base64url, a decoder may ignore bits.
  const changed = id.replace(/[0-9a-z](?=[^0-9a-z]*[0-9a-z]?[^0-9a-z]*$)/i, (one) =>
    one === '7' ? '3' : '7',
  )
  if (changed === id) throw new Broken(`The id ${id} has no letters or digits to change.`)
  return changed
}

/** Runs late, when all deliveries of the run have arrived. */
export const secretOnce: ContractCase = rule(
  'secret_once',
  'the signing secret is never shown again',
  'section 2: returned only in the response to registration, never again',
  async (target) => {
    const { id, answer, hook, secrets } = await pinged(target)
    const isUsed = (secret: string) =>
      hook.arrivals.some((arrival) => isGenuine(arrival, [secret], target.serviceName))
    const secret = secrets.find(isUsed) ?? (secrets.length === 1 ? secrets[0] : undefined)
    if (secret === undefined) throw new NotChecked('The registration returned no secret.')
    const path = fillPath(target.profile.paths?.endpoint ?? '/webhook-endpoints/{id}', { id })
    const answers = [
      ['a ping', answer],
      [`GET ${path}`, await target.ask('GET', path)],
      ['GET /webhook-endpoints', await target.ask('GET', '/webhook-endpoints')],
    ] as const
    for (const [request, { text, headers }] of answers)
      requireAbsent(secret, `The response to ${request}`, text, headers)
    for (const { body, headers } of hook.arrivals)
      requireAbsent(secret, 'A delivery', body.toString(), headers)
    if (target.profile.paths?.delete_endpoint === undefined) return
    const spare = await ifPossible(target.register('check.created'))
    const removed = spare === undefined ? undefined : await target.remove(spare)
    const isShown = spare?.secrets.some((one) => shows(removed?.text ?? '', one)) ?? false
    must(!isShown, 'The response to DELETE contains the signing secret.')
  },
  // The ping is an answer that could show it, so something has been looked at.
  pinged,
)

/** @throws Broken when a message shows a secret, with the place. */
function requireAbsent(secret: string, what: string, text: string, headers: object): void {
  const leaking = Object.entries(headers).find(([, value]) => shows(JSON.stringify(value), secret))
  const place = leaking === undefined ? 'its body' : `the header ${leaking[0]}`
  must(leaking === undefined && !shows(text, secret), `${what} contains the signing secret, in ${place}.`)
}

/** Fewest characters after the prefix of a secret that are looked for alone; fewer may be part of any text. */
const MIN_SECRET = 16

/** Returns true when a text, or a string in its JSON, shows a secret, its part after the prefix, or either in another form. */
function shows(text: string, secret: string): boolean {
  const rest = secret.slice('whsec_'.length)
  const parts = [secret, ...(rest.length < MIN_SECRET ? [] : [rest])]
  const forms = parts.flatMap((part) => [
    part,
    encodeURIComponent(part),
    Buffer.from(part).toString('hex'),
    Buffer.from(part).toString('base64').replace(/=+$/, ''),
  ])
  // JSON may have escapes, such as PHP's for slashes.
  const texts = [text, ...[...nested(parseJson(text))].map(({ value }) => value)]
  return texts.some((one) => typeof one === 'string' && forms.some((form) => one.includes(form)))
}
