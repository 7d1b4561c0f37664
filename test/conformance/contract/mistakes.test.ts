import { createHash, createHmac, randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import {
  defaults as foreignDefaults,
  type Bill,
  type Body,
  type Choices,
  type Line,
} from '../../support/foreign-service.ts'
import { examine, named, type Variant } from './examine.ts'
import { sampled } from '../../soak/seeded.ts'

const newer = (field: string) => (before: Body, next: Body) => Number(next[field]) > Number(before[field])
const isHttps = (url = '') => URL.canParse(url) && url.startsWith('https://')
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text)
const without = (name: string) => (event: object) => {
  const { [name]: _left, ...rest } = event as Record<string, unknown>
  return rest
}
const idOf = ({ external_id }: Line) => external_id
const find = (lines: readonly Line[], id: string) => lines.find((one) => one.external_id === id)

const idsOfConnections = new WeakMap<object, string>()
function idOfConnection(socket: object): string {
  const id = idsOfConnections.get(socket) ?? randomUUID()
  idsOfConnections.set(socket, id)
  return id
}

interface Wrong extends Variant {
  cases: string[]
}

/** The next state with fields of the items before. */
function withOld(before: Body | undefined, next: Body, kept: (was: Line) => Partial<Line>): Body {
  const items = next.items.map((one) => {
    const was = find(before?.items ?? [], one.external_id)
    return { ...one, ...(was === undefined ? {} : kept(was)) }
  })
  return { ...next, items }
}

/** Which of the two keys is one of that kind. */
function keyThat(isIt: (key: string) => boolean): 'full' | 'read' | undefined {
  return isIt('full-key') ? 'full' : isIt('read-key') ? 'read' : undefined
}

function lineCents(line: Line | undefined): number {
  return (line?.price_cents ?? 0) * (line?.quantity ?? 0)
}

/** An item is what the last push of any check said. */
function sharedItems(): Partial<Choices> {
  const all = new Map<string, Line>()
  return {
    merged: (_before, next) => {
      for (const one of next.items) all.set(one.external_id, one)
      return next
    },
    shown: ({ ref, body }) => ({
      ref,
      ...body,
      items: body.items.map(({ external_id }) => all.get(external_id)),
    }),
  }
}

/** A push counts only when its revision is higher than that of any check so far. */
function globalOrder(): Partial<Choices> {
  let latest = 0
  return {
    isAccepted(next) {
      const revision = Number(next.revision ?? latest + 1)
      if (revision <= latest) return false
      latest = revision
      return true
    },
  }
}

/** A push of a content that came before has no effect, whatever its revision. */
function seenContents(): Partial<Choices> {
  const seen = new Map<string, unknown>()
  return {
    isNewer: newer('revision'),
    isAccepted({ revision, ...content }) {
      const text = JSON.stringify(content)
      const isKnown = seen.has(text) && seen.get(text) !== revision
      if (!seen.has(text)) seen.set(text, revision)
      return !isKnown
    },
  }
}

/** An item that is pushed again after a push without it has its old name and price. */
function removedItems(): Partial<Choices> {
  const removed = new Map<string, Line>()
  return {
    merged(before, next) {
      const isIn = (body: Body | undefined, id: string) => find(body?.items ?? [], id) !== undefined
      for (const line of before?.items ?? []) if (!isIn(next, idOf(line))) removed.set(idOf(line), line)
      const items = next.items.map((line) => {
        const was = isIn(before, idOf(line)) ? undefined : removed.get(idOf(line))
        return was === undefined ? line : { ...line, name: was.name, price_cents: was.price_cents }
      })
      return { ...next, items }
    },
  }
}

/** The check at a table is what the last push for that table said. */
function sharedTables(): Partial<Choices> {
  const all = new Map<string, Body>()
  return {
    merged: (_before, next) => {
      all.set(next.table.number, next)
      return next
    },
    shown: ({ ref, body }) => ({ ref, ...all.get(body.table.number) }),
  }
}

/** Two checks of one table are one, under the id of the first. */
function openedTables(): Partial<Choices> {
  const ids = new Map<string, string>()
  return {
    canonicalId: (ref, { table }) => {
      const id = ids.get(table.number) ?? ref
      ids.set(table.number, id)
      return id
    },
  }
}

/** Checks are shown with other fields of their items. */
function shownItems(changes: (line: Line) => Partial<Line>): Partial<Choices> {
  return {
    shown: ({ ref, body }) => ({
      ref,
      ...body,
      items: body.items.map((one) => ({ ...one, ...changes(one) })),
    }),
  }
}

/** A claim in one check counts in all. */
function sharedClaims(): Partial<Choices> {
  const taken = new Set<string>()
  return {
    onClaim: (_bill, line) => void taken.add(line),
    conflicts: (bill: Bill, next) => foreignDefaults.conflicts({ ...bill, taken }, next),
  }
}

/** The events of a change show the check before it. */
function sentBefore(): Partial<Choices> {
  const sent = new Map<string, unknown>()
  return {
    envelope: (event) => {
      const { data } = event as unknown as { data: { ref: string; items: Line[] } }
      if (data.ref === undefined) return event
      const before = sent.get(data.ref) ?? data
      sent.set(data.ref, data)
      return { ...event, data: before }
    },
  }
}

/** Events go to the endpoint that was registered first alone. */
function firstEndpoint(): Partial<Choices> {
  let first: string | undefined
  return {
    newHookId: () => {
      const id = randomUUID()
      first ??= id
      return id
    },
    wants: ({ id, types }, type) => id === first && types.includes(type),
  }
}

/** Pushes are compared with the newest that arrived, whether or not it was refused. */
function newestSeen(): Partial<Choices> {
  const seen = new Map<string, number>()
  return {
    isNewer: ({ table }, next) => {
      const [before, is] = [seen.get(table.number) ?? 0, Number(next.revision)]
      seen.set(table.number, Math.max(before, is))
      return is > before
    },
  }
}

/** A push whose content came first for another check has no effect. */
function seenElsewhere(): Partial<Choices> {
  const refs = new Map<string, string>()
  return {
    canonicalId: (ref, body) => {
      const text = JSON.stringify(body)
      const first = refs.get(text) ?? ref
      refs.set(text, first)
      return first
    },
  }
}

/** Items are inserted and deleted by their difference to what the check was when the push was judged. */
const insertedItems: Choices['merged'] = (before, next, judged) => {
  const isIn = (body: Body | undefined, { external_id }: Line) =>
    find(body?.items ?? [], external_id) !== undefined
  const kept = (before?.items ?? []).filter((line) => isIn(next, line) || !isIn(judged, line))
  const updated = kept.map((line) => find(next.items, line.external_id) ?? line)
  return { ...next, items: [...updated, ...next.items.filter((line) => !isIn(judged, line))] }
}

/** Every signature is that of the endpoint registered last. */
function lastSecret(): Partial<Choices> {
  let last = ''
  return {
    newSecret: () => (last = foreignDefaults.newSecret()),
    signed: (hook, body, t) => foreignDefaults.signed({ ...hook, secret: last }, body, t),
  }
}

/** A push whose last item is wrong leaves a part of it, before the push is refused. */
function keepsPart(part: (ref: string, next: Body, kept: Body | undefined) => object): Partial<Choices> {
  const parts = new Map<string, object>()
  const bodies = new Map<string, Body>()
  return {
    onWrongItem: (ref, next) => void parts.set(ref, part(ref, next, bodies.get(ref))),
    shown: ({ ref, body }) => {
      bodies.set(ref, body)
      return { ref, ...body, ...parts.get(ref) }
    },
  }
}

/** A push fails while another one inserts a check at its table, as at a unique index. */
function failsAtOnce(): Partial<Choices> {
  const inserting = new Set<string>()
  return {
    invalid: ({ table }) => (inserting.has(table.number) ? 'unique' : undefined),
    refusal: (status, code) => foreignDefaults.refusal(code === 'unique' ? 500 : status, code),
    writesAfterMs({ table }) {
      inserting.add(table.number)
      return 5
    },
    merged(_before, next) {
      inserting.delete(next.table.number)
      return next
    },
  }
}

