import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type RequestLog } from '../../../src/http/request-log/log.ts'
import { withoutSecrets } from '../../../src/http/redact.ts'
import { openRequestLog, requestEntry } from '../../support/request-log.ts'
import type { RequestEntry } from '../../../src/http/request-context.ts'
import type { Check } from '../../../src/model/check.ts'
import { paginate } from '../../../src/client/reads.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  check,
  item,
  openSimulator,
  openStream,
  rawHeaders,
  totals,
  type Answer,
  type CallOptions,
  type TestSimulator,
} from '../../support/simulator.ts'

const logOf = ({ client }: TestSimulator, { headers }: Answer) =>
  client.requests.get(headers.get('x-request-id') ?? '')

describe('the states of a check that identify a late retry', () => {
  const state = (number: number) => check({ table: { number: String(number) } })
  const stored = (number: number, name = 'a') =>
    ({ ...state(number), location_id: 'loc_1', external_id: name, revision: null }) as unknown as Check

  it('are its last twenty, without the current one', () => {
    const log = openRequestLog()
    for (let number = 1; number <= 20; number++) log.applied(stored(number))
    const repeats = (number: number) => log.repeatsEarlier(stored(20), state(number))
    expect([1, 2, 19, 20].map(repeats)).toEqual([true, true, true, false])
    log.applied(stored(21))
    expect([1, 2, 20, 21].map(repeats)).toEqual([false, true, true, false])
  })

  it('are kept for the thousand checks that changed last', () => {
    const log = openRequestLog()
    const change = (name: string) => [1, 2].forEach((number) => log.applied(stored(number, name)))
    const repeats = (name: string) => log.repeatsEarlier(stored(2, name), state(1))
    for (let number = 0; number < 1_000; number++) change(`check-${number}`)
    expect(repeats('check-0')).toBe(true)
    change('one more')
    expect([repeats('check-0'), repeats('check-1'), repeats('one more')]).toEqual([false, true, true])
  })
})

const entryOf = (letter: string): RequestEntry =>
  requestEntry({ id: `req_${letter.toUpperCase().padStart(26, '0')}`, path: `/v1/${letter}` })

