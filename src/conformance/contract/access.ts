import { isSuccess, statusOf, type ServiceResponse, type RequestOptions } from './ask.ts'
import { rulesOf, type ContractCase } from './case.ts'
import { ifPossible, must, NotChecked } from './outcome.ts'
import { accepted } from './pushes.ts'
import { newUrl, pinged, registered, registeredAnother } from './endpoints.ts'
import { hasList, swapCase } from './shape.ts'
import type { Target } from './target.ts'

/** Asks for the locations with the key of the check. @throws Broken when that is refused. */
function allowed({ once, ask }: Target): Promise<ServiceResponse> {
  return once('locations', async () => {
    const answer = await ask('GET', '/locations')
    must(isSuccess(answer), `GET /locations returned ${statusOf(answer)}.`)
    return answer
  })
}

/** @throws Broken when the answer holds no list, NotChecked when it is not JSON. */
async function locations(target: Target): Promise<void> {
  const { json, text } = await allowed(target)
  if (json === undefined && text.trim() !== '')
    throw new NotChecked(
      'The response of GET /locations is not JSON. The specification does not define its form.',
    )
  must(hasList(json), 'The response of GET /locations contains no list.')
}

/** A request that succeeds with the right key, to be sent with another. */
interface Call {
  name: string
  send: (sent: RequestOptions) => Promise<ServiceResponse>
}

/** Registers with the right body and another key. Nothing may arrive at the hook of a registration that is refused. */
async function registration(target: Target, sent: RequestOptions): Promise<ServiceResponse> {
  const { hook, url } = await newUrl(target)
  const json = { url, event_types: ['check.created', 'check.updated'] }
  const answer = await target.tryToRegister({ ...sent, json })
  if (!isSuccess(answer)) {
    target.refusedHooks.push(hook)
    // Another reason than the key, such as a limit, may be the cause.
    if (answer.status !== 401 && answer.status !== 403) await registeredAnother(target)
  }
  return answer
}

/** Pushes a new check with another key. */
function push({ ask, freshCheck, body }: Target, sent: RequestOptions): Promise<ServiceResponse> {
  const check = freshCheck()
  return ask('PUT', check.path, { ...sent, json: body(check, [check.item('a')]) })
}

/** The requests beside `GET /locations` and the push that succeed with the right key here. */
async function otherCalls(target: Target): Promise<Call[]> {
  const { ask, once } = target
  const calls: Call[] = []
  const path = await once('readable check', async () => {
    const check = target.freshCheck()
    const isReadable = async () => {
      await accepted(target)
      await target.push(check, target.body(check, [check.item('a')]))
      return target.eventually(
        () => ifPossible(target.read(check)),
        (seen) => seen !== undefined,
      )
    }
    return (await ifPossible(isReadable())) === undefined ? undefined : target.readPath(check)
  })
  if (path !== undefined) calls.push({ name: 'GET of a check', send: (sent) => ask('GET', path, sent) })
  if ((await ifPossible(registered(target))) === undefined) return calls
  const endpoints = '/webhook-endpoints'
  const all = await once('list of endpoints', () => ask('GET', endpoints))
  // The specification shows no such list. One that there is needs a key, as everything does.
  if (isSuccess(all) && hasList(all.json))
    calls.push({ name: 'GET /webhook-endpoints', send: (sent) => ask('GET', endpoints, sent) })
  const ping = await ifPossible(pinged(target))
  const test = `${endpoints}/${encodeURIComponent(ping?.id ?? '')}/test`
  if (ping !== undefined && isSuccess(ping.answer))
    calls.push({ name: 'A ping', send: (sent) => ask('POST', test, { ...ping.sent, ...sent }) })
  // Last, because where its refusal has another reason the case ends.
  calls.push({ name: 'A registration', send: (sent) => registration(target, sent) })
  return calls
}

/** A wrong value of `Authorization`, and its description for messages. */
type WrongKey = readonly [authorization: string | null, what: string]

const NONE: WrongKey = [null, 'without a key']
const UNKNOWN: WrongKey = ['Bearer no-such-key', 'with an unknown key']

/** @throws Broken unless the request is refused with each of these values. */
async function requireRefusal({ name, send }: Call, values: readonly WrongKey[]): Promise<void> {
  for (const [authorization, what] of values) {
    const { status } = await send({ authorization })
    must(!isSuccess({ status }), `${name} ${what} returned ${status}; expected a 4xx status.`)
  }
}