/** Each is wrong in one thing, and fails in the cases about it alone, among those of their groups. */
const wrong: Record<string, Wrong> = {
  'takes a content of another check for a replay': {
    changes: seenElsewhere(),
    groups: ['checks'],
    cases: ['checks/same_content'],
  },
  'ignores items in the push that closes a check': {
    changes: {
      merged: (before, next) =>
        next.status === 'closed' ? { ...next, items: before?.items ?? next.items } : next,
    },
    groups: ['checks'],
    cases: ['checks/closing'],
  },
  'closes a check for a late push': {
    changes: { isNewer: (before, next) => newer('revision')(before, next) || next.status === 'closed' },
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/open_again'],
  },
  'loses an item at the first replay, which the second brings back': {
    changes: {
      onReplay: (bill) => {
        bill.body = { ...bill.body, items: bill.body.items.slice(0, 1) }
        return {}
      },
    },
    groups: ['checks'],
    cases: ['checks/replay'],
  },
  'inserts items that another push inserts at the same time': {
    changes: { merged: insertedItems, writesAfterMs: ({ items }) => (items.length === 2 ? 20 : 0) },
    groups: ['checks'],
    cases: ['checks/replay_at_once'],
  },
  'takes a plus sign in a path for a space': {
    changes: { canonicalId: (ref) => ref.replaceAll('+', ' ') },
    groups: ['checks'],
    cases: ['checks/encoded_ids'],
  },
  'decodes paths twice': {
    changes: { canonicalId: (ref) => decodeURIComponent(ref) },
    groups: ['checks'],
    cases: ['checks/encoded_ids'],
  },
  'shows ids as they are in paths': {
    changes: { shown: ({ ref, body }) => ({ ref: encodeURIComponent(ref), ...body }) },
    groups: ['checks'],
    cases: ['checks/encoded_ids'],
  },
  'keeps the items before a wrong one of a refused push': {
    changes: keepsPart((_ref, { items }) => ({ items: items.slice(0, -1) })),
    groups: ['checks'],
    cases: ['checks/refused_whole'],
  },
  'keeps changes of items although the push is refused': {
    changes: keepsPart((_ref, next, kept) => ({
      items: kept?.items.map(
        (line) => next.items.find((one) => one?.external_id === line.external_id) ?? line,
      ),
    })),
    groups: ['checks'],
    cases: ['checks/refused_whole'],
  },
  'keeps the totals of a refused push': {
    changes: keepsPart((_ref, { totals }) => ({ totals })),
    groups: ['checks'],
    cases: ['checks/refused_whole'],
  },
  'fails at a wrong item without a request id': {
    changes: {
      wrongItemReply: { status: 500 },
      requestId: (status) => (status === 500 ? undefined : randomUUID()),
    },
    cases: ['requests/id_on_every_answer'],
    groups: ['requests', 'checks'],
  },
  'fails when another push inserts the same check at the same time': {
    changes: failsAtOnce(),
    groups: ['checks'],
    cases: ['checks/replay_at_once'],
  },
  'fails when another push changes the same check at the same time': {
    changes: { ...failsAtOnce(), isNewer: newer('revision') },
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/at_once', 'checks/replay_at_once'],
  },
  'writes an older push after a newer one that arrived with it': {
    changes: {
      isNewer: newer('revision'),
      writesAfterMs: ({ revision }) => Math.max(1, 15 - Number(revision)) * 10,
    },
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/at_once'],
  },
  'keeps a hundred items': {
    changes: { merged: (_before, next) => ({ ...next, items: next.items.slice(0, 100) }) },
    groups: ['checks'],
    cases: ['checks/many_items'],
  },
  'shows a hundred items, and that there are no more': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.slice(0, 100),
        has_more: false,
        next: null,
      }),
    },
    groups: ['checks'],
    cases: ['checks/many_items'],
  },
  'sends check.closed with the check as it was before': {
    changes: {
      envelope: (event) => {
        const { type, data } = event as unknown as { type: string; data: Body }
        return type === 'check.closed' ? { ...event, data: { ...data, status: 'open' } } : event
      },
    },
    groups: ['deliveries'],
    cases: ['deliveries/closed_data'],
  },
  'sends check.closed with ids alone': {
    changes: {
      envelope: (event) => {
        const { type, data } = event as unknown as { type: string; data: { ref: string } }
        return type === 'check.closed' ? { ...event, data: { ref: data.ref } } : event
      },
    },
    groups: ['deliveries'],
    cases: ['deliveries/closed_data'],
  },
  'has two decimals for quantities': {
    changes: shownItems(({ quantity }) => ({ quantity: Math.round(quantity * 100) / 100 })),
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps prices as floats and cuts their decimals off': {
    changes: shownItems(({ price_cents }) => ({ price_cents: Math.trunc((price_cents / 100) * 100) })),
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps prices as floats of 32 bits and cuts their decimals off': {
    changes: shownItems(({ price_cents }) => ({
      price_cents: Math.trunc(Math.fround(Math.fround(price_cents / 100) * 100)),
    })),
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps prices as integers of 32 bits': {
    changes: shownItems(({ price_cents }) => ({ price_cents: price_cents | 0 })),
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps totals as integers of 32 bits and cuts what is beyond': {
    changes: {
      shown: ({ ref, body }) => {
        const cut = ([name, cents]: [string, number]) => [name, Math.min(cents, 2_147_483_647)] as const
        return { ref, ...body, totals: Object.fromEntries(Object.entries(body.totals).map(cut)) }
      },
    },
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps prices as integers without a sign': {
    changes: shownItems(({ price_cents }) => ({ price_cents: Math.max(price_cents, 0) })),
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'keeps totals as floats and cuts their decimals off': {
    changes: {
      shown: ({ ref, body }) => {
        const cut = ([name, cents]: [string, number]) => [name, Math.trunc((cents / 100) * 100)] as const
        return { ref, ...body, totals: Object.fromEntries(Object.entries(body.totals).map(cut)) }
      },
    },
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'drops items without a price': {
    changes: {
      merged: (_before, next) => ({ ...next, items: next.items.filter((line) => line.price_cents !== 0) }),
    },
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'closes a check without its claimed items': {
    changes: {
      conflicts: (bill, next) => next.status !== 'closed' && foreignDefaults.conflicts(bill, next),
    },
    groups: ['conflicts'],
    cases: ['conflicts/closing'],
  },
  'takes a check that moves to another table for a new one': {
    changes: {
      conflicts: (bill, next) =>
        next.table.number === bill.body.table.number && foreignDefaults.conflicts(bill, next),
    },
    groups: ['conflicts'],
    cases: ['conflicts/moving'],
  },
  'refuses to move a claimed item in the list': {
    changes: {
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) ||
        [...bill.taken].some(
          (id) =>
            bill.body.items.findIndex((line) => line.external_id === id) !==
            next.items.findIndex((line) => line.external_id === id),
        ),
    },
    groups: ['conflicts'],
    cases: ['conflicts/reordered'],
  },
  'shows the secret in hexadecimal': {
    changes: { hookShown: ({ id, secret }) => ({ id, key: Buffer.from(secret).toString('hex') }) },
    cases: ['endpoints/secret_once'],
  },
  'decodes the query of a url': {
    changes: { targetOf: (url) => decodeURIComponent(url) },
    groups: ['deliveries'],
    cases: ['deliveries/exact_url'],
  },
  'orders pushes across all checks': {
    changes: globalOrder(),
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/in_order'],
  },
  'ignores a content that it has seen before': {
    changes: seenContents(),
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/restored'],
  },
  'keeps the fields of removed items': {
    changes: { ...removedItems(), isNewer: newer('revision') },
    settings: { orderBy: 'revision' },
    groups: ['checks'],
    cases: ['checks/restored'],
  },
  'follows redirects of receivers': {
    changes: { followsRedirects: true },
    groups: ['retries'],
    cases: ['retries/schedule'],
  },
  'sends to the path in small letters': {
    changes: { targetOf: (url) => url.toLowerCase() },
    groups: ['deliveries'],
    cases: ['deliveries/event', 'deliveries/ping'],
  },
  'lists its endpoints without a key': {
    changes: {
      hooksShown: (hooks) => ({ data: hooks.map(({ id, url }) => ({ id, url })) }),
      keyOf: (authorization, request) =>
        request === 'GET /v1/webhook-endpoints' ? 'full' : foreignDefaults.keyOf(authorization, request),
    },
    groups: ['access'],
    cases: ['access/no_key', 'access/unknown_key'],
  },
  'shows another price of several units': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.map((one) => (one.quantity > 1 ? { ...one, price_cents: 1 } : one)),
      }),
    },
    groups: ['checks'],
    cases: ['checks/amounts'],
  },
  'sends no request id with errors': {
    changes: { requestId: (status) => (status >= 400 ? undefined : randomUUID()) },
    cases: [
      'requests/id_on_broken_json',
      'requests/id_on_conflict',
      'requests/id_on_every_answer',
      'requests/id_on_missing_key',
      'requests/id_on_unknown_path',
    ],
  },
  'sends no request id where there is no check': {
    changes: {
      requestId: (status, url) =>
        status === 404 && url.startsWith('/v1/checks/') ? undefined : randomUUID(),
    },
    cases: ['requests/id_on_every_answer'],
  },
  'sends no request id with registrations': {
    changes: { requestId: (_status, url) => (url === '/v1/webhook-endpoints' ? undefined : randomUUID()) },
    cases: ['requests/id_on_every_answer'],
    groups: ['requests', 'endpoints'],
  },
  'has one request id for each connection': {
    changes: { requestId: (_status, _url, socket) => idOfConnection(socket) },
    cases: ['requests/ids_differ'],
  },
  'has an empty request id': {
    changes: { requestId: () => '' },
    cases: [
      'requests/id_on_broken_json',
      'requests/id_on_conflict',
      'requests/id_on_every_answer',
      'requests/id_on_missing_key',
      'requests/id_on_push',
      'requests/id_on_success',
      'requests/id_on_unknown_path',
    ],
  },
  'has one request id for all': { changes: { requestId: () => 'r-1' }, cases: ['requests/ids_differ'] },
  'has no list of locations': { changes: { locations: () => ({ count: 2 }) }, cases: ['access/locations'] },
  'needs no key': {
    changes: { keyOf: (value) => (value === 'Bearer read-key' ? 'read' : 'full') },
    cases: ['access/no_bearer', 'access/no_key', 'access/push_without_key', 'access/unknown_key'],
  },
  'takes any key': {
    changes: {
      keyOf: (value) => (value === undefined ? undefined : value === 'Bearer read-key' ? 'read' : 'full'),
    },
    cases: ['access/no_bearer', 'access/unknown_key'],
  },
  'takes keys for the list of locations alone': {
    changes: {
      keyOf: (value, request) =>
        value === 'Bearer read-key'
          ? 'read'
          : value === 'Bearer full-key' || request !== 'GET /v1/locations'
            ? 'full'
            : undefined,
    },
    cases: ['access/no_key', 'access/push_without_key', 'access/unknown_key'],
  },
  'shows checks without a key': {
    changes: {
      keyOf: (value, request) =>
        request.startsWith('GET /v1/checks/') ? 'read' : foreignDefaults.keyOf(value, request),
    },
    cases: ['access/no_key', 'access/unknown_key'],
  },
  'pings without a key': {
    changes: {
      keyOf: (value, request) => (request.endsWith('/test') ? 'full' : foreignDefaults.keyOf(value, request)),
    },
    cases: ['access/no_key', 'access/unknown_key'],
  },
  'pings any id without a key, for a JSON body': {
    changes: {
      wantsPingBody: true,
      takesPing: () => true,
      keyOf: (value, request) => (request.endsWith('/test') ? 'full' : foreignDefaults.keyOf(value, request)),
    },
    cases: ['access/no_key', 'access/unknown_key', 'endpoints/unknown_endpoint'],
  },
  'registers without a key': {
    changes: {
      keyOf: (value, request) =>
        value === undefined && request === 'POST /v1/webhook-endpoints'
          ? 'full'
          : foreignDefaults.keyOf(value, request),
    },
    cases: ['access/no_key'],
    groups: ['access'],
  },
  'takes any key for pushes': {
    changes: {
      keyOf: (value, request) =>
        value !== undefined && request.startsWith('PUT') ? 'full' : foreignDefaults.keyOf(value, request),
    },
    cases: ['access/unknown_key'],
  },
  'looks at how a key begins': {
    changes: { keyOf: (value = '') => keyThat((key) => value.startsWith(`Bearer ${key.slice(0, 4)}`)) },
    cases: ['access/unknown_key'],
  },
  'takes keys in any case': {
    changes: { keyOf: (value = '') => keyThat((key) => value.toLowerCase() === `bearer ${key}`) },
    cases: ['access/unknown_key'],
  },
  'takes the key in any scheme': {
    changes: { keyOf: (value = '') => keyThat((key) => value.split(' ').at(-1) === key) },
    cases: ['access/no_bearer'],
  },
  'takes the key as Basic credentials': {
    changes: {
      keyOf: (value = '') =>
        keyThat((key) =>
          [`Bearer ${key}`, `Basic ${Buffer.from(`${key}:`).toString('base64')}`].includes(value),
        ),
    },
    cases: ['access/no_bearer'],
  },
  'takes Bearer without a key': {
    changes: {
      keyOf: (value, request) => (value === 'Bearer' ? 'full' : foreignDefaults.keyOf(value, request)),
    },
    cases: ['access/no_bearer'],
  },
  'answers an error as a success': {
    changes: { locations: () => ({ error: 'not implemented', trace: [] }) },
    cases: ['access/locations'],
  },
  'answers one location': {
    changes: { locations: () => ({ id: 'north', opening_hours: ['9-17'], tags: [] }) },
    cases: ['access/locations'],
  },
  'registers with a key that it refuses': {
    changes: { registersRefused: true },
    cases: ['deliveries/refused_is_silent'],
    groups: ['access', 'deliveries'],
  },
  'has one request id for all errors': {
    changes: { requestId: (status) => (status >= 400 ? 'error' : randomUUID()) },
    cases: ['requests/ids_differ'],
  },
  'lets every key register': { changes: { needsWriteScope: false }, cases: ['access/write_scope'] },
  'lets every key register, and refuses private addresses': {
    changes: { needsWriteScope: false, takesUrl: (url) => isHttps(url) && !url?.includes('127.0.0.1') },
    settings: { isReachable: false },
    cases: ['access/write_scope'],
  },
  'takes a push for a delta': {
    changes: {
      merged: (before, next) => ({
        ...next,
        items: [
          ...(before?.items ?? []).filter(({ external_id }) => find(next.items, external_id) === undefined),
          ...next.items,
        ],
      }),
    },
    cases: ['checks/full_state'],
  },
  'keeps the first table of a check': {
    changes: { merged: (before, next) => ({ ...next, table: before?.table ?? next.table }) },
    cases: ['checks/full_state'],
  },
  'shows prices in another unit': {
    changes: shownItems((one) => ({ price_cents: one.price_cents / 100 })),
    cases: ['checks/amounts'],
  },
  'keeps whole quantities alone': {
    changes: shownItems((one) => ({ quantity: Math.trunc(one.quantity) })),
    cases: ['checks/amounts'],
  },
  'works out the totals without tax': {
    changes: {
      shown: ({ ref, body }) => {
        const cents = body.items.reduce((sum, one) => sum + lineCents(one), 0)
        return { ref, ...body, totals: { subtotal_cents: cents, tax_cents: 0, total_cents: cents } }
      },
    },
    cases: ['checks/amounts'],
  },
  'keeps the first totals of a check': {
    changes: { merged: (before, next) => ({ ...next, totals: before?.totals ?? next.totals }) },
    cases: ['checks/full_state'],
  },
  'keeps the first quantity of an item': {
    changes: { merged: (before, next) => withOld(before, next, ({ quantity }) => ({ quantity })) },
    cases: ['checks/amounts', 'checks/full_state'],
  },
  'keeps the first note of an item': {
    changes: {
      merged: (before, next) => withOld(before, next, ({ note }) => (note === undefined ? {} : { note })),
    },
    cases: ['checks/full_state', 'checks/texts'],
  },
  'keeps a note that is left out': {
    changes: {
      merged: (before, next) => ({
        ...next,
        items: next.items.map((one) => ({ ...find(before?.items ?? [], one.external_id), ...one })),
      }),
    },
    cases: ['checks/full_state'],
  },
  'never empties a check': {
    changes: {
      merged: (before, next) => ({
        ...next,
        items: next.items.length > 0 ? next.items : (before?.items ?? []),
      }),
    },
    cases: ['checks/full_state'],
  },
  'keeps items of all checks in one place': {
    changes: sharedItems(),
    cases: ['checks/own_items'],
  },
  'takes external ids in any case': {
    changes: {
      merged: (_before, next) => ({
        ...next,
        items: [...new Map(next.items.map((one) => [one.external_id.toLowerCase(), one])).values()],
      }),
    },
    cases: ['checks/exact_ids'],
  },
  'takes ids of checks in any case': {
    changes: { isSame: (one, other) => one.toLowerCase() === other.toLowerCase() },
    cases: ['checks/exact_ids'],
  },
  'keeps one check per table': {
    changes: sharedTables(),
    cases: ['checks/own_table'],
  },
  'takes the second check of a table for the first': {
    changes: openedTables(),
    cases: ['checks/own_table'],
  },
  'takes the totals of older pushes': {
    changes: {
      isNewer: newer('version'),
      onStale: (bill, { totals }) => {
        bill.body = { ...bill.body, totals }
        return undefined
      },
    },
    settings: { orderBy: 'version' },
    cases: ['checks/convergence', 'checks/order'],
  },
  'sends events about older pushes': {
    changes: { isNewer: newer('version'), onStale: (_bill, next) => next },
    settings: { orderBy: 'version' },
    cases: ['deliveries/stale_is_silent'],
  },
  'counts replays in the check': {
    changes: { shown: ({ ref, body, pushes }) => ({ ref, ...body, revision: pushes }) },
    cases: ['checks/replay', 'conflicts/unchanged'],
  },
  'moves the time of the last update at a replay': {
    changes: {
      onReplay(bill) {
        bill.at = new Date()
        return {}
      },
    },
    settings: { strict: true },
    cases: ['checks/replay_times'],
  },
  'sends an event for each replay': {
    changes: { onReplay: () => ({ events: 1 }) },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each replay, and everything twice': {
    changes: { onReplay: () => ({ events: 1 }), copies: 2 },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each replay of a new check': {
    changes: { onReplay: ({ body }) => ({ events: body.items.length > 1 ? 0 : 1 }) },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each replay of a change': {
    changes: { onReplay: ({ body }) => ({ events: body.items.length > 1 ? 1 : 0 }) },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each replay, late': {
    changes: { onReplay: () => ({ events: 1, afterMs: 500 }) },
    // As long as for users: the event has to arrive on a busy machine, too.
    settings: { timeouts: { settleMs: 3_000 } },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each refused push': {
    changes: { onConflict: () => ({ events: 1 }) },
    cases: ['deliveries/conflict_is_silent'],
  },
  'adds up items of one name and price': {
    changes: {
      merged: (_before, next) => ({
        ...next,
        items: next.items.filter(
          (one, at) =>
            next.items.findIndex(
              ({ name, price_cents }) => name === one.name && price_cents === one.price_cents,
            ) === at,
        ),
      }),
    },
    cases: ['checks/matched_by_id'],
  },
  'takes items of one name for one item': {
    changes: {
      merged: (_before, next) => ({
        ...next,
        items: next.items.filter(({ name }, at) => next.items.findIndex((one) => one.name === name) === at),
      }),
    },
    cases: ['checks/matched_by_id'],
  },
  'keeps the first name of an item': {
    changes: {
      merged: (before, next) => ({
        ...next,
        items: next.items.map((one) => ({
          ...one,
          name: find(before?.items ?? [], one.external_id)?.name ?? one.name,
        })),
      }),
    },
    cases: ['checks/matched_by_id', 'checks/texts'],
  },
  'takes a claimed item that comes back under another id for the same': {
    changes: {
      conflicts: ({ taken, body }, next) =>
        body.items.some((was) => {
          const is = next.items.find(({ name }) => name === was.name)
          return taken.has(was.external_id) && (is === undefined || is.price_cents < was.price_cents)
        }),
    },
    cases: ['conflicts/matched_by_id', 'conflicts/renamed'],
  },
  'lets the last to arrive win, in spite of its version': {
    settings: { orderBy: 'version' },
    cases: ['checks/closed', 'checks/convergence', 'checks/order'],
  },
  'compares versions as text': {
    changes: { isNewer: (before, next) => String(next.version) > String(before.version) },
    settings: { orderBy: 'version' },
    cases: ['checks/in_order'],
  },
  'lets the first to arrive win': {
    changes: { isNewer: () => false },
    cases: ['checks/full_state'],
  },
  'lets claimed items go': {
    changes: {
      conflicts: ({ taken, body }, next) =>
        next.items.some((is) => {
          const was = find(body.items, is.external_id)
          return taken.has(is.external_id) && was !== undefined && is.price_cents < was.price_cents
        }),
    },
    cases: ['conflicts/each_of_two', 'conflicts/kept', 'conflicts/matched_by_id', 'conflicts/removed'],
  },
  'forgets claims at a replay': {
    changes: {
      onReplay: ({ taken }) => {
        taken.clear()
        return {}
      },
    },
    cases: ['conflicts/kept'],
  },
  'forgets claims at any push': {
    changes: { takenAfter: () => new Set() },
    cases: ['conflicts/kept', 'conflicts/raised_and_lowered'],
  },
  'forgets claims at a conflict': {
    changes: {
      onConflict: ({ taken }) => {
        taken.clear()
        return {}
      },
    },
    cases: ['conflicts/cheaper', 'conflicts/each_of_two', 'conflicts/kept'],
  },
  'claims the item in all checks': {
    changes: sharedClaims(),
    cases: ['conflicts/other_check'],
  },
  'refuses another name of a claimed item': {
    changes: {
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) ||
        [...bill.taken].some((id) => find(bill.body.items, id)?.name !== find(next.items, id)?.name),
    },
    cases: ['conflicts/renamed'],
  },
  'compares prices of whole lines': {
    changes: {
      conflicts: ({ body, taken }, next) =>
        [...taken].some((id) => lineCents(find(next.items, id)) < lineCents(find(body.items, id))),
    },
    cases: ['conflicts/cheaper'],
  },
  'overlooks large discounts': {
    changes: {
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) &&
        ![...bill.taken].some((id) => (find(next.items, id)?.price_cents ?? 900) < 100),
    },
    cases: ['conflicts/cheaper'],
  },
  'takes a price of 0 for no price': {
    changes: {
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, {
          ...next,
          items: next.items.map((is) => (is.price_cents === 0 ? { ...is, price_cents: 1e6 } : is)),
        }),
    },
    cases: ['conflicts/cheaper'],
  },
  'takes an empty list of items for no list': {
    changes: { conflicts: (bill, next) => next.items.length > 0 && foreignDefaults.conflicts(bill, next) },
    cases: ['conflicts/each_of_two'],
  },
  'fails at an empty list of items': {
    changes: {
      conflicts: (bill, next) => next.items.length === 0 || foreignDefaults.conflicts(bill, next),
      conflictReply: (next) =>
        next.items.length === 0 ? { status: 500 } : foreignDefaults.conflictReply(next),
    },
    cases: ['conflicts/each_of_two'],
  },
  'protects what was claimed last alone': {
    changes: {
      onClaim: (bill, line) => {
        bill.taken.clear()
        bill.taken.add(line)
      },
    },
    cases: ['conflicts/each_of_two'],
  },
  'keeps fields of a late push': {
    changes: {
      isNewer: newer('revision'),
      onStale: (bill, next) => {
        bill.body = withOld(next, bill.body, ({ name, quantity }) => ({ name, quantity }))
        return undefined
      },
    },
    settings: { orderBy: 'revision' },
    cases: ['checks/convergence', 'checks/order'],
  },
  'keeps prices of a late push': {
    changes: {
      isNewer: newer('revision'),
      onStale: (bill, next) => {
        bill.body = withOld(next, bill.body, ({ price_cents }) => ({ price_cents }))
        return undefined
      },
    },
    settings: { orderBy: 'revision' },
    cases: ['checks/convergence', 'checks/order'],
  },
  'keeps notes of a late push': {
    changes: {
      isNewer: newer('revision'),
      onStale: (bill, next) => {
        bill.body = withOld(next, bill.body, ({ note = '' }) => ({ note }))
        return undefined
      },
    },
    settings: { orderBy: 'revision' },
    cases: ['checks/convergence', 'checks/order'],
  },
  'moves a check to the table of a late push': {
    changes: {
      isNewer: newer('revision'),
      onStale: (bill, { table }) => {
        bill.body = { ...bill.body, table }
        return undefined
      },
    },
    settings: { orderBy: 'revision' },
    cases: ['checks/convergence', 'checks/order'],
  },
  'opens a closed check again for a late push': {
    changes: {
      isNewer: (before, next) =>
        newer('revision')(before, next) || (before.status === 'closed' && next.status === 'open'),
    },
    settings: { orderBy: 'revision' },
    cases: ['checks/closed'],
  },
  'shows names as HTML': {
    changes: shownItems(({ name }) => ({ name: name.replaceAll('&', '&amp;').replaceAll('"', '&quot;') })),
    cases: ['checks/texts'],
  },
  'shows notes in another encoding': {
    changes: shownItems(({ note = '' }) => ({ note: Buffer.from(note).toString('latin1') })),
    cases: ['checks/texts'],
  },
  'loses apostrophes': {
    changes: shownItems(({ name }) => ({ name: name.replaceAll("'", '') })),
    cases: ['checks/texts'],
  },
  'loses what is beyond the basic plane': {
    changes: shownItems(({ name }) => ({ name: name.replace(/[\u{10000}-\u{10ffff}]/gu, '?') })),
    cases: ['checks/texts'],
  },
  'checks the beginning of a url alone': {
    changes: { takesUrl: (url) => url?.startsWith('https://') === true },
    cases: ['endpoints/url_is_a_url'],
  },
  'takes http beyond this machine': {
    changes: {
      takesUrl: (url) =>
        URL.canParse(url ?? '') && (isHttps(url) || /^http:\/\/(?!127\.|localhost)/.test(url ?? '')),
    },
    cases: ['endpoints/https_only'],
  },
  'has no request id where a method is not allowed': {
    changes: {
      requestId: (status, url) => (status === 404 && url === '/v1/locations' ? undefined : randomUUID()),
    },
    cases: ['requests/id_on_every_answer'],
  },
  'gives up when a connection ends': {
    changes: { retriesBrokenConnections: false },
    cases: ['retries/schedule'],
  },
  'lets claimed items become cheaper': {
    changes: { conflicts: ({ taken }, next) => [...taken].some((id) => !next.items.map(idOf).includes(id)) },
    cases: ['conflicts/cheaper', 'conflicts/kept', 'conflicts/raised_and_lowered'],
  },
  'protects the price of the claim instead of the present one': {
    changes: {
      conflicts: ({ taken }, next) =>
        [...taken].some((id) => !((find(next.items, id)?.price_cents ?? 0) >= 900)),
    },
    cases: ['conflicts/raised_and_lowered'],
  },
  'takes the order of refused pushes': {
    changes: newestSeen(),
    settings: { orderBy: 'revision' },
    cases: ['conflicts/order_unchanged'],
  },
  'refuses every change of a claimed item': {
    changes: {
      conflicts: ({ taken }, next) => [...taken].some((id) => find(next.items, id)?.price_cents !== 900),
    },
    cases: ['conflicts/dearer'],
  },
  'refuses every push once something is claimed': {
    changes: { conflicts: ({ taken }) => taken.size > 0 },
    cases: ['conflicts/added'],
  },
  'protects unclaimed items': {
    changes: {
      conflicts: ({ taken, body }, next) =>
        taken.size > 0 &&
        body.items.some((was) => (find(next.items, was.external_id)?.price_cents ?? 0) < was.price_cents),
    },
    cases: ['conflicts/unclaimed_cheaper', 'conflicts/unclaimed_removed'],
  },
  'answers conflicts with 422': {
    changes: { conflictReply: () => ({ status: 422, json: { error: 'conflict_with_paid_items' } }) },
    cases: [
      'conflicts/cheaper',
      'conflicts/each_of_two',
      'conflicts/kept',
      'conflicts/matched_by_id',
      'conflicts/raised_and_lowered',
      'conflicts/removed',
    ],
  },
  'calls the conflict otherwise': {
    changes: { conflictReply: () => ({ status: 409, json: { error: 'already_paid' } }) },
    cases: ['conflicts/code'],
  },
  'applies half of a refused push': {
    changes: {
      onConflict: (bill, next) => {
        const added = next.items.filter(({ external_id }) => find(bill.body.items, external_id) === undefined)
        bill.body = { ...bill.body, items: [...bill.body.items, ...added] }
        return {}
      },
    },
    cases: ['conflicts/unchanged'],
  },
  'takes names, table and totals of a refused push': {
    changes: {
      onConflict: (bill, next) => {
        const items = bill.body.items.map((one) => ({
          ...one,
          name: find(next.items, one.external_id)?.name ?? one.name,
        }))
        bill.body = { ...bill.body, table: next.table, items }
        return {}
      },
    },
    cases: ['conflicts/unchanged'],
  },
  'takes endpoints over WebSocket': {
    changes: {
      takesUrl: (url) => isHttps(url) || (URL.canParse(url ?? '') && (url ?? '').startsWith('wss:')),
    },
    cases: ['endpoints/https_only'],
  },
  'takes HTTP in capital letters': {
    changes: {
      takesUrl: (url) => isHttps(url) || (URL.canParse(url ?? '') && (url ?? '').startsWith('HTTP:')),
    },
    cases: ['endpoints/https_only'],
  },
  'takes endpoints without TLS on its own machine': {
    changes: { takesUrl: (url) => isHttps(url) || (url ?? '').startsWith('http://localhost') },
    cases: ['endpoints/https_only'],
  },
  'takes whatever begins with https': {
    changes: { takesUrl: (url) => (url ?? '').startsWith('https') },
    cases: ['endpoints/url_is_a_url'],
  },
  'takes endpoints without TLS': {
    changes: { takesUrl: (url) => URL.canParse(url ?? '') },
    cases: ['endpoints/https_only'],
  },
  'takes any text for a URL': {
    changes: { takesUrl: (url) => url !== undefined && (isHttps(url) || !/^\w+:/.test(url)) },
    cases: ['endpoints/url_is_a_url'],
  },
  'registers without a URL': {
    changes: { takesUrl: (url) => url === undefined || isHttps(url) },
    cases: ['endpoints/url_required'],
  },
  'refuses every endpoint at a public address': {
    changes: { takesUrl: () => false },
    settings: { receiverUrl: 'https://receiver.restaurant.example' },
    cases: ['endpoints/registered'],
  },
  ...Object.fromEntries(
    [404, 405, 501].map((status): [string, Wrong] => [
      `answers ${status} to every registration`,
      {
        changes: {
          takesUrl: () => false,
          refusal: (usual, code) => foreignDefaults.refusal(code === 'bad_url' ? status : usual, code),
        },
        settings: { isReachable: false },
        cases: ['endpoints/registered'],
      },
    ]),
  ),
  'has secrets without whsec_': {
    changes: { newSecret: () => `sec_${randomUUID()}` },
    cases: ['endpoints/secret_shown'],
  },
  'has one secret for all endpoints': {
    changes: { newSecret: () => 'whsec_one_for_all' },
    settings: { strict: true },
    cases: ['endpoints/own_secret'],
  },
  'shows the secret again': { changes: { hookShown: (hook) => hook }, cases: ['endpoints/secret_once'] },
  'shows the secret in its pings': {
    changes: { pingData: ({ secret }) => ({ secret }) },
    cases: ['endpoints/secret_once'],
  },
  'shows the secret in base64': {
    changes: { hookShown: ({ id, secret }) => ({ id, key: Buffer.from(secret).toString('base64') }) },
    cases: ['endpoints/secret_once'],
  },
  'shows the secret with the slashes of its base64 escaped': {
    changes: {
      newSecret: () => `whsec_${randomUUID()}/${randomUUID()}`,
      hookReply: ({ id, secret }) => `{"id":"${id}","key":"${secret.replaceAll('/', String.raw`\/`)}"}`,
    },
    cases: ['endpoints/secret_once'],
  },
  'shows the secret without its beginning': {
    changes: { hookShown: ({ id, secret }) => ({ id, key: secret.slice(6) }) },
    cases: ['endpoints/secret_once'],
  },
  'shows the secret when an endpoint is removed': {
    changes: { removed: (hook) => ({ status: 200, json: hook }) },
    settings: { profile: { paths: { delete_endpoint: '/webhook-endpoints/{id}' } } },
    cases: ['endpoints/secret_once'],
  },
  'sends the secret with its deliveries': {
    changes: { moreHeaders: ({ secret }) => ({ 'x-secret': secret }) },
    cases: ['endpoints/secret_once'],
    groups: ['endpoints', 'deliveries'],
  },
  'pings every endpoint': {
    changes: { pingsTo: (_hook, all) => all },
    cases: ['deliveries/ping_to_one'],
  },
  'pings the first endpoint': {
    changes: { pingsTo: (_hook, all) => all.slice(0, 1) },
    cases: ['deliveries/ping_to_one'],
  },
  'signs pings for another time': {
    changes: { timeOf: (now, { event }) => Math.floor(now / 1000) - (event.type === 'ping' ? 4_000 : 0) },
    cases: ['deliveries/ping'],
  },
  'pings any id': { changes: { takesPing: () => true }, cases: ['endpoints/unknown_endpoint'] },
  'pings no id': { changes: { takesPing: () => false }, cases: ['deliveries/ping'] },
  'says that it pings, and does not': {
    changes: { sends: (type) => type !== 'ping' },
    cases: ['deliveries/ping'],
  },
  'sends to the host of a url alone': {
    changes: { targetOf: (url) => new URL(url).origin },
    settings: { isReachable: false },
    cases: ['deliveries/event', 'deliveries/ping'],
    groups: ['deliveries'],
  },
  'drops the query of a url': {
    changes: { targetOf: (url) => url.replace(/\?.*/, '') },
    cases: ['deliveries/exact_url'],
  },
  'sends nothing but pings': {
    changes: { sends: (type) => type === 'ping' },
    cases: ['deliveries/event'],
  },
  'sends unsigned': {
    changes: { header: 'X-Acme-Digest' },
    cases: ['deliveries/ping', 'deliveries/signature_form'],
  },
  'has another name in the header than was agreed': {
    settings: { serviceName: 'Bistro' },
    cases: ['deliveries/ping', 'deliveries/signature_form'],
  },
  'signs the body alone': {
    changes: { signed: ({ secret }, body, t) => `t=${t},v1=${hmac(secret, body).digest('hex')}` },
    cases: ['deliveries/ping', 'deliveries/signature_match'],
  },
  'signs other bytes than it sends': {
    changes: {
      signed: ({ secret }, body, t) => `t=${t},v1=${hmac(secret, `${t}.${body} `).digest('hex')}`,
    },
    cases: ['deliveries/ping', 'deliveries/signature_match'],
  },
  'signs check.updated with another secret': {
    changes: {
      signed: (hook, body, t) =>
        foreignDefaults.signed(
          body.includes('"check.updated"') ? { ...hook, secret: 'whsec_other' } : hook,
          body,
          t,
        ),
    },
    cases: ['deliveries/signature_match'],
  },
  'signs with the secret of the last endpoint': {
    changes: lastSecret(),
    cases: ['deliveries/ping', 'deliveries/signature_match'],
  },
  'signs Latin-1': {
    changes: {
      signed: ({ secret }, body, t) =>
        `t=${t},v1=${createHmac('sha256', secret)
          .update(Buffer.from(`${t}.${body}`, 'latin1'))
          .digest('hex')}`,
    },
    cases: ['deliveries/signature_match'],
  },
  'signs in upper case': {
    changes: {
      signed: ({ secret }, body, t) =>
        `t=${t},v1=${hmac(secret, `${t}.${body}`).digest('hex').toUpperCase()}`,
    },
    cases: ['deliveries/signature_form'],
  },
  'signs in base64': {
    changes: {
      signed: ({ secret }, body, t) => `t=${t},v1=${hmac(secret, `${t}.${body}`).digest('base64')}`,
    },
    cases: ['deliveries/ping', 'deliveries/signature_form', 'deliveries/signature_match'],
  },
  'has t in milliseconds': {
    changes: { timeOf: (now) => now },
    cases: ['deliveries/ping', 'deliveries/signature_time', 'retries/signed'],
  },
  'sends with PUT': { changes: { method: 'PUT' }, cases: ['deliveries/post'] },
  'has no id in the envelope': { changes: { envelope: without('id') }, cases: ['deliveries/envelope'] },
  'has no type in the envelope': {
    changes: { envelope: without('type') },
    cases: ['deliveries/envelope'],
  },
  'has types in capital letters': {
    changes: { envelope: (event) => ({ ...event, type: (event as { type: string }).type.toUpperCase() }) },
    cases: ['deliveries/envelope'],
  },
  'has one id for all events': { changes: { newEventId: () => 'e-1' }, cases: ['deliveries/ids_differ'] },
  'has one id for all events of a type and minute': {
    changes: { newEventId: (type) => `${type}-1` },
    cases: ['deliveries/ids_differ'],
  },
  'sends only the first type that an endpoint lists': {
    changes: { wants: ({ types }, type) => types[0] === type },
    cases: ['deliveries/all_asked_for'],
  },
  'sends everything to the first endpoint': {
    changes: firstEndpoint(),
    cases: ['deliveries/all_asked_for'],
  },
  'signs slashes that it does not send': {
    changes: {
      signed: ({ secret }, body, t) =>
        `t=${t},v1=${hmac(secret, `${t}.${body.replaceAll('/', String.raw`\/`)}`).digest('hex')}`,
    },
    cases: ['deliveries/signature_match'],
  },
  'sends claims to every endpoint': {
    changes: {
      typesOfClaim: ['claim.created'],
      wants: ({ types }, type) => type === 'claim.created' || types.includes(type),
    },
    cases: ['deliveries/only_asked_for'],
  },
  'sends every event about checks to who wants one': {
    changes: { wants: ({ types }, type) => types.some((one) => one.split('.')[0] === type.split('.')[0]) },
    cases: ['deliveries/only_asked_for'],
  },
  'sends every event to every endpoint': {
    changes: { wants: () => true },
    cases: ['deliveries/only_asked_for'],
  },
  'writes local times': {
    changes: { createdAt: () => '2026-11-21T19:04:05+01:00' },
    cases: ['deliveries/created_at'],
  },
  'writes local times as if they were in UTC': {
    changes: { createdAt: () => new Date(Date.now() - 7_200_000).toISOString() },
    cases: ['deliveries/created_at'],
  },
  'takes seconds for milliseconds': {
    changes: { createdAt: () => new Date(Date.now() / 1000).toISOString() },
    cases: ['deliveries/created_at'],
  },
  'writes times for people': {
    changes: { createdAt: () => 'Sat, 21 Nov 2026 18:04:05 GMT' },
    cases: ['deliveries/created_at'],
  },
  'sends a part of the check': {
    changes: { envelope: (event) => ({ ...event, data: { items: (event.data as Body).items } }) },
    cases: ['deliveries/data'],
  },
  'sends the check as it was before': {
    changes: sentBefore(),
    cases: ['deliveries/data'],
  },
  'sends what changed': {
    changes: {
      envelope: (event) => {
        const { type, data } = event as { type: string; data: Body }
        return type === 'check.updated' ? { ...event, data: { items: data.items, table: data.table } } : event
      },
    },
    cases: ['deliveries/data'],
  },
  'sends the check without totals': {
    changes: {
      envelope: (event) => ({ ...event, data: without('totals')((event as unknown as { data: Body }).data) }),
    },
    cases: ['deliveries/data'],
  },
  'retries with PUT': { changes: { retryMethod: 'PUT' }, cases: ['retries/post'] },
  'retries what was answered with 2xx at the first attempt': {
    changes: { succeeds: (status, attempt) => status >= 200 && status < 300 && attempt > 1 },
    cases: ['retries/success_ends'],
  },
  'never retries': { changes: { waits: [] }, cases: ['retries/schedule'] },
  'doubles its waits': { changes: { waits: [1, 2, 4, 8, 16, 32] }, cases: ['retries/schedule'] },
  'makes the last retry after two days': {
    changes: { waits: [1, 5, 30, 120, 480, 2880] },
    cases: ['retries/schedule'],
  },
  'makes the last retry after half a day': {
    changes: { waits: [1, 5, 30, 120, 480, 720] },
    cases: ['retries/schedule'],
  },
  'gives up after three attempts': { changes: { waits: [1, 5] }, cases: ['retries/schedule'] },
  'never gives up': { changes: { waits: [1, 5, 30, 120, 480, 1440, 1440] }, cases: ['retries/last'] },
  'takes 404 for success': { changes: { succeeds: (status) => status < 500 }, cases: ['retries/schedule'] },
  'takes nothing but 200 for success': {
    changes: { succeeds: (status) => status === 200 },
    cases: ['retries/success_ends'],
  },
  'has another id on each attempt': {
    changes: {
      bytesOfRetry: ({ event, attempts }) => JSON.stringify({ ...event, id: `${event.id}-${attempts}` }),
    },
    cases: ['retries/same_id'],
  },
  'signs retries for the time of the first attempt': {
    changes: { timeOf: (_now, { started }) => Math.floor(started / 1000) },
    cases: ['retries/signed'],
  },
}

