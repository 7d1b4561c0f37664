import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import { isRemoved } from '../../../src/conformance/contract/shape.ts'
import { defaults as foreignDefaults, type Body, type Choices } from '../../support/foreign-service.ts'
import { examine, named, type Variant } from './examine.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'

const newer = (field: string) => (before: Body, next: Body) => Number(next[field]) > Number(before[field])
const isHttps = (url = '') => URL.canParse(url) && url.startsWith('https://')
const movesTime: Choices['onReplay'] = (bill) => {
  bill.at = new Date()
  return {}
}
const isLoopback = (url = '') => /\/\/(127\.|localhost)/.test(url)
const withSmallScheme = (value: string) => value.replace(/^bearer/i, 'bearer')
/** Retries wait for what must not arrive, which takes five seconds: they run where a variant is about deliveries. */
const DELIVERS =
  /follows|endpoint|deliver|send|retries|event|receiver|address|ping|guest claims|trust|another key for each/
const withoutRetries = [...new Set(contractCases.map(({ group }) => group))].filter(
  (one) => one !== 'retries',
)
const nowhere = { isReachable: false, timeouts: { eventMs: 200 } }

/** GET shows further fields, by the milliseconds since the latest claim and the number of claimed items. */
function shownByAge(fields: (ageMs: number, claims: number) => object): Partial<Choices> {
  const claimedAt = new WeakMap<Set<string>, number>()
  return {
    onClaim({ taken }, line) {
      taken.add(line)
      claimedAt.set(taken, Date.now())
    },
    shown: ({ ref, body, taken }) => ({
      ref,
      ...body,
      ...fields(Date.now() - (claimedAt.get(taken) ?? Date.now()), taken.size),
    }),
  }
}

/** GET shows the claim of an item a while after the claim. */
const lateClaims = () => shownByAge((ageMs, claims) => ({ claims: ageMs > 250 ? claims : 0 }))

/** GET shows whether the claim is recent. Like a number of minutes, the value changes by itself. */
const agingClaims = () => shownByAge((ageMs) => ({ is_recent: ageMs < 100 }))

/** A claim is applied a while after it was made. GET shows it from then on, under an id of its own. */
function laterClaims(): Partial<Choices> {
  const claims = new WeakMap<Set<string>, { id: string; line: string; at: number }[]>()
  const applied = (taken: Set<string>) => (claims.get(taken) ?? []).filter(({ at }) => Date.now() - at > 150)
  return {
    onClaim({ taken }, line) {
      taken.add(line)
      claims.set(taken, [...(claims.get(taken) ?? []), { id: randomUUID(), line, at: Date.now() }])
    },
    conflicts: (bill, next) =>
      foreignDefaults.conflicts(
        { ...bill, taken: new Set(applied(bill.taken).map(({ line }) => line)) },
        next,
      ),
    shown: ({ ref, body, taken }) => ({
      ref,
      ...body,
      claims: applied(taken).map(({ id, line }) => ({ id, line })),
    }),
  }
}

/** Forms in which a service may show a time. */
const timeForms: [form: string, shown: (at: Date) => unknown][] = [
  ['an HTTP date', (at) => at.toUTCString()],
  ['a list of numbers', (at) => at.toISOString().split(/\D/).slice(0, 6).map(Number)],
  ['microseconds', (at) => at.getTime() * 1000],
  ['digits in a text', (at) => String(at.getTime())],
]

/** A number of 64 bits, which `JSON.parse` rounds. */
const snowflake = () => String(2n ** 60n + 2n * BigInt(randomInt(2 ** 40)) + 1n)

/** The service answers 404 to registrations on its own host, and 400 to those of a host without an address. */
function missingOnLoopback(): Partial<Choices> {
  let url: string | undefined
  return {
    takesUrl(given) {
      url = given
      return isHttps(url) && !isLoopback(url) && !url?.includes('.invalid')
    },
    refusal: (status, code) =>
      foreignDefaults.refusal(code === 'bad_url' && isLoopback(url) ? 404 : status, code),
  }
}

/** A push that arrives while another one is written is refused. */
function oneAtATime(): Partial<Choices> {
  let isWriting = false
  return {
    invalid: () => (isWriting ? 'busy' : undefined),
    writesAfterMs() {
      isWriting = true
      return 5
    },
    merged(_before, next) {
      isWriting = false
      return next
    },
  }
}

/** The service has these tables alone, each with one open check. */
const fewTables = (count: number): Partial<Choices> => ({
  invalid: ({ table }) => (Number(table.number) <= count ? undefined : 'unknown_table'),
  isTableFree: (table, tables) => !tables.includes(table),
})

/** Of two equal events, the first is about another check, which another client closes at the same time. */
function closedByAnother(): Choices['envelope'] {
  let closed = 0
  return (event) => {
    if (!('type' in event && event.type === 'check.closed')) return event
    closed += 1
    return closed % 2 === 1 ? { ...event, data: { ref: 'table-9', status: 'closed', items: [] } } : event
  }
}

/** Ids `we_6`, `we_7` and so on. */
function counted(): () => string {
  let latest = 5
  return () => `we_${++latest}`
}

