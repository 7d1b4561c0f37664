import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { onTestFinished } from 'vitest'
import { testAuthority } from './simulator.ts'

/**
 * An independent implementation of the specification: one process, plain maps, its own names. Options select each
 * choice that the specification leaves open, and common mistakes.
 */

export interface Line {
  external_id: string
  name: string
  quantity: number
  price_cents: number
  note?: string
}
export interface Body extends Record<string, unknown> {
  table: { number: string }
  status: string
  items: Line[]
  totals: Record<string, number>
}
export interface Bill {
  ref: string
  body: Body
  /** External ids of what guests have claimed. */
  taken: Set<string>
  removed: Line[]
  pushes: number
  at: Date
}
export interface Hook {
  id: string
  url: string
  types: string[]
  secret: string
}
export interface Reply {
  status: number
  json?: unknown
  /** In place of `json`. */
  text?: string
  headers?: Record<string, string>
}
interface Event {
  id: string
  type: string
  created_at: string
  data: unknown
}
interface Sending {
  hook: Hook
  event: Event
  bytes: string
  attempts: number
  due: number
  /** Of the first attempt, in milliseconds. */
  started: number
}

const FULL = 'full-key'
const READ = 'read-key'
/** Minutes. */
const WAITS = [1, 5, 30, 120, 480, 1440]