describe.concurrent(
  'a service with a mistake fails in the cases about that mistake',
  { timeout: 180_000 },
  () => {
    test.for(sampled(Object.entries(wrong), 12))('%s', async ([, { cases, ...variant }], context) => {
      const groups = [...new Set(cases.map((one) => one.split('/')[0] ?? ''))]
      expect(named(await examine({ groups, ...variant }, context), 'failed')).toEqual(cases)
    })
  },
)

// Concurrent, since they wait for events that do not arrive.
describe.concurrent('the contract check says of wrong deliveries:', () => {
  test('deliveries to another path than the registered one fail with the path', async (context) => {
    const targetOf: Choices['targetOf'] = (url) => `${new URL(url).origin}/hooks`
    const settings = { isReachable: false }
    const { cases } = await examine({ changes: { targetOf }, settings, groups: ['deliveries'] }, context)
    const event = cases.find(({ id }) => id === 'event')
    expect(event?.detail).toMatch(
      /^An event about a check did not arrive within 2 s at a registered URL, such as https:\S+\/Hook-1\. Signed requests arrived elsewhere: POST \/hooks\.$/,
    )
  })

  test('events without the items of a check fail with that reason', async (context) => {
    const shown: Choices['shown'] = (...given) => {
      const { items: _left, ...rest } = foreignDefaults.shown(...given) as Body
      return rest
    }
    const { cases } = await examine({ changes: { shown }, groups: ['deliveries'] }, context)
    expect(cases.find(({ id }) => id === 'event')).toMatchObject({
      verdict: 'failed',
      detail:
        'An event about a check arrived without the items of the check. Its data must be the full state.',
    })
  })

  test.for<[sent: string, data: unknown]>([
    ['no data', null],
    ['ids of its own', { id: 'chk_1', url: 'https://acme.test/v1/checks/chk_1' }],
  ])('events with %s fail with that reason', async ([, data], context) => {
    const changes: Partial<Choices> = { envelope: (event) => ({ ...event, data }) }
    const { cases } = await examine({ changes, groups: ['deliveries'] }, context)
    expect(cases.find(({ id }) => id === 'event')).toMatchObject({
      verdict: 'failed',
      detail:
        'An event about a check is missing, but a check.created arrived whose data names neither the check nor its items. Its data must be the full state.',
    })
  })

  test.for<[string, string | null]>([
    ['application/json; charset=utf-8', null],
    ['application/cloudevents+json', null],
    [
      'application/x-www-form-urlencoded',
      'The content type is "application/x-www-form-urlencoded", so receivers that decode by it do not see JSON.',
    ],
  ])('deliveries with the content type %s', async ([type, detail], context) => {
    const changes: Partial<Choices> = { moreHeaders: () => ({ 'content-type': type }) }
    const { cases, ok } = await examine({ changes, groups: ['deliveries'] }, context)
    const verdict = detail === null ? 'passed' : 'advised'
    expect(cases.find(({ id }) => id === 'content_type')).toMatchObject({ verdict, detail })
    expect(ok).toBe(true)
  })

  test.for<[body: string, bodyOf: Choices['bodyOf'], detail: RegExp]>([
    [
      'whose length counts characters',
      (bytes) => Buffer.from(bytes).subarray(0, bytes.length),
      /^The body is cut off after \d+ bytes\. Content-Length must count bytes, not characters\.$/,
    ],
    ['of a form', (bytes) => `payload=${bytes}`, /^The body is not JSON: "payload=\{\\"id\\":.*"\.$/],
  ])('deliveries with a body %s fail with that reason', async ([, bodyOf, detail], context) => {
    const { cases } = await examine({ changes: { bodyOf }, groups: ['deliveries'] }, context)
    const details = Object.fromEntries(cases.map((one) => [one.id, one.detail]))
    expect(details.envelope).toMatch(detail)
    expect(details.type).toBe('Not checked: The envelope has no type.')
  })
})