/** GET shows a change a while after its event. */
function lateReads(): Partial<Choices> {
  const shown = new Map<string, { check: unknown; at: number }[]>()
  return {
    shown({ ref, body }) {
      const check = { ref, ...body }
      shown.set(ref, [...(shown.get(ref) ?? []), { check, at: Date.now() }])
      return check
    },
    read(check) {
      const all = shown.get((check as { ref: string }).ref) ?? []
      return (all.findLast(({ at }) => Date.now() - at > 200) ?? all[0])?.check
    },
  }
}

/** The check that a service showed last. */
let latest: unknown

/** Each chooses otherwise where the specification leaves a choice, and is right. */
const right: Record<string, Variant> = {
  'follows the specification': {},
  'knows twelve tables': {
    changes: { invalid: ({ table }) => (Number(table.number) <= 12 ? undefined : 'unknown_table') },
  },
  'knows twelve tables, and allows one open check per table': {
    changes: { ...fewTables(12), isNewer: newer('revision') },
    settings: { orderBy: 'revision' },
  },
  'allows one open check at the table of its profile': {
    changes: fewTables(1),
    settings: { profile: { push: { table: { number: '1' } } } },
    groups: ['checks'],
  },
  'knows twelve tables, and closes no check with claimed items': {
    changes: {
      ...fewTables(12),
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) || (next.status === 'closed' && bill.taken.size > 0),
    },
  },
  'takes letters, digits and hyphens in ids alone': {
    changes: { invalid: (_body, ref) => (/^[\w-]+$/.test(ref) ? undefined : 'id') },
    groups: ['checks'],
  },
  'shows ids behind a prefix': {
    changes: { shown: ({ ref, body }) => ({ ref: `pos:${ref}`, ...body }) },
    groups: ['checks'],
  },
  'shows discounts in a list of their own, without their sign': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.filter((line) => line.price_cents >= 0),
        discounts: body.items
          .filter((line) => line.price_cents < 0)
          .map((line) => ({ ...line, price_cents: -line.price_cents })),
      }),
    },
    groups: ['checks'],
  },
  'refuses prices below 0 and above a million': {
    changes: {
      invalid: ({ items }) =>
        items.some(({ price_cents }) => price_cents < 0 || price_cents > 1e8) ? 'price' : undefined,
    },
    groups: ['checks'],
  },
  'takes a wrong item for a failure of its own': {
    changes: { wrongItemReply: { status: 500 } },
    groups: ['checks'],
  },
  'refuses to close a check that guests have not paid': {
    changes: {
      isNewer: newer('revision'),
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) || (next.status === 'closed' && bill.taken.size > 0),
    },
    settings: { orderBy: 'revision' },
  },
  'shows no closed checks': {
    changes: {
      isNewer: newer('revision'),
      read: (check) => ((check as Body).status === 'closed' ? undefined : check),
    },
    settings: { orderBy: 'revision' },
  },
  'shows no items of a closed check': {
    changes: {
      isNewer: newer('revision'),
      shown: ({ ref, body }) => ({ ref, ...body, items: body.status === 'closed' ? [] : body.items }),
    },
    settings: { orderBy: 'revision' },
    groups: ['checks', 'conflicts'],
  },
  'refuses a push during another one to the check': {
    changes: {
      ...oneAtATime(),
      isNewer: newer('revision'),
    },
    settings: { orderBy: 'revision' },
    groups: ['checks', 'conflicts'],
  },
  'refuses more than a hundred items': {
    changes: { invalid: ({ items }) => (items.length > 100 ? 'items' : undefined) },
    groups: ['checks'],
  },
  'shows a hundred items, and with which limit': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: { offset: 0, limit: 100, count: body.items.length, list: body.items.slice(0, 100) },
      }),
    },
    groups: ['checks'],
  },
  'shows a hundred items and a link to the next ones': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.slice(0, 100),
        links: body.items.length > 100 ? { next: `/v1/checks/external/${ref}?page=2` } : {},
      }),
    },
    groups: ['checks'],
  },
  'sends when others close their checks': {
    changes: {
      typesOf: (isNew, body) =>
        body.status === 'closed' ? ['check.closed', 'check.closed'] : foreignDefaults.typesOf(isNew, body),
      envelope: closedByAnother(),
    },
    groups: ['deliveries'],
  },
  'closes without an event': {
    changes: {
      typesOf: (isNew, { status }) =>
        status === 'closed' ? [] : [isNew ? 'check.created' : 'check.updated'],
    },
    groups: ['deliveries'],
  },
  'shows items without a price in a list of their own': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.filter((line) => line.price_cents !== 0),
        free: body.items.filter((line) => line.price_cents === 0),
      }),
    },
    groups: ['checks'],
  },
  'answers pushes without a body': { changes: { pushReply: () => ({ status: 204 }) } },
  'applies pushes later and answers 202': {
    changes: { applyAfterMs: 150, pushReply: () => ({ status: 202 }) },
  },
  'wraps the check': {
    changes: {
      read: (check) => ({ check }),
      pushReply: (check) => ({ status: 200, json: { data: { check } } }),
    },
  },
  'nests the registration and names the id otherwise': {
    changes: {
      registered: ({ id, secret }) => ({
        status: 200,
        json: { data: { endpoint: { uuid: id, signing: { key: secret } } } },
      }),
    },
  },
  'has numbers for ids': {
    changes: {
      newHookId: () => String(Math.floor(Math.random() * 1e6)),
      registered: ({ id, secret }) => ({ status: 201, json: { hook_no: Number(id), whsec: secret } }),
    },
  },
  'has numbers of 64 bits for ids': {
    changes: {
      newHookId: snowflake,
      registered: ({ id, secret }) => ({ status: 201, text: `{"id":${id},"secret":"${secret}"}` }),
    },
    groups: ['access', 'endpoints', 'deliveries'],
  },
  'answers a registration with XML': {
    changes: {
      registered: ({ id, secret }) => ({
        status: 201,
        headers: { 'content-type': 'application/xml' },
        text: `<endpoint><id>${id}</id><secret>${secret}</secret></endpoint>`,
      }),
    },
  },
  'shows the id of an endpoint in Location alone': {
    changes: {
      registered: ({ id, secret }) => ({
        status: 201,
        headers: { location: `/v1/webhook-endpoints/${id}` },
        json: { secret },
      }),
    },
  },
  'nests lists two deep': { changes: { locations: () => ({ result: { page: { rows: [] } } }) } },
  'answers with an empty list of errors': {
    changes: { locations: () => ({ data: [{ key: 'north' }], errors: [] }) },
  },
  'answers with an empty error': { changes: { locations: () => ({ error: '', locations: [] }) } },
  'answers with the restaurant and its venues': {
    changes: { locations: () => ({ id: 'rest_1', name: 'Pan', venues: [{ key: 'north' }] }) },
  },
  'answers with the restaurant and its shops': {
    changes: { locations: () => ({ id: 'r1', name: 'Pan', shops: [{ id: 'l1' }] }) },
  },
  'shows for how long a check is open': {
    changes: { read: (check) => ({ check, half_seconds: Math.floor(Date.now() / 500) }) },
  },
  'shows the claim of a guest late': { changes: lateClaims() },
  'applies and shows the claim of a guest later': {
    changes: laterClaims(),
    groups: ['checks', 'conflicts'],
  },
  'shows the claim of a guest late, under an id of its own': {
    changes: { ...laterClaims(), conflicts: foreignDefaults.conflicts },
    groups: ['checks', 'conflicts'],
  },
  'shows that a claim is no longer recent': {
    changes: agingClaims(),
    groups: ['checks', 'conflicts'],
    settings: { timeouts: { settleMs: 40 } },
  },
  'sends an event before GET shows the change': { changes: lateReads() },
  'sends an event of its own for each push': {
    changes: {
      typesOf: (isNew) => [isNew ? 'check.created' : 'check.updated', 'check.received'],
      onReplay: () => ({ events: 1, type: 'check.received' }),
      wants: ({ types }, type) => types.includes(type === 'check.received' ? 'check.updated' : type),
    },
  },
  'has a clock that was set back, and shows it': {
    changes: {
      createdAt: () => '2026-01-01T00:00:01.000Z',
      shown: ({ ref, body }) => ({ ref, ...body, opened_at: '2026-01-01T00:00:00.000Z' }),
    },
  },
  'wants the type of an event in a test request': {
    changes: { takesPing: () => false, refusal: () => ({ status: 422, json: { error: 'event_type' } }) },
  },
  'sends the latest check as a ping': {
    changes: {
      pingType: 'ping',
      pingData: ({ url }) => ({ example: latest, url }),
      shown: (bill) => (latest = { ref: bill.ref, ...bill.body }),
    },
  },
  'shows when the last push arrived': {
    changes: { onReplay: movesTime },
  },
  ...Object.fromEntries(
    timeForms.map(([form, shown]): [string, Variant] => [
      `shows when the last push arrived, as ${form}`,
      {
        changes: {
          onReplay(bill) {
            bill.at = new Date(bill.at.getTime() + 60_000)
            return {}
          },
          shown: ({ ref, body, at }) => ({ ref, ...body, pushed: shown(at) }),
        },
      },
    ]),
  ),
  'answers GET with a list of one check': { changes: { read: (check) => ({ data: [check] }) } },
  'shows the prices of lines, and amounts as texts': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.map((one) => ({
          ...one,
          price_cents: one.price_cents * one.quantity,
          quantity: one.quantity.toFixed(2),
        })),
        totals: { ...body.totals, service_cents: 0 },
      }),
    },
  },
  'shows each unit of an item': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.flatMap(({ quantity, ...one }) => {
          const units = Array.from({ length: Math.floor(quantity) }, () => ({ ...one, quantity: 1 }))
          return quantity % 1 === 0 ? units : [...units, { ...one, quantity: quantity % 1 }]
        }),
      }),
    },
  },
  'refuses an endpoint with a query': { changes: { takesUrl: (url) => isHttps(url) && !url?.includes('?') } },
  'refuses fractions of a unit': {
    changes: {
      invalid: ({ items }) => (items.every((one) => one.quantity % 1 === 0) ? undefined : 'quantity'),
    },
  },
  'shows totals per guest before those of the check': {
    changes: {
      shown: ({ ref, body }) => ({
        guests: [{ totals: { subtotal_cents: 0, tax_cents: 0, total_cents: 0 } }],
        ref,
        ...body,
      }),
    },
  },
  'keeps removed items as inactive': {
    changes: {
      shown: ({ ref, body, removed }) => ({
        ref,
        ...body,
        items: [
          ...body.items.map((one) => ({ ...one, active: true })),
          ...removed
            .filter(({ external_id }) => !body.items.some((one) => one.external_id === external_id))
            .map((one) => ({ ...one, active: false })),
        ],
      }),
    },
  },
  'sends an event of its own at a conflict': {
    changes: {
      onConflict: () => ({ events: 1, type: 'check.refused' }),
      wants: ({ types }, type) => types.includes(type === 'check.refused' ? 'check.updated' : type),
    },
  },
  'refuses older pushes with 422': {
    changes: { isNewer: newer('version'), staleReply: () => ({ status: 422, json: { error: 'too_late' } }) },
    settings: { orderBy: 'version' },
  },
  'keeps a check at its table': {
    changes: {
      isNewer: newer('version'),
      conflicts: (bill, next) =>
        foreignDefaults.conflicts(bill, next) || bill.body.table.number !== next.table.number,
    },
    settings: { orderBy: 'version' },
  },
  'compresses every response': { changes: { coding: 'gzip' } },
  'answers a bare list': { changes: { locations: () => [] } },
  'writes times with an offset of zero': {
    changes: { createdAt: () => new Date().toISOString().replace('Z', '+00:00') },
  },
  'writes times without milliseconds': {
    changes: { createdAt: () => new Date().toISOString().replace(/\.\d+Z/, 'Z') },
  },
  'refuses fields that it does not know': {
    changes: {
      invalid: (body) => Object.keys(body).find((name) => !/^(table|status|items|totals)$/.test(name)),
    },
  },
  'requires a note on each item': {
    changes: { invalid: ({ items }) => (items.every((one) => 'note' in one) ? undefined : 'note') },
  },
  'requires a field that its profile names': {
    changes: { invalid: (body) => (body.currency === 'EUR' ? undefined : 'currency') },
    settings: { profile: { push: { currency: 'EUR' } } },
  },
  'orders by version': { changes: { isNewer: newer('version') }, settings: { orderBy: 'version' } },
  'orders by a time': {
    changes: { isNewer: (before, next) => String(next.changed_at) > String(before.changed_at) },
    settings: { orderBy: 'changed_at' },
  },
  'orders by a counter that its profile names': {
    changes: { isNewer: newer('n') },
    settings: { profile: { order_by: { field: 'n', type: 'integer' } } },
  },
  'refuses older pushes with 409': {
    changes: {
      isNewer: newer('version'),
      staleReply: () => ({ status: 409, json: { error: 'outdated' } }),
    },
    settings: { orderBy: 'version' },
  },
  'refuses receivers on loopback addresses': {
    changes: { takesUrl: (url) => isHttps(url) && !isLoopback(url) },
    settings: nowhere,
  },
  ...Object.fromEntries(
    ['host.docker.internal', '100.101.2.3', '[fd12::1]'].map((host): [string, Variant] => [
      `refuses the receiver at the private address ${host}`,
      {
        changes: { takesUrl: () => false },
        settings: { ...nowhere, receiverUrl: `https://${host}:8443` },
      },
    ]),
  ),
  'refuses every address that does not resolve': {
    changes: { takesUrl: (url) => isHttps(url) && !isLoopback(url) && !url?.includes('.invalid') },
    settings: nowhere,
  },
  'answers 404 to a registration on its own host': { changes: missingOnLoopback(), settings: nowhere },
  'cannot reach the receiver': { changes: { sends: () => false }, settings: nowhere },
  'answers 502 to a ping that arrives': { changes: { pingReply: () => ({ status: 502 }) } },
  'answers 502 to a ping that does not arrive': {
    changes: { sends: () => false, pingReply: () => ({ status: 502 }) },
    settings: nowhere,
  },
  'reports a ping only when it has arrived, and cannot reach the receiver': {
    changes: { sends: () => false, pingReply: () => new Promise(() => undefined) },
    settings: { isReachable: false, timeouts: { eventMs: 200, answerMs: 2_000 } },
  },
  'pings at registration': { changes: { pingsAtRegistration: true } },
  'calls its ping otherwise': { changes: { pingType: 'webhook.test', pingsAtRegistration: true } },
  'delivers everything twice': { changes: { copies: 2 } },
  'sends late': { changes: { sendsAfterMs: 500 } },
  'sends an event type of its own to who listens': {
    changes: {
      typesOf: (isNew) => [isNew ? 'check.created' : 'check.updated', 'check.repriced'],
      wants: ({ types }, type) => types.includes(type === 'check.repriced' ? 'check.created' : type),
    },
  },
  'sends two events for one change': {
    changes: {
      typesOf: (isNew) => (isNew ? ['check.created', 'check.updated'] : ['check.updated', 'check.updated']),
    },
  },
  'answers errors as problem+json': {
    changes: {
      refusal: (status, code) => ({
        status,
        headers: { 'content-type': 'application/problem+json' },
        json: { type: `https://acme.test/${code}` },
      }),
      conflictReply: () => ({
        status: 409,
        json: { type: 'https://acme.test/problems/conflict_with_paid_items', title: 'Paid' },
      }),
    },
  },
  'answers errors without a body': { changes: { refusal: (status) => ({ status }) } },
  'answers 404 to strangers': { changes: { refusal: () => ({ status: 404 }) } },
  'reads checks at a path that its profile names': {
    changes: { readPath: (ref) => `/v1/bills/${ref}` },
    settings: { profile: { paths: { check: '/bills/{external_check_id}' } } },
  },
  'shows no check at all': { changes: { readPath: () => '/nowhere', pushReply: () => ({ status: 204 }) } },
  'keeps removed items in the list': {
    changes: {
      shown: ({ ref, body, removed }) => ({
        ref,
        ...body,
        items: [...body.items, ...removed.map((one) => ({ ...one, removed: true }))],
      }),
    },
  },
  'says when an item was removed, and why': {
    changes: {
      shown: ({ ref, body, removed }) => {
        const unset = {
          ...{ removed_modifiers: [], void_reason: '', deletable: true, cancellation_policy: 'free' },
          ...{ removedAt: null, isVoid: 0, deleted_at: '0001-01-01T00:00:00Z', actions: ['void'] },
        }
        const items = [
          ...body.items.map((one) => ({ ...one, ...unset })),
          ...removed.map((one) => ({ ...one, ...unset, removedAt: '2026-11-21T18:04:05Z' })),
        ]
        return { ref, ...body, items }
      },
    },
  },
  'keeps removed items in a list of their own': {
    changes: {
      shown: ({ ref, body: { items, ...body }, removed }) => ({
        ref,
        voided: removed,
        lines: items,
        ...body,
      }),
    },
  },
  'keeps a history of its items': {
    changes: {
      shown: ({ ref, body, removed }) => ({
        ref,
        history: [...removed, ...body.items].map(({ external_id }) => ({ op: 'added', external_id })),
        ...body,
      }),
    },
  },
  'names fields otherwise': {
    changes: {
      shown: ({ ref, body }) => ({
        billNo: ref,
        lines: body.items.map(({ external_id, name, price_cents }) => ({
          posId: external_id,
          label: name,
          price: price_cents / 100,
        })),
      }),
    },
  },
  'shows items by their id': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        items: Object.fromEntries(body.items.map((one) => [one.external_id, one])),
      }),
    },
  },
  'shows when it answered': {
    changes: { read: (check) => ({ served_at: new Date().toISOString(), check }) },
    settings: { strict: true },
  },
  'retries late by a fifth': { changes: { lateness: 0.2 } },
  'takes Bearer in any case': {
    changes: {
      keyOf: (value = '') =>
        /^bearer full-key$/.test(withSmallScheme(value))
          ? 'full'
          : /^bearer read-key$/.test(withSmallScheme(value))
            ? 'read'
            : undefined,
    },
  },
  'shows how its secrets begin': {
    changes: { hookShown: ({ id, secret }) => ({ id, hint: `${secret.slice(0, 10)}…` }) },
  },
  'keeps items by seat': {
    changes: {
      shown: ({ ref, body: { items, ...body } }) => ({
        ref,
        ...body,
        seats: items.map((one, seat) => ({ seat, items: [one] })),
      }),
    },
  },
  'shows neither names nor prices': {
    changes: {
      shown: ({ ref, body }) => ({ ref, items: body.items.map((one) => ({ external_id: one.external_id })) }),
    },
  },
  'refuses long identifiers': {
    changes: { invalid: ({ items }) => items.find((one) => one.external_id.length > 32)?.external_id },
  },
  'refuses empty notes and taxes of nothing': {
    changes: {
      invalid: ({ items, totals }) =>
        items.some(({ note }) => note === '') ||
        (items.length > 0 && !Object.values(totals).every((cents) => cents > 0))
          ? 'empty'
          : undefined,
    },
  },
  'refuses two items of one name': {
    changes: {
      invalid: ({ items }) =>
        new Set(items.map(({ name }) => name)).size < items.length ? 'names' : undefined,
    },
  },
  'allows one open check per table': {
    changes: { isTableFree: (table, tables) => !tables.includes(table) },
  },
  'allows one open check per table, whose name its profile gives': {
    changes: { isTableFree: (table, tables) => table.startsWith('T-') && !tables.includes(table) },
    settings: { profile: { push: { table: { number: 'T-{external_check_id}' } } } },
  },
  'numbers its endpoints behind a prefix': {
    changes: { newHookId: counted() },
    groups: ['access', 'endpoints'],
  },
  'shows each item in two lists of one name': {
    changes: {
      shown: ({ ref, body }) => ({ ref, ...body, courses: body.items.map((one) => ({ items: [one] })) }),
    },
    groups: ['checks'],
  },
  'keeps the last endpoint alone': { changes: { replacesHooks: true } },
  'allows one endpoint': { changes: { maxHooks: 1 } },
  'wants a body with a request for a ping': { changes: { wantsPingBody: true } },
  'shows the id of an endpoint in its links alone': {
    changes: {
      registered: ({ id, secret }) => ({
        status: 201,
        json: { secret, links: { test: `https://acme.test/v1/webhook-endpoints/${id}/test` } },
      }),
    },
  },
  'has blanks and slashes in its ids': { changes: { newHookId: () => `hook/${randomUUID()} 1%` } },
  // Its deliveries are not waited for.
  'does not trust the receiver': {
    changes: { trusts: false },
    settings: { timeouts: { eventMs: 3_600_000 } },
  },
  'is busy now and then': { changes: { isBusy: (number) => number % 9 === 0 } },
  'has objects of its own for the ids of items': {
    changes: {
      shown: ({ ref, body: { items, ...body } }) => ({
        data: {
          id: ref,
          attributes: {
            ...body,
            items: items.map(({ external_id, ...attributes }, at) => ({
              id: String(at),
              attributes: { external_id, ...attributes },
            })),
          },
        },
      }),
    },
  },
  'names an item beside the list of items': {
    changes: {
      shown: ({ ref, body }) => ({ ref, ...body, last_change: { item: body.items.at(-1)?.external_id } }),
    },
  },
  'refers from an item to another one': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.map((one) => ({ ...one, first: { of: body.items[0]?.external_id } })),
      }),
    },
  },
  'shows checks late and limits the rate of requests': {
    changes: { ...lateReads(), throttles: (number) => number % 11 === 0 },
    groups: ['checks'],
  },
  'lists its endpoints': {
    changes: { hooksShown: (hooks) => ({ data: hooks.map(({ id, url }) => ({ id, url })) }) },
    groups: ['access', 'endpoints'],
  },
  'limits the rate of requests': { changes: { throttles: (number) => number % 7 === 0 } },
  'orders by a nested field': {
    changes: {
      isNewer: (before, next) => (next.meta as { seq: number }).seq > (before.meta as { seq: number }).seq,
    },
    settings: { orderBy: 'meta.seq' },
  },
  'orders by whole numbers as texts': {
    changes: { isNewer: newer('seq'), invalid: ({ seq }) => (typeof seq === 'string' ? undefined : 'seq') },
    settings: { profile: { order_by: { field: 'seq', type: 'string' } } },
  },
  'orders by a time whose name does not say so': {
    changes: {
      isNewer: (before, next) => String(next.modified) > String(before.modified),
      invalid: ({ modified }) => (typeof modified === 'string' ? undefined : 'modified'),
    },
    settings: { orderBy: 'modified' },
  },
  'answers a conflict in plain text': {
    changes: { conflictReply: () => ({ status: 409, text: 'conflict_with_paid_items' }) },
  },
  'says the code of a conflict in a header': {
    changes: {
      conflictReply: () => ({ status: 409, headers: { 'x-error-code': 'conflict_with_paid_items' } }),
    },
  },
  'shows the id of the request in what GET returns': {
    changes: { read: (check) => ({ data: check, meta: { request: randomUUID() } }) },
  },
  'writes times in the basic form': {
    changes: { createdAt: () => new Date().toISOString().replace(/[-:]|\.\d+/g, '') },
  },
  'writes times with a comma and a short offset': {
    changes: { createdAt: () => new Date().toISOString().replace('.', ',').replace('Z', '+00') },
  },
  'lists locations under their ids': {
    changes: { locations: () => ({ locations: { north: { name: 'North' }, south: { name: 'South' } } }) },
  },
  'sends nothing about a check before a guest claims': {
    changes: { typesOf: () => [], typesOfClaim: ['check.created'] },
  },
  'calls every event check.updated': { changes: { typesOf: () => ['check.updated'] } },
  'sends check.updated when a guest claims': { changes: { typesOfClaim: ['check.updated'] } },
  'keeps items by course, as its profile says': {
    changes: {
      shown: ({ ref, body: { items, ...body } }) => ({
        ref,
        ...body,
        courses: items.map((one, index) => ({ course: index + 1, dishes: [one] })),
      }),
    },
    settings: { profile: { fields: { items: 'courses.dishes', external_id: 'external_id' } } },
  },
  'has no list where its profile says': {
    settings: { profile: { fields: { items: 'dishes' } } },
  },
  'shows an example of a secret before the secret': {
    changes: {
      registered: ({ id, secret }) => ({ status: 201, json: { example: 'whsec_EXAMPLE', id, secret } }),
    },
  },
  'orders by whole numbers as texts, which nothing says': {
    changes: {
      isNewer: newer('seq'),
      invalid: ({ seq }) => (/^\d+$/.test(String(seq)) && typeof seq === 'string' ? undefined : 'seq'),
    },
    settings: { orderBy: 'seq' },
  },
  'takes times with an offset of zero alone': {
    changes: {
      isNewer: (before, next) => String(next.changed_at) > String(before.changed_at),
      invalid: ({ changed_at }) => (String(changed_at).endsWith('+00:00') ? undefined : 'changed_at'),
    },
    settings: { orderBy: 'changed_at' },
  },
  'moves the clock by at most 12 hours for its retries': { changes: { longestMove: 12 * 3600 } },
  'refuses names beyond the basic plane': {
    changes: {
      invalid: (body) =>
        /\p{Surrogate}|[\u{10000}-\u{10ffff}]/u.test(JSON.stringify(body)) ? 'text' : undefined,
    },
  },
  'shows names in capital letters': {
    changes: {
      shown: ({ ref, body }) => ({
        ref,
        ...body,
        items: body.items.map((one) => ({ ...one, name: one.name.toUpperCase() })),
      }),
    },
  },
  'refuses the status closed': {
    changes: {
      isNewer: newer('revision'),
      invalid: ({ status }) => (status === 'open' ? undefined : 'status'),
    },
    settings: { orderBy: 'revision' },
  },
  'shows a closed check under another name, and never opens it again': {
    changes: {
      isNewer: (before, next) => newer('revision')(before, next) && before.status !== 'closed',
      shown: ({ ref, body }) => ({ ref, ...body, status: body.status === 'closed' ? 'DONE' : 'OPEN' }),
    },
    settings: { orderBy: 'revision' },
  },
  'never opens a closed check again': {
    changes: {
      isNewer: (before, next) => newer('revision')(before, next) && before.status !== 'closed',
    },
    settings: { orderBy: 'revision' },
  },
  'refuses text beyond Latin-1': {
    changes: { invalid: (body) => (/[^\x00-\xff]/.test(JSON.stringify(body)) ? 'text' : undefined) },
  },
  'has another key for each scope': {
    changes: {
      keyOf: (value) =>
        value === 'Bearer full-key'
          ? 'full'
          : /^Bearer (read|push)-key$/.test(value ?? '')
            ? 'read'
            : undefined,
    },
    settings: {
      apiKey: undefined,
      readKey: undefined,
      keys: { read: 'read-key', push: 'push-key', write: 'full-key' },
    },
  },
}