export const defaults = {
  /** Which key it is for a request such as `GET /v1/locations`: `full`, `read`, or none that is known. */
  keyOf: (authorization: string | undefined, _request: string): 'full' | 'read' | undefined =>
    authorization === `Bearer ${FULL}` ? 'full' : authorization === `Bearer ${READ}` ? 'read' : undefined,
  refusal: (status: number, code: string): Reply => ({ status, json: { error: code } }),
  requestId: (_status: number, _url: string, _socket: Socket): string | undefined => randomUUID(),
  refusesLocations: false,
  locations: (): unknown => ({ locations: [{ key: 'north' }] }),
  /** Why a push to the path of a check is refused, or nothing. */
  invalid: (_body: Body, _ref: string): string | undefined => undefined,
  /** Effect of a push with a wrong item, which is refused: a mistake. */
  onWrongItem: (_ref: string, _next: Body): void => undefined,
  /** Response to a push with a wrong item; by default 422. */
  wrongItemReply: undefined as Reply | Promise<Reply> | undefined,
  /** Whether a new check may be opened at a table, given those of the open ones. */
  isTableFree: (_table: string, _tables: readonly string[]): boolean => true,
  /** Whether a push has any effect; all are answered as if they had. */
  isAccepted: (_next: Body): boolean => true,
  /** Whether a push takes the place of the one before. */
  isNewer: (_before: Body, _next: Body): boolean => true,
  /** Returns the stored body after a push, by the one before, and the one before when the push was judged. */
  merged: (_before: Body | undefined, next: Body, _judged?: Body): Body => next,
  /** Whether a push touches what is taken. */
  conflicts: (bill: Bill, next: Body): boolean =>
    [...bill.taken].some((id) => {
      const [was, is] = [bill.body, next].map(({ items }) => items.find((one) => one.external_id === id))
      return was !== undefined && (is === undefined || is.price_cents < was.price_cents)
    }),
  /** Effect of a refused push, a mistake. */
  onConflict: (_bill: Bill, _next: Body): { events?: number; type?: string } => ({}),
  conflictReply: (_next: Body): Reply => ({ status: 409, json: { error: 'conflict_with_paid_items' } }),
  isReplay: (before: Body, next: Body): boolean => JSON.stringify(before) === JSON.stringify(next),
  /** Effect of a replay, a mistake. */
  onReplay: (_bill: Bill): { events?: number; afterMs?: number; type?: string } => ({}),
  /** Effect of an older push, a mistake. Returns the body for an event about it. */
  onStale: (_bill: Bill, _next: Body): Body | undefined => undefined,
  /** What is taken after a push. */
  takenAfter: (taken: Set<string>): Set<string> => taken,
  /** The id of the check that a push is for. */
  canonicalId: (ref: string, _body: Body): string => ref,
  /** Whether two checks, or two paths of checks, are the same. */
  isSame: (one: string, other: string): boolean => one === other,
  /** Effect of a guest's claim. */
  onClaim: (bill: Bill, line: string): void => void bill.taken.add(line),
  /** The check as it is shown and sent. */
  shown: (bill: Bill): unknown => ({ ref: bill.ref, ...bill.body, updated_at: bill.at.toISOString() }),
  /** Response to GET: the shown check, in any envelope. */
  read: (shown: unknown): unknown => shown,
  readPath: (ref: string): string => `/v1/checks/external/${ref}`,
  /** Response to an older push; by default that of any push. */
  staleReply: (): Reply | undefined => undefined,
  pushReply: (shown: unknown, isNew: boolean): Reply => ({ status: isNew ? 201 : 200, json: shown }),
  /** Whether a request is answered 429, by its number. */
  throttles: (_number: number): boolean => false,
  /** Whether a request is answered 503 with Retry-After, by its number. */
  isBusy: (_number: number): boolean => false,
  /** The list of endpoints; `undefined` where there is none. */
  hooksShown: undefined as ((hooks: readonly Hook[]) => unknown) | undefined,
  /** How long a push takes until it is applied, in milliseconds. */
  applyAfterMs: 0,
  /** How long a push takes from its judgement until it is written and answered, in milliseconds. */
  writesAfterMs: (_next: Body): number => 0,
  takesUrl: (url: string | undefined): boolean =>
    URL.canParse(url ?? '') && new URL(url ?? '').protocol === 'https:',
  newHookId: (): string => randomUUID(),
  newSecret: (): string => `whsec_${randomBytes(24).toString('hex')}`,
  registered: (hook: Hook): Reply => ({
    status: 201,
    json: { id: hook.id, url: hook.url, event_types: hook.types, secret: hook.secret },
  }),
  /** Response to GET of an endpoint. */
  hookShown: (hook: Hook): unknown => ({ id: hook.id, url: hook.url }),
  /** The text of that answer, in place of its JSON. */
  hookReply: (_hook: Hook): string | undefined => undefined,
  needsWriteScope: true,
  /** Whether an endpoint is registered, although its key is refused. */
  registersRefused: false,
  /** Response to DELETE of an endpoint. */
  removed: (_hook: Hook): Reply => ({ status: 204 }),
  /** Whether a ping is asked for with a JSON body. */
  wantsPingBody: false,
  maxHooks: Infinity,
  /** Whether a new endpoint takes the place of those before. */
  replacesHooks: false,
  /** Whether the receiver's certificate is trusted. */
  trusts: true,
  pingsAtRegistration: false,
  pingType: 'ping',
  pingData: (_hook: Hook): unknown => ({ hello: 'there' }),
  /** Whether two ids of endpoints are the same. */
  isSameHook: (one: string, other: string): boolean => one === other,
  /** The endpoints that a ping of one goes to. */
  pingsTo: (hook: Hook, _all: readonly Hook[]): readonly Hook[] => [hook],
  /** Whether a ping to an id is answered 2xx. */
  takesPing: (hook: Hook | undefined): boolean => hook !== undefined,
  pingReply: (): Reply | Promise<Reply> => ({ status: 202 }),
  /** The types of the events of a change. */
  typesOf: (isNew: boolean, { status }: Body): string[] => [
    isNew ? 'check.created' : status === 'closed' ? 'check.closed' : 'check.updated',
  ],
  /** The types of the events of a claim. */
  typesOfClaim: [] as string[],
  envelope: (event: Event): object => event,
  newEventId: (_type: string): string => `e-${randomUUID()}`,
  createdAt: (): string => new Date().toISOString(),
  wants: (hook: Hook, type: string): boolean => hook.types.includes(type),
  header: 'X-Acme-Signature',
  signed: (hook: Hook, body: string, t: number): string =>
    `t=${t},v1=${createHmac('sha256', hook.secret).update(`${t}.${body}`).digest('hex')}`,
  /** `t` of an attempt. */
  timeOf: (now: number, _sending: Sending): number => Math.floor(now / 1000),
  /** How long it takes until the clock moves, by the number of the move, in milliseconds. */
  movesAfterMs: (_move: number): number => 0,
  /** The furthest that one request moves the clock, in seconds. */
  longestMove: Infinity,
  /** The content coding of responses. */
  coding: undefined as 'gzip' | undefined,
  /** The URL that a delivery goes to. */
  targetOf: (url: string): string => url,
  method: 'POST' as 'POST' | 'PUT',
  retryMethod: undefined as 'PUT' | undefined,
  /** Further headers of a delivery. */
  moreHeaders: (_hook: Hook): Record<string, string> => ({}),
  /** How often an attempt goes out. */
  copies: 1,
  sendsAfterMs: 0,
  /** Whether anything is sent at all. */
  sends: (_type: string): boolean => true,
  /** How long an answer to a delivery is waited for, in milliseconds. */
  answerMs: 10_000,
  waits: WAITS,
  /** Milliseconds of real time until each retry, where its clock is not moved. */
  retriesAfterMs: undefined as number | undefined,
  /** How much later than due a retry is made, as a share of its wait. */
  lateness: 0,
  succeeds: (status: number, _attempt: number): boolean => status >= 200 && status < 300,
  followsRedirects: false,
  /** Whether an attempt whose connection ends without an answer is made again. */
  retriesBrokenConnections: true,
  /** The body that is sent for the signed bytes. */
  bodyOf: (bytes: string): string | Buffer => bytes,
  /** The bytes of a retry. */
  bytesOfRetry: (sending: Sending): string => sending.bytes,
}