test('states that end in a wrong one fail with the values of the field that orders them', async () => {
  const isNewer: Choices['isNewer'] = (before, next) => String(next.version) > String(before.version)
  const settings = { orderBy: 'version' }
  const { cases } = await examine({ changes: { isNewer }, settings, groups: ['checks'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'in_order')).toMatchObject({
    verdict: 'failed',
    detail: 'States 1, 2, 3 arrived, with version 9, 10, 11. The items are a; expected b, c.',
  })
})

describe.concurrent('the first retry is waited for where no clock can be moved', () => {
  const after = (changes: Partial<Choices>, context: Pick<TestContext, 'onTestFinished'>) => {
    const settings = { slow: true, profile: { clock: undefined }, timeouts: { retryMs: 2_000 } }
    return examine({ changes: { retriesAfterMs: 2_000, ...changes }, settings, groups: ['retries'] }, context)
  }

  test('and shows what a retry can show', async (context) => {
    const report = await after({}, context)
    expect(named(report, 'failed')).toEqual([])
    expect(named(report, 'passed')).toEqual(
      ['post', 'same_body', 'same_id', 'signed'].map((id) => `retries/${id}`),
    )
    expect(report.cases.find(({ id }) => id === 'schedule')?.detail).toBe(
      'Not checked: The first retry arrived after a minute. The later ones take 35 hours. Describe the request that moves the clock with --profile (clock).',
    )
  })

  const wrongRetries: [what: string, changes: Partial<Choices>, failed: string][] = [
    ['never comes', { waits: [] }, 'retries/schedule'],
    ['comes at once', { retriesAfterMs: 1_500 }, 'retries/schedule'],
    [
      'has another id',
      { bytesOfRetry: ({ event, attempts }) => JSON.stringify({ ...event, id: `${event.id}-${attempts}` }) },
      'retries/same_id',
    ],
    [
      'has the t of the first attempt',
      { timeOf: (_now, { started }) => Math.floor(started / 1000) },
      'retries/signed',
    ],
  ]

  test.for(sampled(wrongRetries, 2))('and fails when it %s', async ([, changes, failed], context) => {
    expect(named(await after(changes, context), 'failed')).toEqual([failed])
  })
})

test('a retry that does not arrive fails with the response before it', async () => {
  const changes: Partial<Choices> = { succeeds: (status) => status < 400 }
  const { cases } = await examine({ changes, groups: ['retries'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'schedule')).toMatchObject({
    verdict: 'failed',
    detail: 'Retry 3, due 30 minutes after the response 302, did not arrive within 39.5 minutes.',
  })
})

test.each<[mistake: string, signed: Choices['signed'], reason: string]>([
  [
    'the body in another form',
    (hook, body, t) => foreignDefaults.signed(hook, JSON.stringify(JSON.parse(body), null, 2), t),
    'The signed body is not the sent one (json_reserialised). Sign the bytes that are sent.',
  ],
  [
    'no period',
    ({ secret }, body, t) => `t=${t},v1=${hmac(secret, `${t}${body}`).digest('hex')}`,
    'The period is missing between t and the body. Sign the value of t, a period, and then the body.',
  ],
  [
    'the secret without its prefix',
    ({ secret, ...hook }, body, t) => foreignDefaults.signed({ ...hook, secret: secret.slice(6) }, body, t),
    'The key lacks whsec_. Sign with the whole secret, as the registration returned it.',
  ],
  [
    'the body before t',
    ({ secret }, body, t) => `t=${t},v1=${hmac(secret, `${body}.${t}`).digest('hex')}`,
    'The body was signed before t. Sign the value of t, a period, and then the body.',
  ],
  [
    'a plain hash',
    ({ secret }, body, t) =>
      `t=${t},v1=${createHash('sha256').update(`${secret}${t}.${body}`).digest('hex')}`,
    'The signature is a plain SHA-256 hash, not an HMAC. Use HMAC-SHA256 with the secret as its key.',
  ],
  [
    'with an API key',
    (_hook, body, t) => `t=${t},v1=${hmac('full-key', `${t}.${body}`).digest('hex')}`,
    'It is signed with an API key. Sign with the signing secret of the endpoint.',
  ],
  [
    'an unknown secret',
    (hook, body, t) => foreignDefaults.signed({ ...hook, secret: 'unknown' }, body, t),
    '',
  ],
])('the reason names what was signed: %s', async (_mistake, signed, reason) => {
  const { cases } = await examine({ changes: { signed }, groups: ['deliveries'] }, { onTestFinished })
  const [ping, match] = ['ping', 'signature_match'].map((id) => cases.find((one) => one.id === id))
  expect(ping?.detail).toBe(`The signature of the ping does not match. ${reason}`.trimEnd())
  expect(match?.detail).toBe(
    `The signature of check.created does not match the secret of the endpoint. ${reason}`.trimEnd(),
  )
})

test.each<[mistake: string, changes: Partial<Choices>, ping: string, event: string]>([
  [
    'with t in milliseconds',
    { timeOf: (now) => now },
    'In the signature of the ping, t is <t>, in milliseconds; expected unix seconds.',
    't is <t>, in milliseconds; expected unix seconds.',
  ],
  [
    'with t of last week',
    { timeOf: (now) => Math.floor(now / 1000) - 7 * 86_400 },
    'In the signature of the ping, t is <t>; expected unix seconds within 300 s of now.',
    't is <t>; expected unix seconds within 300 s of now.',
  ],
  [
    'with another scheme than v1',
    { signed: (_hook, _body, t) => `t=${t},v0=aa` },
    'The signature of the ping has no v1=: "t=<t>,v0=aa".',
    'x-acme-signature is "t=<t>,v0=aa".',
  ],
])('a signature %s fails with that reason', async (_mistake, changes, ping, event) => {
  const { cases } = await examine({ changes, groups: ['deliveries'] }, { onTestFinished })
  const details = cases.flatMap(({ verdict, detail }) =>
    verdict === 'failed' && detail !== null ? [detail.replace(/\d{10,}/, '<t>')] : [],
  )
  expect(details).toEqual([ping, event])
})

test('texts with HTML escapes fail with that reason', async () => {
  const changes = shownItems(({ name }) => ({ name: name.replaceAll('&', '&amp;') }))
  const { cases } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'texts')?.detail).toMatch(
    /^A push has the name "Dish a Crêpe .*", but GET returns it with HTML escapes\.$/,
  )
})