describe('the log of requests', () => {
  it('has method, path, status, time and bodies, newest first, but no calls of /_sim', async () => {
    const simulator = await openSimulator({ clock: createManualClock() })
    const push = await simulator.push('a')
    await simulator.client.events.list()
    await simulator.call('GET /v1/checks?limit=x')
    const { json } = await simulator.call('GET /_sim/requests')
    const { data } = json as { data: object[] }
    expect(Object.keys(data[0] ?? {}).join()).toBe(
      'id,method,path,status,started_at,duration_ms,location_id,push,request_body,response_body',
    )
    expect(data).toMatchObject([
      { method: 'GET', path: '/v1/checks?limit=x', status: 400, push: null, request_body: null },
      {
        id: push.headers.get('x-request-id'),
        method: 'PUT',
        path: '/v1/checks/external/a',
        status: 201,
        started_at: '2026-11-21T18:00:00.000Z',
        request_body: JSON.stringify(check()),
        response_body: push.text,
      },
    ])
  })

  it('contains no key, neither the caller’s nor a created one', async () => {
    const simulator = await openSimulator()
    const key = await simulator.key(['read'])
    await simulator.call('GET /v1/locations', { key })
    const { text } = await simulator.call('GET /_sim/requests')
    expect(text).toContain('/v1/locations')
    expect(text).not.toMatch(/twk_|[Bb]earer/)
  })

  describe('contains no secret that was sent in the wrong place, nor do its details and the stream:', () => {
    const key = 'twk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
    const secret = `whsec_${'b'.repeat(43)}`
    const register = (url: unknown) => ({
      json: { url, event_types: ['check.created'] },
    })

    it.each<[string, string, CallOptions, string[], string]>([
      [
        'a key by its name',
        'GET /v1/locations?api_key=ci-key-4711',
        {},
        ['ci-key-4711'],
        '/v1/locations?api_key=…',
      ],
      [
        'one whose name is encoded',
        'GET /v1/checks?api%5Fkey=ci-key-4711',
        {},
        ['ci-key-4711'],
        'api%5Fkey=…',
      ],
      [
        'one among others',
        'GET /v1/checks?limit=5&token=ci-key-4711&table=1',
        {},
        ['ci-key-4711'],
        '?limit=5&token=…&table=1',
      ],
      ['a key by its look', `GET /v1/checks?q=${key}`, {}, [key], '/v1/checks?q=…'],
      [
        'one that is encoded',
        `GET /v1/checks?q=${key.replace('_', '%5F')}`,
        {},
        [key.slice(4)],
        '/v1/checks?q=…',
      ],
      ['one without a name', `GET /v1/checks?${key}`, {}, [key], '/v1/checks?twk_…'],
      ['a whole header', 'GET /v1/checks?h=Bearer%20ci-key-4711', {}, ['ci-key-4711'], '/v1/checks?h=…'],
      ['one in the path', `GET /v1/${key}`, {}, [key], '/v1/twk_…'],
      [
        'a password',
        'POST /v1/webhook-endpoints',
        register('https://mia:s3cret-pass@shop.example/'),
        ['mia', 's3cret-pass'],
        'https://…@shop.example/',
      ],
      [
        'one of an address that is none',
        'POST /v1/webhook-endpoints',
        register('https://mia:s3cr/et#pass@shop'),
        ['mia', 's3cr', 'pass'],
        'https://…@shop',
      ],
      [
        'one without a scheme',
        'POST /v1/webhook-endpoints',
        register('mia:s3cret-pass@shop.example'),
        ['s3cret-pass'],
        '…@shop.example',
      ],
      [
        'one behind backslashes',
        'POST /v1/webhook-endpoints',
        register('https:\\\\mia:s3cret-pass@shop.example'),
        ['s3cret-pass'],
        '…@shop.example',
      ],
      [
        'one that JSON writes otherwise',
        'POST /v1/webhook-endpoints',
        { body: '{"url":"https://mia:s3cret\\u002dpass\\u0040shop.example/"}' },
        ['s3cret', 'pass'],
        'https://…@shop.example/',
      ],
      [
        'one in a list',
        'POST /v1/webhook-endpoints',
        register(['https://mia:s3cret-pass@shop.example/']),
        ['s3cret-pass'],
        'https://…@shop.example/',
      ],
      [
        'one in a form',
        'POST /v1/webhook-endpoints',
        {
          body: 'events=all&\nurl=https://mia:s3cret-pass@shop.example',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        },
        ['mia', 's3cret-pass'],
        '…@shop.example',
      ],
      [
        'one in JSON that is nested too deeply',
        'POST /v1/webhook-endpoints',
        { body: `${'['.repeat(50_000)}"https://mia:s3cret-pass@shop.example"${']'.repeat(50_000)}` },
        ['mia', 's3cret-pass'],
        '…@shop.example',
      ],
      [
        'a signing secret of a registration',
        'POST /v1/webhook-endpoints',
        { json: { url: 'https://127.0.0.1:9/', event_types: ['check.created'], signing_secret: secret } },
        [secret],
        'whsec_…',
      ],
      [
        'one in base64',
        'POST /v1/webhook-endpoints',
        { json: { url: 'https://127.0.0.1:9/', signing_secret: 'whsec_ab+cd/456789==' } },
        ['ab+cd', '456789'],
        '"whsec_…\\"',
      ],
    ])('%s', async (_what, route, options, secrets, shown) => {
      const simulator = await openSimulator()
      const stream = await openStream(simulator)
      const answer = await simulator.call(route, options)
      const id = answer.headers.get('x-request-id') ?? ''
      const texts = [
        (await simulator.call('GET /_sim/requests')).text,
        (await simulator.call(`GET /_sim/requests/${id}`)).text,
        JSON.stringify((await stream.take(1))[0]),
        JSON.stringify(await simulator.client.requests.list({ q: route.split(' ')[1] ?? '' })),
      ]
      for (const text of texts) for (const hidden of secrets) expect(text).not.toContain(hidden)
      expect(JSON.parse(texts[1] ?? '')).toEqual(expect.objectContaining({ id, status: answer.status }))
      expect(texts[1]).toContain(shown)
    })

    it('other text is unchanged', async () => {
      const simulator = await openSimulator()
      const url = 'http://shop.example/@mia?to=a@b'
      await simulator.call('POST /v1/webhook-endpoints', register(url))
      await simulator.push('mia@shop', { items: [item('a@b', { note: 'https://mia:pass@shop.example/' })] })
      await simulator.call('GET /v1/checks?table=12&limit=5')
      const { data } = await simulator.client.requests.list()
      expect(data[2]?.request_body).toContain(url)
      expect(data[1]?.request_body).toContain('https://mia:pass@shop.example/')
      expect(data[0]?.path).toBe('/v1/checks?table=12&limit=5')
    })
  })

  it.each<[what: string, sent: Partial<RequestEntry>, logged: Partial<RequestEntry>]>([
    ['a name in capitals', { path: '/v1/checks?API_KEY=a' }, { path: '/v1/checks?API_KEY=…' }],
    ['a header in lower case', { path: '/v1/checks?h=bearer%20a' }, { path: '/v1/checks?h=…' }],
    ['a header with a plus', { path: '/v1/checks?h=Bearer+a' }, { path: '/v1/checks?h=…' }],
    [
      'the token of a table',
      { path: '/t/12/token-of-12?view=pay', response_body: 'No such path: /t/12/token-of-12' },
      { path: '/t/12/…?view=pay', response_body: 'No such path: /t/12/…' },
    ],
    ['that of a whole URL', { path: 'HTTP://LOCALHOST/t/12/a' }, { path: 'HTTP://LOCALHOST/t/12/…' }],
    [
      'a key in a response',
      { response_body: '{"key":"twk_0123456789"}' },
      { response_body: '{"key":"twk_…"}' },
    ],
    [
      'a key in text that is not JSON',
      { path: '/v1/checks?token=key-4711', request_body: 'key-4711 = 12' },
      { path: '/v1/checks?token=…', request_body: '… = 12' },
    ],
    ...(
      [
        ['a name and a password behind a tab', 'https:/\t/mia:s3cret-pass@shop/', 'https:/…@shop/'],
        ['a password without a name behind a tab', 'https:/\t/:s3cret-pass@shop/', 'https:/…@shop/'],
        ['one behind a line break', 'https://m\nia:s3cret-pass@shop/', 'https://…@shop/'],
        ['one of an unknown scheme', 'git+ssh:/mia:s3cret-pass@shop/', 'git+ssh:/…@shop/'],
      ] as const
    ).map(([what, url, shown]): [string, Partial<RequestEntry>, Partial<RequestEntry>] => [
      what,
      {
        method: 'POST',
        path: '/v1/webhook-endpoints',
        status: 422,
        request_body: JSON.stringify({ url }),
        response_body: 'The password s3cret-pass is refused.',
      },
      { request_body: JSON.stringify({ url: shown }), response_body: 'The password … is refused.' },
    ]),
  ])('hides %s', (_what, sent, logged) => {
    const entry = requestEntry({ id: 'req_1', ...sent })
    expect(withoutSecrets(entry)).toEqual({ ...entry, ...logged })
  })

  it('keeps addresses outside registrations, and short texts that a secret of the query equals', () => {
    const entry = requestEntry({
      id: 'req_1',
      method: 'POST',
      path: '/_sim/guests?token=',
      status: 422,
      request_body: '{"note":"https://mia:pw@shop/"}',
    })
    expect(withoutSecrets(entry)).toBe(entry)
    const short = { ...entry, path: '/v1/checks?token=note' }
    expect(withoutSecrets(short)).toEqual({ ...entry, path: '/v1/checks?token=…' })
  })

  it('is readable when a key in the query is also a field of the body', async () => {
    const simulator = await openSimulator()
    const pushed = await simulator.call('PUT /v1/checks/external/a?token=quantity', { json: check() })
    expect(pushed.status).toBe(201)
    const [entry] = (await simulator.client.requests.list()).data
    expect(entry?.request_body).not.toContain('quantity')
    expect(entry?.push).toMatchObject({ outcome: 'created', diff: null })
  })

  it('keeps bodies as JSON when secrets of the query are hidden in them', async () => {
    const simulator = await openSimulator()
    const secrets = ['"message":', 'say "hello"', '00e9cafe', '12345678']
    const query = secrets.map((secret) => `token=${encodeURIComponent(secret)}`).join('&')
    const body = String.raw`{ "table": {}, "note": "say \"hello\"", "id": "\u00e9cafe é", "pin": 12345678, "cents": 1850.0 }`
    expect(await simulator.call(`PUT /v1/checks/external/a?${query}`, { body })).toMatchObject({
      status: 422,
    })
    const [entry] = (await simulator.client.requests.list()).data
    expect(entry?.request_body).toBe(
      String.raw`{ "table": {}, "note": "…", "id": "\u00e9cafe é", "pin": "…", "cents": 1850.0 }`,
    )
    expect(JSON.parse(entry?.response_body ?? '')).toMatchObject({ error: { code: 'validation_failed' } })
  })

  it('is paged like any list', async () => {
    const simulator = await openSimulator()
    for (const id of ['a', 'b', 'c']) await simulator.push(id)
    const first = (await simulator.call('GET /_sim/requests?limit=2')).json as {
      data: { path: string }[]
      next_cursor: string
    }
    expect(first.data.map(({ path }) => path.at(-1))).toEqual(['c', 'b'])
    const second = (await simulator.call(`GET /_sim/requests?limit=2&cursor=${first.next_cursor}`)).json
    expect(second).toMatchObject({ data: [{ path: '/v1/checks/external/a' }], next_cursor: null })
  })

  it('keeps the newest requests with at most 16 MiB of bodies', () => {
    const log = openRequestLog()
    const mebibyte = 'x'.repeat(2 ** 20)
    const kept = () => log.list({ limit: 100 }).data.map(({ path }) => path)
    const add = (path: string, request_body: string | null) =>
      log.add({ ...entryOf('a'), path, request_body })
    for (let number = 1; number <= 40; number++) add(`/v1/${number}`, mebibyte)
    expect(kept()).toEqual(Array.from({ length: 16 }, (_, index) => `/v1/${40 - index}`))
    add('/v1/empty', null)
    expect(kept()).toHaveLength(17)
    add('/v1/short', 'x')
    expect(kept()).toHaveLength(17)
    expect(kept().at(-1)).toBe('/v1/26')
  })

  describe('paged by its cursor while responses overtake each other', () => {
    /** Sends twelve requests; every third is answered after the next two. Ids follow the order of starts. */
    const answered = ['b', 'c', 'a', 'e', 'f', 'd', 'h', 'i', 'g', 'k', 'l', 'j']
    const logWith = (letters: readonly string[]) => {
      const log = openRequestLog()
      for (const letter of letters) log.add(entryOf(letter))
      return log
    }

    /** The pages' letters; `between` happens after each page. */
    function walk(log: RequestLog, order: 'asc' | 'desc', limit: number, between = () => {}): string[] {
      const seen: string[] = []
      for (let after: string | undefined, more = true; more; between()) {
        const page = log.list({ order, after, limit })
        seen.push(...page.data.map(({ path }) => path.slice(-1)))
        after = page.data.at(-1)?.id ?? after
        more = page.more
      }
      return seen
    }

    it.each([1, 2, 3, 5, 12])('in pages of %i, has each request once, in order of responses', (limit) => {
      expect(walk(logWith(answered), 'asc', limit)).toEqual(answered)
      expect(walk(logWith(answered), 'desc', limit)).toEqual(answered.toReversed())
    })

    it.each<[order: 'asc' | 'desc', expected: string[]]>([
      ['asc', answered],
      ['desc', answered.slice(0, 6).toReversed()],
    ])('in the order %s, has requests answered meanwhile only at its end', (order, expected) => {
      const log = logWith(answered.slice(0, 6))
      const later = answered.slice(6)
      const answerAll = () => later.splice(0).forEach((letter) => log.add(entryOf(letter)))
      expect(walk(log, order, 2, answerAll)).toEqual(expected)
    })

    it('continues at the oldest kept request when its position was dropped, or ends there', () => {
      const log = logWith(Array.from({ length: 1_000 }, () => 'x'))
      const forgotten = entryOf('f').id
      expect(log.list({ order: 'asc', after: forgotten, limit: 1 })).toMatchObject({
        data: [{ path: '/v1/x' }],
        more: true,
      })
      expect(log.list({ order: 'desc', after: forgotten, limit: 1 })).toEqual({ data: [], more: false })
    })

    it('loses no request over HTTP', async () => {
      const simulator = await openSimulator()
      const body = JSON.stringify(check())
      const socket = connect(simulator.port, '127.0.0.1')
      const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`
      socket.write(`PUT /v1/checks/external/slow HTTP/1.1\r\n${rawHeaders(simulator)}${more}\r\n`)
      await once(socket, 'data') // It has been begun, and has its id.
      for (const id of ['a', 'b', 'c']) await simulator.push(id)
      socket.write(body)
      await text(socket)
      const paths: string[] = []
      for await (const { path } of paginate((query) =>
        simulator.client.requests.list({ ...query, limit: 1 }),
      ))
        paths.push(path.slice('/v1/checks/external/'.length))
      expect(paths).toEqual(['slow', 'c', 'b', 'a'])
    })
  })

  it('has the outcome of each push, with the diff of its items', async () => {
    const simulator = await openSimulator()
    const first = check({ revision: 1, items: [item('a'), item('b'), item('c')], totals: totals(5550) })
    const { revision: _revision, ...b } = { ...item('b', { quantity: 2, note: 'rare' }), revision: 0 }
    const second = check({ revision: 2, items: [item('a'), b, item('d')], totals: totals(7400) })
    const notes = []
    for (const push of [first, second, second, first])
      notes.push((await logOf(simulator, await simulator.push('x', push))).push)
    expect(notes).toEqual([
      {
        external_check_id: 'x',
        outcome: 'created',
        diff: { added: first.items, removed: [], changed: [], unchanged: 0 },
        findings: [],
      },
      {
        external_check_id: 'x',
        outcome: 'updated',
        diff: {
          added: [item('d')],
          removed: [item('c')],
          changed: [
            {
              external_id: 'b',
              name: 'A b',
              changes: [
                { field: 'quantity', from: 1, to: 2 },
                { field: 'note', from: null, to: 'rare' },
              ],
            },
          ],
          unchanged: 1,
        },
        findings: expect.any(Array) as unknown[],
        changes: [
          { field: 'totals.subtotal_cents', from: 5550, to: 7400 },
          { field: 'totals.total_cents', from: 5550, to: 7400 },
        ],
      },
      { external_check_id: 'x', outcome: 'unchanged', diff: null, findings: [] },
      { external_check_id: 'x', outcome: 'stale', diff: null, findings: [] },
    ])
  })
})