export type Choices = typeof defaults

export interface ForeignService {
  baseUrl: string
  apiKey: string
  readKey: string
}

/**
 * Starts one on a free port of 127.0.0.1, which ends with the test. It trusts the authority of the tests. Concurrent tests
 * pass the hook of their own context, since the global one may be another test's by then.
 */
export async function openForeignService(
  changes: Partial<Choices> = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<ForeignService> {
  const choices: Choices = { ...defaults, ...changes }
  const dispatcher = new Agent({
    connect: choices.trusts ? { ca: (await testAuthority()).certificatePem } : {},
  })
  const bills = new Map<string, Bill>()
  const hooks: Hook[] = []
  const queue: Sending[] = []
  const timers = new Set<NodeJS.Timeout>()
  let skew = 0
  let requests = 0
  let moves = 0
  const now = () => Date.now() + skew
  const later = (ms: number, work: () => void) => {
    if (ms === 0) return work()
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }

  async function attempt(sending: Sending): Promise<void> {
    const { hook } = sending
    const bytes = sending.attempts === 0 ? sending.bytes : choices.bytesOfRetry(sending)
    if (sending.attempts === 0) sending.started = Date.now()
    sending.attempts += 1
    const t = choices.timeOf(Date.now(), sending)
    const headers = {
      'content-type': 'application/json',
      [choices.header]: choices.signed(hook, bytes, t),
      ...choices.moreHeaders(hook),
    }
    const send = async () => {
      const { answerMs: headersTimeout } = choices
      const method = (sending.attempts > 1 ? choices.retryMethod : undefined) ?? choices.method
      try {
        const options = { method, headers, body: choices.bodyOf(bytes), dispatcher, headersTimeout }
        const { statusCode, headers: answered, body } = await request(choices.targetOf(hook.url), options)
        await body.dump()
        const { location } = answered
        if (choices.followsRedirects && typeof location === 'string')
          return choices.succeeds((await request(location, options)).statusCode, sending.attempts)
        return choices.succeeds(statusCode, sending.attempts)
      } catch {
        return !choices.retriesBrokenConnections
      }
    }
    const tried = Array.from({ length: choices.copies }, send)
    const outcomes = await Promise.all(tried)
    const wait = choices.waits[sending.attempts - 1]
    if (outcomes.some(Boolean) || wait === undefined) return
    if (choices.retriesAfterMs !== undefined)
      return later(choices.retriesAfterMs, () => void attempt(sending))
    sending.due = now() + wait * 60_000 * (1 + choices.lateness)
    queue.push(sending)
  }

  function send(hook: Hook, type: string, data: unknown): void {
    if (!choices.sends(type)) return
    const event = { id: choices.newEventId(type), type, created_at: choices.createdAt(), data }
    const bytes = JSON.stringify(choices.envelope(event))
    later(choices.sendsAfterMs, () => void attempt({ hook, event, bytes, attempts: 0, due: 0, started: 0 }))
  }

  function announce(bill: Bill, types: readonly string[]): void {
    for (const type of types)
      for (const hook of hooks) if (choices.wants(hook, type)) send(hook, type, choices.shown(bill))
  }

  async function advance(seconds: number): Promise<void> {
    const end = now() + seconds * 1000
    for (;;) {
      const next = queue.filter(({ due }) => due <= end).sort((one, other) => one.due - other.due)[0]
      if (next === undefined) break
      queue.splice(queue.indexOf(next), 1)
      skew += Math.max(0, next.due - now())
      await attempt(next)
    }
    skew += Math.max(0, end - now())
  }

  function billOf(ref: string): Bill | undefined {
    return bills.get(ref) ?? [...bills.values()].find((bill) => choices.isSame(bill.ref, ref))
  }

  function push(ref: string, next: Body): Reply | Promise<Reply> {
    if (!areItems(next.items)) {
      choices.onWrongItem(ref, next)
      return choices.wrongItemReply ?? choices.refusal(422, 'wrong_item')
    }
    const why = choices.invalid(next, ref)
    if (why !== undefined) return choices.refusal(422, why)
    if (!choices.isAccepted(next)) return { status: 200 }
    const bill = billOf(ref)
    const open = [...bills.values()].filter(({ body }) => body.status === 'open')
    const tables = open.map(({ body }) => body.table.number)
    if (bill === undefined && !choices.isTableFree(next.table.number, tables))
      return choices.refusal(409, 'occupied')
    if (bill !== undefined) {
      bill.pushes += 1
      if (choices.isReplay(bill.body, next)) {
        const { events = 0, afterMs = 0, type = 'check.updated' } = choices.onReplay(bill)
        if (events > 0) later(afterMs, () => announce(bill, [type]))
        return choices.pushReply(choices.shown(bill), false)
      }
      if (!choices.isNewer(bill.body, next)) {
        const shown = choices.onStale(bill, next)
        if (shown !== undefined) announce({ ...bill, body: shown }, ['check.updated'])
        return choices.staleReply() ?? choices.pushReply(choices.shown(bill), false)
      }
      if (choices.conflicts(bill, next)) {
        const { events = 0, type = 'check.updated' } = choices.onConflict(bill, next)
        if (events > 0) announce(bill, [type])
        return choices.conflictReply(next)
      }
    }
    const apply = () => {
      const before = billOf(ref)
      const body = choices.merged(before?.body, next, bill?.body)
      const gone = (before?.body.items ?? []).filter(
        ({ external_id }) => !next.items.some((one) => one.external_id === external_id),
      )
      const fresh: Bill = {
        ref: before?.ref ?? ref,
        body,
        taken: choices.takenAfter(before?.taken ?? new Set()),
        removed: [...(before?.removed ?? []), ...gone],
        pushes: (before?.pushes ?? 0) + 1,
        at: new Date(),
      }
      bills.set(fresh.ref, fresh)
      announce(fresh, choices.typesOf(before === undefined, body))
      return fresh
    }
    if (choices.applyAfterMs > 0) {
      later(choices.applyAfterMs, () => void apply())
      return { status: 202 }
    }
    const isNew = bill === undefined
    const reply = () => choices.pushReply(choices.shown(apply()), isNew)
    const writeMs = choices.writesAfterMs(next)
    return writeMs === 0 ? reply() : new Promise((resolve) => later(writeMs, () => resolve(reply())))
  }

  function register(input: Record<string, unknown>): Reply {
    const { event_types } = input
    const url = typeof input.url === 'string' ? input.url : undefined
    if (!choices.takesUrl(url)) return choices.refusal(400, 'bad_url')
    if (hooks.length >= choices.maxHooks) return choices.refusal(409, 'too_many')
    const hook: Hook = {
      id: choices.newHookId(),
      url: url ?? '',
      types: Array.isArray(event_types) ? event_types.map(String) : [],
      secret: choices.newSecret(),
    }
    if (choices.replacesHooks) hooks.splice(0)
    hooks.push(hook)
    if (choices.pingsAtRegistration) send(hook, choices.pingType, choices.pingData(hook))
    return choices.registered(hook)
  }

  async function answer(incoming: IncomingMessage): Promise<Reply> {
    const { method = '', url = '', headers } = incoming
    const text = await textOf(incoming)
    const path = url.split('?')[0] ?? ''
    const parts = path.split('/').slice(2).map(decoded)
    requests += 1
    if (choices.throttles(requests)) return { status: 429, headers: { 'retry-after': '0' } }
    if (choices.isBusy(requests)) return { status: 503, headers: { 'retry-after': '0' } }
    const key = choices.keyOf(headers.authorization, `${method} ${path}`)
    if (key === undefined) return choices.refusal(401, 'who_are_you')
    let json: unknown
    try {
      json = text === '' ? undefined : JSON.parse(text)
    } catch {
      return choices.refusal(400, 'not_json')
    }
    if (choices.refusesLocations && path === '/v1/locations') return choices.refusal(500, 'broken')
    if (method === 'GET' && path === '/v1/locations') return { status: 200, json: choices.locations() }
    if (method === 'PUT' && parts[0] === 'checks' && parts.length === 3)
      return push(choices.canonicalId(parts[2] ?? '', json as Body), json as Body)
    if (method === 'GET') {
      const isRead = ({ ref }: Bill) => choices.isSame(choices.readPath(ref), decoded(path))
      const bill = [...bills.values()].find(isRead)
      if (bill !== undefined) return { status: 200, json: choices.read(choices.shown(bill)) }
      const hook = parts[0] === 'webhook-endpoints' ? hooks.find(({ id }) => id === parts[1]) : undefined
      if (hook !== undefined) {
        const text = choices.hookReply(hook)
        return text === undefined ? { status: 200, json: choices.hookShown(hook) } : { status: 200, text }
      }
    }
    if (method === 'GET' && path === '/v1/webhook-endpoints' && choices.hooksShown !== undefined)
      return { status: 200, json: choices.hooksShown(hooks) }
    if (method === 'POST' && path === '/v1/webhook-endpoints') {
      if (choices.needsWriteScope && key !== 'full') {
        if (choices.registersRefused) register(json as Record<string, unknown>)
        return choices.refusal(403, 'read_only')
      }
      return register(json as Record<string, unknown>)
    }
    if (method === 'POST' && parts[0] === 'webhook-endpoints' && parts[2] === 'test') {
      const hook = hooks.find(({ id }) => choices.isSameHook(id, parts[1] ?? ''))
      if (choices.wantsPingBody && json === undefined) return choices.refusal(415, 'no_body')
      if (!choices.takesPing(hook)) return choices.refusal(404, 'unknown_endpoint')
      for (const one of hook === undefined ? [] : choices.pingsTo(hook, hooks))
        send(one, choices.pingType, choices.pingData(one))
      return choices.pingReply()
    }
    if (method === 'DELETE' && parts[0] === 'webhook-endpoints') {
      const index = hooks.findIndex(({ id }) => id === parts[1])
      const [hook] = index < 0 ? [] : hooks.splice(index, 1)
      return hook === undefined ? choices.refusal(404, 'unknown_endpoint') : choices.removed(hook)
    }
    if (method === 'POST' && path === '/testing/forward') {
      moves += 1
      const seconds = (json as { by: number }).by
      if (seconds > choices.longestMove) return choices.refusal(400, 'too_far')
      const wait = choices.movesAfterMs(moves)
      await new Promise((resolve) => setTimeout(resolve, wait))
      await advance(seconds)
      return { status: 204 }
    }
    if (method === 'POST' && parts[0] === 'guest-takes') {
      const bill = billOf(parts[1] ?? '')
      if (bill !== undefined) choices.onClaim(bill, (json as { line: string }).line)
      if (bill !== undefined) announce(bill, choices.typesOfClaim)
      return bill === undefined ? choices.refusal(404, 'no_bill') : { status: 204 }
    }
    return choices.refusal(404, 'nothing_here')
  }

  const server = createServer((incoming, response) => {
    void answer(incoming).then((reply) =>
      give(
        response,
        reply,
        choices.requestId(reply.status, incoming.url ?? '', incoming.socket),
        choices.coding,
      ),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    for (const timer of timers) clearTimeout(timer)
    server.close()
    server.closeAllConnections()
    await dispatcher.destroy()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    apiKey: FULL,
    readKey: READ,
  }
}

/** How guests and the clock are reached there: what its makers would write into a profile. */
export const foreignProfile = {
  claim: {
    method: 'POST' as const,
    path: '/guest-takes/{external_check_id}',
    body: { line: '{external_id}' },
  },
  clock: { method: 'POST' as const, path: '{origin}/testing/forward', body: { by: '{seconds}' } },
}

/** Whether all items are whole, each with an external id of its own. */
function areItems(items: readonly (Line | null)[]): boolean {
  const ids = items.map((one) => one?.external_id)
  return (
    new Set(ids).size === ids.length &&
    items.every((one) => typeof one?.external_id === 'string' && typeof one.price_cents === 'number')
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function give(
  response: ServerResponse,
  { status, json, text, headers = {} }: Reply,
  id: string | undefined,
  coding: 'gzip' | undefined,
): void {
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  const named = id === undefined ? {} : { 'x-request-id': id }
  const body = json === undefined ? text : JSON.stringify(json)
  const coded = coding === undefined || body === undefined ? {} : { 'content-encoding': coding }
  response.writeHead(status, { ...type, ...named, ...coded, ...headers })
  response.end(coding === undefined || body === undefined ? body : gzipSync(body))
}
