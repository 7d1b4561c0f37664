import { createHmac, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { contractCases } from '../../../src/conformance/contract/run.ts'
import type { Body, Line } from '../../support/foreign-service.ts'
import { examine, named, type Variant } from './examine.ts'

const newer = (field: string) => (before: Body, next: Body) => Number(next[field]) > Number(before[field])
const isLoopback = (url = '') => /\/\/(127\.|localhost)/.test(url)
const withSmallScheme = (value: string) => value.replace(/^bearer/i, 'bearer')
const isHttps = (url = '') => url.startsWith('https://')
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text)
const without = (name: string) => (event: object) => {
  const { [name]: _left, ...rest } = event as Record<string, unknown>
  return rest
}
const idOf = ({ external_id }: Line) => external_id
const find = (lines: readonly Line[], id: string) => lines.find((one) => one.external_id === id)
/** Retries wait for what must not arrive, which takes five seconds: they run where a variant is about deliveries. */
const DELIVERS =
  /follows|endpoint|deliver|send|retries|event|receiver|address|ping|guest claims|trust|another key for each/
const withoutRetries = [...new Set(contractCases.map(({ group }) => group))].filter(
  (one) => one !== 'retries',
)
const nowhere = { isReachable: false, timeouts: { eventMs: 200 } }

/** Each chooses otherwise where the specification leaves a choice, and is right. */
const right: Record<string, Variant> = {
  'follows the specification': {},
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
  'refuses every address that does not resolve': {
    changes: { takesUrl: (url) => isHttps(url) && !isLoopback(url) && !url?.includes('.invalid') },
    settings: nowhere,
  },
  'cannot reach the receiver': { changes: { sends: () => false }, settings: nowhere },
  'answers 502 to a ping that does not arrive': {
    changes: { sends: () => false, pingReply: () => ({ status: 502 }) },
    settings: nowhere,
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
  'does not trust the receiver': { changes: { trusts: false } },
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

interface Wrong extends Variant {
  cases: string[]
}

/** Each is wrong in one thing, and fails in the cases about it alone, among those of their groups. */
const wrong: Record<string, Wrong> = {
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
  'sends no request id with registrations': {
    changes: { requestId: (_status, url) => (url === '/v1/webhook-endpoints' ? undefined : randomUUID()) },
    cases: ['requests/id_on_every_answer'],
    groups: ['requests', 'endpoints'],
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
  'lets every key register': { changes: { needsWriteScope: false }, cases: ['access/write_scope'] },
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
  'counts replays in the check': {
    changes: { shown: ({ ref, body, pushes }) => ({ ref, ...body, revision: pushes }) },
    cases: ['checks/replay', 'conflicts/unchanged'],
  },
  'sends an event for each replay': {
    changes: { onReplay: () => ({ events: 1 }) },
    cases: ['deliveries/replay_is_silent'],
  },
  'sends an event for each replay, and everything twice': {
    changes: { onReplay: () => ({ events: 1 }), copies: 2 },
    cases: ['deliveries/replay_is_silent'],
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
    cases: ['checks/matched_by_id'],
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
    cases: ['checks/convergence', 'checks/order'],
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
    cases: ['conflicts/kept', 'conflicts/matched_by_id', 'conflicts/removed'],
  },
  'lets claimed items become cheaper': {
    changes: { conflicts: ({ taken }, next) => [...taken].some((id) => !next.items.map(idOf).includes(id)) },
    cases: ['conflicts/cheaper', 'conflicts/kept'],
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
  'protects items that nobody claimed': {
    changes: {
      conflicts: ({ taken, body }, next) =>
        taken.size > 0 &&
        body.items.some((was) => (find(next.items, was.external_id)?.price_cents ?? 0) < was.price_cents),
    },
    cases: ['conflicts/unclaimed_cheaper', 'conflicts/unclaimed_removed'],
  },
  'answers conflicts with 422': {
    changes: { conflictReply: () => ({ status: 422, json: { error: 'conflict_with_paid_items' } }) },
    cases: ['conflicts/cheaper', 'conflicts/kept', 'conflicts/matched_by_id', 'conflicts/removed'],
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
      },
    },
    cases: ['conflicts/unchanged'],
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
    settings: { receiverUrl: 'https://receiver.example.test' },
    cases: ['endpoints/registered'],
  },
  'has secrets without whsec_': {
    changes: { newSecret: () => `sec_${randomUUID()}` },
    cases: ['endpoints/secret_shown'],
  },
  'shows the secret again': { changes: { hookShown: (hook) => hook }, cases: ['endpoints/secret_once'] },
  'shows the secret in its pings': {
    changes: { pingData: ({ secret }) => ({ secret }) },
    cases: ['endpoints/secret_once'],
  },
  'pings any id': { changes: { takesPing: () => true }, cases: ['endpoints/unknown_endpoint'] },
  'pings no id': { changes: { takesPing: () => false }, cases: ['deliveries/ping'] },
  'says that it pings, and does not': {
    changes: { sends: (type) => type !== 'ping' },
    cases: ['deliveries/ping'],
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
  'has one id for all events': { changes: { newEventId: () => 'e-1' }, cases: ['deliveries/ids_differ'] },
  'sends every event to everybody': { changes: { wants: () => true }, cases: ['deliveries/only_asked_for'] },
  'writes local times': {
    changes: { createdAt: () => '2026-11-21T19:04:05+01:00' },
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
  'never retries': { changes: { waits: [] }, cases: ['retries/schedule'] },
  'doubles its waits': { changes: { waits: [1, 2, 4, 8, 16, 32] }, cases: ['retries/schedule'] },
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

describe.concurrent('a service that chose otherwise passes', { timeout: 180_000 }, () => {
  test.for(Object.entries(right))('%s', async ([name, variant], context) => {
    const groups = DELIVERS.test(name) ? undefined : withoutRetries
    const report = await examine({ groups, ...variant }, context)
    const failed = report.cases.filter(({ verdict }) => verdict === 'failed')
    expect(failed.map(({ group, id, detail }) => `${group}/${id}: ${detail}`)).toEqual([])
    expect(report.ok).toBe(true)
    expect(report.totals.passed).toBeGreaterThan(15)
  })
})

describe.concurrent(
  'a service that is wrong fails in the cases about its mistake',
  { timeout: 180_000 },
  () => {
    test.for(Object.entries(wrong))('%s', async ([, { cases, ...variant }], context) => {
      const groups = [...new Set(cases.map((one) => one.split('/')[0] ?? ''))]
      expect(named(await examine({ groups, ...variant }, context), 'failed')).toEqual(cases)
    })
  },
)
