import { describe, expect, it, onTestFinished } from 'vitest'
import { bundleRoute } from '../../../src/http/sim/bundle.ts'
import { bundleOf, type Bundle } from '../../../src/model/simulator/bundle.ts'
import { createMemoryStore } from '../../../src/store/memory-store.ts'
import { openRequestLog } from '../../support/request-log.ts'
import { check, errorOf, item, openSimulator, totals } from '../../support/simulator.ts'
import { startReceiver } from '../../support/https-receiver.ts'

async function bundleFrom({ call }: Pick<Awaited<ReturnType<typeof openSimulator>>, 'call'>, query = '') {
  const answer = await call(`GET /_sim/bundle${query}`)
  expect(answer.status).toBe(200)
  return { text: answer.text, bundle: bundleOf(answer.json) }
}

describe('GET /_sim/bundle', () => {
  it('returns state, requests, clock, faults and verdict of the same time, valid by the schema', async () => {
    const simulator = await openSimulator({ seed: 7, serviceName: 'Acme' })
    const { client, push } = simulator
    await push('t1')
    await push('t1', { totals: { ...totals(1850), total_cents: 9 } })
    await client.guests.pay('t1')
    await client.faults.set({ seed: 3, faults: [{ on: 'deliveries', drop: 1, times: 4 }] })
    const { bundle } = await bundleFrom(simulator, '?all_closed=true')
    expect(bundle).toMatchObject({
      format: 'tabwire-bundle',
      version: 1,
      node: process.version,
      clock: { frozen: true },
      settings: { service_name: 'Acme', order_by: 'revision', seed: 7 },
      faults: { seed: 3, faults: [{ on: 'deliveries', drop: 1, times: 4, left: 4, happened: {} }] },
      command: null,
    })
    const [report, account, state] = await Promise.all([
      client.report(),
      client.account({ all_closed: true }),
      client.state.get(),
    ])
    expect(bundle.verdict).toEqual({ since: null, all_closed: true, report, account })
    expect(bundle.state).toEqual({ ...state, endpoints: [] })
    expect(report.findings.map(({ code }) => code)).toContain('totals_mismatch')
    const { data } = await client.requests.list({ order: 'asc' })
    expect(bundle.log.requests.map(({ id }) => id)).toEqual(data.map(({ id }) => id))
    // The state after a push is the state before the next one, and is there once.
    expect(bundle.log.requests.map(({ push: note }) => [note?.before, note?.after])).toEqual([
      [null, 0],
      [0, 1],
    ])
  })

  it('limits the report to a time, as /_sim/report does', async () => {
    const simulator = await openSimulator({ seed: 7 })
    await simulator.push('t1', { totals: { ...totals(1850), total_cents: 9 } })
    const { bundle } = await bundleFrom(simulator, '?since=2030-01-01T00:00:00.000Z')
    expect(bundle.verdict).toMatchObject({
      since: '2030-01-01T00:00:00.000Z',
      report: { pushes: 0, findings: [] },
    })
  })

  it('needs a key with the scope simulate, and refuses invalid query parameters', async () => {
    const { call, key } = await openSimulator()
    const reader = await key(['read'])
    expect(errorOf(await call('GET /_sim/bundle', { key: reader })).code).toBe('insufficient_scope')
    expect(errorOf(await call('GET /_sim/bundle', { key: null })).code).toBe('unauthorized')
    expect(errorOf(await call('GET /_sim/bundle?all=1')).code).toBe('invalid_query')
    expect(errorOf(await call('GET /_sim/bundle?all_closed=1')).code).toBe('invalid_query')
  })

  it('has no request that was answered after its records were read', async () => {
    const log = openRequestLog()
    const entry = { method: 'GET', path: '/v1/checks', status: 200, started_at: '', duration_ms: 1 }
    const answer = (id: string) =>
      log.add({ ...entry, id, push: null, request_body: null, response_body: null })
    const { everything } = createMemoryStore()
    let ofRecords: number | undefined
    const parts = {
      log,
      service: {
        onCommit: () => () => {},
        everything() {
          ofRecords = log.save().requests.length
          return everything()
        },
      },
      clockNow: () => ({ now: new Date().toISOString(), frozen: true, offset_ms: 0 }),
      async faultsNow() {
        answer('req_2')
        return { seed: 1, faults: [] }
      },
      program: () => ({}),
      settings: {},
      apiKey: 'key',
    }
    answer('req_1')
    const call = { key: { location_id: 'loc_1' }, query: new URLSearchParams(), header: () => 'Bearer key' }
    const { body } = (await bundleRoute(parts as never).handle(call as never)) as { body: string }
    expect((JSON.parse(body) as Bundle).log.requests).toHaveLength(ofRecords ?? -1)
  })

  it('has state and report of the same time under traffic', { timeout: 20_000 }, async () => {
    const simulator = await openSimulator({ disableAfter: 0 })
    const { client, push } = simulator
    let isOver = false
    const traffic = async (name: string) => {
      for (let number = 0; !isOver; number += 1) {
        await push(`${name}-${number}`)
        await client.guests.pay(`${name}-${number}`)
      }
    }
    const running = Promise.all(['a', 'b', 'c', 'd'].map(traffic))
    for (let times = 0; times < 20; times += 1) {
      const { bundle } = await bundleFrom(simulator)
      const { state, verdict } = bundle
      expect(verdict.account.checks).toHaveLength(state.checks.length)
      expect(verdict.report.pushes).toBe(bundle.log.pushes)
    }
    isOver = true
    await running
  })
})