describe.concurrent('a service with other correct choices passes', { timeout: 180_000 }, () => {
  test.for(sampled(Object.entries(right), 16))('%s', async ([name, variant], context) => {
    const groups = DELIVERS.test(name) ? undefined : withoutRetries
    const report = await examine({ groups, ...variant }, context)
    const failed = report.cases.filter(({ verdict }) => verdict === 'failed')
    expect(failed.map(({ group, id, detail }) => `${group}/${id}: ${detail}`)).toEqual([])
    expect(report.ok).toBe(true)
    expect(report.totals.passed).toBeGreaterThan('groups' in variant ? 5 : 15)
  })
})

describe('an endpoint in the list', () => {
  test.each([
    { removed_modifiers: [], removed_quantity: 1 },
    { void_reason: '', voids: 2, cancellation_policy: 'free of charge' },
    { deletable: true, is_deletable: true, removable: true },
    { removed: false, deleted: null, is_void: 0, cancelled: '' },
    { voided_by: [], is_removed: 'false', removed_on: '0', deleted_at: '0001-01-01T00:00:00Z' },
    { voided: 'N', deleted: 'f', removed: 'OFF', cancelled: 'none' },
    { deleted_at: '0000-00-00 00:00:00' },
    { deleted_at: '1970-01-01T00:00:00Z' },
    { actions: ['void'], quantity: 1 },
  ])('with %j counts as registered', (fields) => {
    expect(isRemoved(fields)).toBe(false)
  })

  test.each([
    { removed: true },
    { isRemoved: true },
    { is_deleted: 1 },
    { removedAt: '2026-11-21T18:04:05Z' },
    { deleted_at: 1_795_000_000 },
    { voided_by: 'anna' },
    { canceledOn: '2026-11-21' },
    { is_cancelled: 'yes' },
    { status: 'VOIDED' },
    { quantity: 0 },
  ])('with %j counts as removed', (fields) => {
    expect(isRemoved(fields)).toBe(true)
  })
})