test('a signature in another header fails with the name of that header', async () => {
  const changes = { header: 'Stripe-Signature' }
  const settings = { serviceName: 'Acme' }
  const { cases } = await examine({ changes, settings, groups: ['deliveries'] }, { onTestFinished })
  const details = Object.fromEntries(cases.map((one) => [one.id, one.detail]))
  expect(details.ping).toBe('The ping has no X-Acme-Signature, but stripe-signature.')
  expect(details.signature_form).toBe('The delivery has no X-Acme-Signature, but stripe-signature.')
})

test('texts in another encoding fail with what GET returns', async () => {
  const changes = shownItems(({ name }) => ({ name: Buffer.from(name).toString('latin1') }))
  const { cases } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'texts')?.detail).toMatch(
    /^A push has the name "Dish a Crêpe .*", but GET returns "Dish a CrÃªpe .*"\.$/,
  )
})

test('data that differs from the response of GET fails with the place', async () => {
  const envelope: Choices['envelope'] = (event) => {
    const { data } = event as unknown as { data: Body }
    const totals = { ...data.totals, total_cents: 1, tax_cents: 1 }
    return data.totals === undefined ? event : { ...event, data: { ...data, totals } }
  }
  const { cases } = await examine({ changes: { envelope }, groups: ['deliveries'] }, { onTestFinished })
  const details = Object.fromEntries(cases.map((one) => [one.id, one.detail]))
  expect(details.data).toBe(
    'data differs from the response of GET after the first push, in totals.tax_cents and 1 other place.',
  )
})

test('a ping without t in its signature fails with that reason', async () => {
  const signed: Choices['signed'] = ({ secret }, body) => `v1=${hmac(secret, `.${body}`).digest('hex')}`
  const { cases } = await examine({ changes: { signed }, groups: ['deliveries'] }, { onTestFinished })
  const ping = cases.find(({ id }) => id === 'ping')
  expect(ping).toMatchObject({ verdict: 'failed', detail: 'The signature of the ping has no t.' })
})