/** Every notation in which a text can have a secret. */
function notationsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Within other text, the characters at both ends of the base64 differ.
  const within = [0, 1, 2].flatMap((before) =>
    (['base64', 'base64url'] as const).map((form) =>
      Buffer.concat([Buffer.alloc(before, 'x'), bytes, Buffer.from('yy')])
        .toString(form)
        .slice(before + 1, before + Math.floor((bytes.length * 8) / 6) - 1),
    ),
  )
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    ...new Set([
      secret,
      json,
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(secret),
      new URLSearchParams({ '': secret }).toString().slice(1),
      bytes.toString('hex'),
      ...within,
    ]),
  ]
}

describe('a bundle has no secret', () => {
  it('of keys, endpoints, signatures, guests and URLs, in any notation', async () => {
    const receiver = await startReceiver({
      answer: (response, { headers, url }) => {
        const basic = Buffer.from(`shop:${apiKey}`).toString('base64')
        const text = `{"you sent":${JSON.stringify(headers)},"to":"${url}","auth":"Basic ${basic}"}`
        response.writeHead(500, { 'X-Echo': text }).end(text)
      },
    })
    onTestFinished(() => receiver.close())
    const apiKey = 'shop/key+with"quotes"&more=1'
    const simulator = await openSimulator({ apiKey, allowHttpLoopback: true })
    const { client, call, push, idle } = simulator
    const [token, path, short] = ['pa55+word/"x"&é', 'T0KEN4hooks8XyZ1234567', 'abc']
    const query = `?token=${encodeURIComponent(token)}&shop=${short}`
    const url = `${receiver.url}hooks/${path}${query}`
    const { signing_secret } = await client.endpoints.create({ url })
    const other = await client.keys.create({ name: 'second' })
    const typed = `${receiver.url.replace('//', '//user:hunter2hunter2@')}x?api_key=query0123456789secret`
    await call('POST /v1/webhook-endpoints', { json: { url: typed } })
    await call('POST /v1/webhook-endpoints', {
      body: `{"url":${JSON.stringify(url).replaceAll('/', '\\/')}}`,
    })
    const note = `${apiKey} ${other.api_key} ${signing_secret} ${Buffer.from(signing_secret).toString('base64')}`
    await push('t1', { items: [item('burger', { note })] })
    await call(`GET /v1/checks?key=${encodeURIComponent(apiKey)}`)
    await call('GET /v1/checks', { key: 'wrong-key-0123456789' })
    const table = await client.tables.address('12')
    const guestId = 'guest-of-table-12-0123456789'
    await fetch(`${table.url}/claims`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-guest-id': guestId },
      body: JSON.stringify({ external_check_id: 't1', items: [{ external_id: 'burger', quantity: 1 }] }),
    })
    await idle()
    const state = await client.state.get()
    const guest = state.claims[0]?.guest_hash ?? ''
    expect(guest).toMatch(/^[0-9a-f]{64}$/)
    const sent = receiver.requests.map(({ headers }) => String(headers['x-service-signature']))
    expect(sent.length).toBeGreaterThan(0)
    const { text, bundle } = await bundleFrom(simulator)
    const secrets = [
      apiKey,
      other.api_key,
      signing_secret,
      token,
      path,
      guest,
      guestId,
      'hunter2hunter2',
      'query0123456789secret',
      'wrong-key-0123456789',
      table.url.split('/').at(-1) ?? '',
      ...state.endpoints.map((endpoint) => endpoint.signing_secret),
      ...sent.map((header) => header.replace(/.*v1=/, '')),
    ]
    for (const secret of secrets)
      for (const notation of notationsOf(secret)) expect(text).not.toContain(notation)
    expect(text).not.toContain(`shop=${short}`)
    // The same secret is the same text everywhere.
    const [endpoint] = bundle.state.endpoints
    expect(endpoint?.signing_secret).toMatch(/^whsec_replaced_\d+$/)
    expect(bundle.state.deliveries.every(({ endpoint_url }) => endpoint_url === endpoint?.url)).toBe(true)
    expect(bundle.state.checks[0]?.items[0]?.note).toMatch(
      new RegExp(
        `^twk_replaced_1 twk_replaced_2 ${endpoint?.signing_secret} ${endpoint?.signing_secret}\\S{0,3}$`,
      ),
    )
    const registered = bundle.log.requests.filter(({ method }) => method === 'POST')
    expect(registered.map(({ request_body }) => request_body ?? '').join('\n')).toContain(endpoint?.url)
  })

  it('of responses, and keeps the names of headers', async () => {
    const login = 'https://login.example/?tenant=bistro&code=c0de-0123456789'
    const receiver = await startReceiver({
      answer: (response) => {
        const headers = {
          'Set-Cookie': ['sid=s3ss10n; Path=/; HttpOnly', 'theme=dark', 'bare'],
          'X-Api-Key': 'k3y',
          Authorization: 'Digest 0123456789abcdef',
          'X-Empty-Token': '',
          Location: login,
          'Retry-After': '30',
        }
        response.sendDate = false
        response.writeHead(302, headers).end('expected whsec_AbCdEfGhIj+KlMn/OpQrSt==')
      },
    })
    onTestFinished(() => receiver.close())
    const simulator = await openSimulator({ allowHttpLoopback: true })
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('t1')
    await simulator.push('t2')
    await simulator.idle()
    const { text, bundle } = await bundleFrom(simulator)
    expect(text).not.toMatch(/s3ss10n|k3y|0123456789|theme=dark|bare/)
    const [one, other] = bundle.state.deliveries.map(({ attempts }) => attempts[0])
    expect(one?.response_body).toMatch(/^expected whsec_replaced_\d+$/)
    expect(other?.response_headers).toEqual(one?.response_headers)
    const url = expect.stringMatching(
      /^https:\/\/login\.example\/\?tenant=\w+_replaced_\d+&code=\w+_replaced_\d+$/,
    ) as string
    const secret = expect.stringMatching(/^credential_replaced_\d+$/) as string
    expect(one?.response_headers?.slice(0, 8)).toEqual([
      {
        name: 'Set-Cookie',
        value: expect.stringMatching(/^sid=credential_replaced_\d+; Path=\/; HttpOnly$/) as string,
      },
      { name: 'Set-Cookie', value: expect.stringMatching(/^theme=credential_replaced_\d+$/) as string },
      { name: 'Set-Cookie', value: secret },
      { name: 'X-Api-Key', value: secret },
      { name: 'Authorization', value: secret },
      { name: 'X-Empty-Token', value: '' },
      { name: 'Location', value: url },
      { name: 'Retry-After', value: '30' },
    ])
    const target = one?.response_headers?.find(({ name }) => name === 'Location')?.value ?? ''
    expect(one?.error).toBe(
      `The receiver redirected (302) to ${target}. Redirects are not followed. Use that URL instead.`,
    )
  })

  it('and keeps texts that are not secret', async () => {
    const simulator = await openSimulator({ allowHttpLoopback: true })
    const { client, push } = simulator
    await client.endpoints.create({ url: 'http://127.0.0.1:9/webhooks/orders?tenant=bistro-berlin&page=1' })
    const names = [
      'Basic Margherita',
      'Bearer Lager',
      'v1=soup',
      'bistro-berlin special',
      'twk',
      'Key lime pie',
    ]
    await push('bistro-berlin-1', { items: names.map((name) => item(name, { name })) })
    const { bundle } = await bundleFrom(simulator)
    const state = await client.state.get()
    expect(bundle.state.checks).toEqual(state.checks)
    expect(bundle.state.events).toEqual(state.events)
    expect(bundle.state.endpoints[0]?.url).toBe(
      'http://127.0.0.1:9/webhooks/orders?tenant=url_replaced_1&page=url_replaced_2',
    )
  })

  it('of a thousand endpoints', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    const state = await client.state.get()
    const [location_id = ''] = state.locations.map(({ id }) => id)
    const endpoints = Array.from({ length: 1_000 }, (_, number): Bundle['state']['endpoints'][number] => ({
      id: `we_${String(number).padStart(26, '0')}`,
      location_id,
      url: `https://receiver.example/hooks?token=${number}-0123456789abcdef`,
      event_types: ['check.closed'],
      status: 'disabled',
      disabled_at: state.clock.now,
      disabled_reason: 'test',
      created_at: state.clock.now,
      signing_secret: `whsec_${String(number).padStart(43, 'x')}`,
      consecutive_failures: 0,
    }))
    const checks = Array.from({ length: 300 }, (_, number) => check({ table: { number: String(number) } }))
    await client.state.put({ ...state, endpoints })
    for (const [number, body] of checks.entries()) await client.checks.push(`t-${number}`, body)
    const { text } = await bundleFrom(simulator)
    expect(text).not.toMatch(/whsec_x|abcdef/)
    expect(text.match(/"whsec_replaced_\d+"/g)).toHaveLength(1_000)
  })
})