const list = ({ ask }: Target): Call => ({
  name: 'GET /locations',
  send: (sent) => ask('GET', '/locations', sent),
})

/** Keys that are nearly the right one: with another end, middle or case of letters. */
function alteredKeys(key: string): WrongKey[] {
  const middle = Math.floor(key.length / 2)
  const other = key[middle] === 'x' ? 'k' : 'x'
  const altered = [
    [`${key}x`, 'with an extra letter after the key'],
    [key.slice(0, -2), 'with a shortened key'],
    [key.slice(0, middle) + other + key.slice(middle + 1), 'with one letter of the key changed'],
    // The digits of a hexadecimal number or a UUID may be in either case.
    [/^[0-9a-f-]+$/i.test(key) ? key : swapCase(key), 'with the key in another letter case'],
  ] as const
  return altered
    .filter(([one]) => one !== key && one !== '')
    .map(([one, what]) => [`Bearer ${one}`, what] as const)
}

/** The right key in other forms than `Bearer` and the key, and `Bearer` without one. */
function otherSchemes(key: string): WrongKey[] {
  const basic = Buffer.from(`${key}:`).toString('base64')
  return [
    ['Bearer', 'with Bearer and no key'],
    [`Basic ${basic}`, 'with the key as Basic credentials'],
    [`Basic ${key}`, 'with Basic and the key'],
    [`Token ${key}`, 'with Token and the key'],
    [key, 'with only the key'],
  ]
}

const rule = rulesOf('access', allowed)

const SECTION = 'sections 4 and 5: all endpoints require Authorization: Bearer and the key'

/** Specification, section 5: keys and scopes; and section 4, `GET /locations`. */
export const access: readonly ContractCase[] = [
  {
    group: 'access',
    id: 'locations',
    title: 'GET /locations returns a list',
    basis: 'specification',
    section: 'section 4: GET /locations lists the locations',
    async control({ ask }) {
      const [first, nothing] = [await ask('GET', '/locations'), await ask('GET', '/no-such-thing')]
      if (isSuccess(nothing) && nothing.text === first.text)
        throw new NotChecked(
          'The service responds to unknown paths in the same way, so this response proves nothing.',
        )
    },
    check: locations,
  },
  rule('no_key', 'a call without a key is refused', SECTION, async (target) => {
    for (const call of [list(target), ...(await otherCalls(target))]) await requireRefusal(call, [NONE])
  }),
  rule('unknown_key', 'a call with an unknown key is refused', SECTION, async (target) => {
    const key = target.keyFor('GET', '/locations') ?? ''
    await requireRefusal(list(target), [UNKNOWN, ...alteredKeys(key)])
    const isPushed = (await ifPossible(accepted(target).then(() => true))) === true
    const pushes = isPushed ? [{ name: 'A push', send: (sent: RequestOptions) => push(target, sent) }] : []
    for (const call of [...pushes, ...(await otherCalls(target))]) await requireRefusal(call, [UNKNOWN])
  }),
  rule('no_bearer', 'a call with another scheme is refused', SECTION, async (target) => {
    const key = target.keyFor('GET', '/locations')
    const right = key === undefined ? [] : otherSchemes(key)
    await requireRefusal(list(target), [['Basic bm8ta2V5Og==', 'with Basic'], ...right])
  }),
  rule(
    'push_without_key',
    'a push without a key is refused',
    'section 4: all endpoints require the Authorization header',
    (target) => requireRefusal({ name: 'A push', send: (sent) => push(target, sent) }, [NONE]),
    accepted,
  ),
  rule(
    'write_scope',
    'a key without write scope cannot register an endpoint',
    'section 4: POST /webhook-endpoints requires write scope',
    async (target) => {
      const { ask, limitedKey } = target
      if (limitedKey === undefined)
        throw new NotChecked('This case needs a key without write scope. Pass one with --read-key.')
      const sent: RequestOptions = { authorization: `Bearer ${limitedKey}` }
      const read = await ask('GET', '/locations', sent)
      if (!isSuccess(read))
        throw new NotChecked(`GET /locations also refuses the key of --read-key (${read.status}).`)
      const answer = await registration(target, sent)
      must(!isSuccess(answer), `The registration returned ${answer.status}; expected a 4xx status.`)
    },
    registered,
  ),
]