test.runIf(isSoak)('a retry that becomes due while the service answers slowly is not too early', async () => {
  // The second move is the one before the first retry, to six seconds before it is due.
  const changes = { movesAfterMs: (move: number) => (move === 2 ? 6_500 : 0) }
  const { cases } = await examine({ changes, groups: ['retries'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'schedule')).toMatchObject({ verdict: 'passed', detail: null })
})

test('a service that fails at a ping to an id of another form is pinged by the right id', async () => {
  const changes: Partial<Choices> = {
    registered: ({ id, secret }) => ({ status: 201, json: { id: 'op-1', endpoint: { id, secret } } }),
    refusal: (status, code) => ({ status: code === 'unknown_endpoint' ? 500 : status }),
  }
  const settings = { timeouts: { eventMs: 300 } }
  const report = await examine({ changes, settings, groups: ['endpoints'] }, { onTestFinished })
  expect(named(report, 'failed')).toEqual([])
  expect(named(report, 'passed')).toContain('endpoints/secret_once')
})

test.each(['A', 'Q', 'g', 'w', '-w', '7w'])(
  'a ping to an unknown endpoint is refused where ids are 16 bytes in base64url and end with %s',
  async (end) => {
    const changes: Partial<Choices> = {
      newHookId: () => randomBytes(16).toString('base64url').slice(0, -end.length) + end,
      // The last character has four bits too many, which the decoder ignores.
      isSameHook: (one, other) => Buffer.from(one, 'base64url').equals(Buffer.from(other, 'base64url')),
    }
    const report = await examine({ changes, groups: ['endpoints'] }, { onTestFinished })
    expect(named(report, 'passed')).toContain('endpoints/unknown_endpoint')
  },
)

test('a service that shows pushes after 0.7 s passes where GET is repeated for longer', async () => {
  const changes = { applyAfterMs: 700 }
  const cases = contractCases.filter(({ id }) => id === 'full_state')
  const settings = { cases, timeouts: { settleMs: 6_000 } }
  expect(named(await examine({ changes, settings }, { onTestFinished }), 'passed')).toEqual([
    'checks/full_state',
  ])
})

test('a service that requires a field that the profile does not name is not checked', async () => {
  const changes = {
    invalid: ({ currency }: Body) =>
      currency === undefined ? `currency is required${' '.repeat(600)}` : undefined,
  }
  const { cases, totals } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(totals).toMatchObject({ passed: 0, failed: 0 })
  expect(cases[0]?.detail).toContain('currency is required')
  expect(cases[0]?.detail).toContain('with --profile (push, item)')
})

test('a service that knows its tables by name is not checked without one of them', async () => {
  const changes = { invalid: () => 'Table 10017 does not exist' }
  const { cases, totals } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(totals).toMatchObject({ passed: 0, failed: 0 })
  expect(cases[0]?.detail).toContain('Name a table of this service with --profile (push.table).')
})

test('a service that sends later than an event is waited for is not failed for the data', async () => {
  const changes = { sendsAfterMs: 500 }
  const settings = { timeouts: { eventMs: 300 } }
  const { cases } = await examine({ changes, settings, groups: ['deliveries'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'event')).toMatchObject({ verdict: 'passed' })
  expect(cases.find(({ id }) => id === 'data')).toMatchObject({
    verdict: 'not_checked',
    detail:
      'Not checked: No event arrived within 0.3 s, and by then the check was changed. If the service sends later, pass --wait.',
  })
  expect(cases.find(({ id }) => id === 'change')?.detail).toMatch(
    /^The delivery for a new check did not arrive within 0\.3 s\. \d+ other deliver(y|ies) arrived\. If the service sends later, pass --wait\.$/,
  )
})

/** The cases that wait for pushes in their own way. */
const waiting = contractCases.filter(({ id }) => /^(many_items|closed|open_again|at_once)$/.test(id))

/** Applies pushes a while after its answers. */
const queued: Partial<Choices> = {
  applyAfterMs: 300,
  merged: (before, next) => (before === undefined || newer('revision')(before, next) ? next : before),
}

test.for<[does: string, changes: Partial<Choices>]>([
  ['applies pushes later', queued],
  [
    'shows the status in capitals',
    {
      isNewer: newer('revision'),
      shown: ({ ref, body }) => ({ ref, ...body, status: body.status.toUpperCase() }),
    },
  ],
])('a service that %s is checked like others', async ([, changes]) => {
  const settings = { orderBy: 'revision', cases: waiting }
  const report = await examine({ changes, settings }, { onTestFinished })
  expect(named(report, 'failed')).toEqual([])
  expect(named(report, 'not_checked')).toEqual([])
})

test.for<[does: string, wins: (before: Body, next: Body) => boolean, failed: string]>([
  [
    'opens a closed check again',
    (before, next) => before.status !== next.status && next.status === 'open',
    'closed',
  ],
  ['closes an open check', (_before, next) => next.status === 'closed', 'open_again'],
])('a service that applies pushes later and %s for a late one fails', async ([, wins, failed]) => {
  const merged: Choices['merged'] = (before, next) =>
    before === undefined || newer('revision')(before, next) || wins(before, next) ? next : before
  const settings = { orderBy: 'revision', cases: waiting }
  const variant: Variant = { changes: { ...queued, merged }, settings }
  const report = await examine(variant, { onTestFinished })
  expect(named(report, 'failed')).toEqual([`checks/${failed}`])
})

test('a service with few tables and one open check at each is checked like others', async () => {
  const changes = { ...fewTables(12), isNewer: newer('revision') }
  const settings = { orderBy: 'revision' }
  const report = await examine({ changes, settings, groups: ['checks', 'conflicts'] }, { onTestFinished })
  expect(named(report, 'failed')).toEqual([])
  // The cases that need two open checks at one table, or a table beyond these.
  expect(named(report, 'not_checked')).toEqual([
    'checks/own_table',
    'checks/same_content',
    'conflicts/moving',
  ])
})

test('a service with few tables that decodes paths twice fails in the case about that', async () => {
  const changes = { ...fewTables(12), canonicalId: (ref: string) => decodeURIComponent(ref) }
  const report = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(named(report, 'failed')).toEqual(['checks/encoded_ids'])
})

test('a service whose tables have checks of others is not checked', async () => {
  const changes = {
    isTableFree: () => false,
    refusal: (status: number) => ({ status, json: 'table occupied' }),
  }
  const { cases, totals } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(totals).toMatchObject({ passed: 0, failed: 0 })
  expect(cases[0]?.detail).toContain('name a free table with --profile (push.table).')
})

test('each push has the id of its path where a profile puts it in the body, too', async () => {
  const others: unknown[] = []
  const changes = {
    invalid: ({ external_check_id }: Body, ref: string) => {
      if (external_check_id !== ref) others.push(external_check_id)
      return undefined
    },
  }
  const profile = { push: { external_check_id: '{external_check_id}' } }
  await examine({ changes, settings: { profile }, groups: ['checks', 'conflicts'] }, { onTestFinished })
  expect(others).toEqual([])
})

test('a case that depends on a failed case names that case', async () => {
  const changes = { isNewer: () => false }
  const { cases } = await examine({ changes, groups: ['checks'] }, { onTestFinished })
  expect(cases.find(({ id }) => id === 'replay')).toMatchObject({
    verdict: 'not_checked',
    detail: 'Not checked: depends on checks/full_state, which failed.',
  })
})
