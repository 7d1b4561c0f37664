import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptMessage } from '../../src/client.ts'
import { createSimulator } from '../../src/index.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { isSoak, sampled } from '../soak/seeded.ts'
import {
  checkBody,
  emptyDirectory,
  spawnTabwire,
  serve,
  startService,
  tabwire,
  type Running,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { expectMode } from '../support/file-mode.ts'

let app: Receiver
beforeAll(async () => {
  app = await startReceiver()
})
afterAll(() => app.close())

interface Ready {
  type: 'ready'
  signing_secret: string
  forward: { endpoint_id: string; url: string; to: string; event_types: string[] }[]
}

const push = (service: RunningService, id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))

const endpoints = async (service: RunningService) =>
  (await service.json<{ data: WebhookEndpointView[] }>('endpoints', 'list')).data

/** A `listen --json` that is ready. */
async function listen(service: RunningService, ...args: string[]): Promise<Running & { ready: Ready }> {
  const running = await spawnTabwire(['listen', '--json', ...args], { cwd: service.cwd })
  const [line = ''] = (await running.until('stdout', /\n/)).split('\n')
  return { ...running, ready: JSON.parse(line) as Ready }
}

async function interrupt({ child, ended }: Running, signal: NodeJS.Signals = 'SIGINT') {
  child.kill(signal)
  return ended
}

/** The attempts told so far, or those once there are `n`. */
async function attempts(running: Running, n: number): Promise<(AttemptMessage & { to: string })[]> {
  const text = await running.until('stdout', new RegExp(`^(?:[^]*?"type":"attempt"){${n}}[^]*\n$`))
  const lines = text.trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line) as AttemptMessage & { to: string; type: string })
    .filter(({ type }) => type === 'attempt')
}

describe('tabwire listen', () => {
  test('forwards the exact bytes and headers, so that the stripe package verifies every delivery', async () => {
    const receiver = await startReceiver()
    const service = await serve()
    const listening = await listen(service, '--forward-to', `${receiver.url}hooks?a=1`, '-H', 'x-tenant: one')
    const items = [{ external_id: 'ü', name: '寿司 🍣 "\\u0041"', quantity: 1, price_cents: 1850 }]
    for (const id of ['a', 'b', 'c']) await push(service, id, { items })
    await push(service, 'a', { items, status: 'closed' })
    const requests = await receiver.received(4)
    const { webhooks } = new Stripe('sk_test_unused')
    for (const { method, url, headers, rawHeaders, body } of requests) {
      expect([method, url]).toEqual(['POST', '/hooks?a=1'])
      const header = String(headers['x-service-signature'])
      expect(webhooks.constructEvent(body, header, listening.ready.signing_secret).type).toMatch(/^check\./)
      expect(rawHeaders).toEqual(
        expect.arrayContaining(['X-Service-Signature', 'Content-Type', 'x-tenant', 'one']),
      )
      expect(headers).toMatchObject({
        host: `127.0.0.1:${receiver.port}`,
        'user-agent': 'Service-Webhooks/1.0',
      })
    }
    const { body, headers } = requests[0] ?? {}
    expect(() =>
      webhooks.constructEvent(
        `${String(body)} `,
        String(headers?.['x-service-signature']),
        listening.ready.signing_secret,
      ),
    ).toThrow()
    expect((await attempts(listening, 4)).map(({ attempt }) => attempt.response_status)).toEqual([
      200, 200, 200, 200,
    ])
    await interrupt(listening)
    await service.stop()
    await receiver.close()
  })

  test('shows a 500 as a failed attempt with its body, as deliveries show does', async () => {
    const answer = 'Boom: no table 12\n  at line 2'
    const receiver = await startReceiver({ answer: (response) => void response.writeHead(500).end(answer) })
    const service = await serve()
    const listening = await spawnTabwire(['listen', '--forward-to', receiver.url], { cwd: service.cwd })
    const banner = await listening.until('stderr', /remove the endpoint/)
    expect(banner).toMatch(
      /^Listening\.\n\nforward {2}all events → http:\/\/127\.0\.0\.1:\d+\/ {2}we_\w{26}\nsecret {3}whsec_\S{43}\n/,
    )
    await push(service, 'dinner')
    const shown = await listening.until('stdout', /line 2\n/)
    expect(shown).toMatch(
      /^✗ \d\d:\d\d:\d\d {2}check\.created {2}dinner {2}500 {2}\d+ ms {2}attempt 1 {2}dlv_\w{26}\n {4}The receiver returned 500\. .*\n {4}│ Boom: no table 12\n {4}│ {3}at line 2\n$/,
    )
    const id = /dlv_\w{26}/.exec(shown)?.[0] ?? ''
    const { attempts: made } = await service.json<Delivery>('deliveries', 'show', id)
    expect(made).toMatchObject([{ outcome: 'bad_status', response_status: 500, response_body: answer }])
    expect((await service.run(['deliveries', 'show', id])).stdout).toContain(
      'response: Boom: no table 12 at line 2',
    )
    await interrupt(listening)
    await service.stop()
    await receiver.close()
  })

  test('names the receiver that does not answer, not its own port', async () => {
    const receiver = await startReceiver({ answer: 'hang' })
    await using simulator = await createSimulator({ insecure: true, deliveryTimes: { timeoutMs: 500 } })
    const { url, apiKey } = simulator
    const args = ['--url', url, '--api-key', apiKey, '--no-relay', '--forward-to', receiver.url]
    const listening = await spawnTabwire(['listen', ...args], { cwd: await emptyDirectory() })
    await listening.until('stderr', /remove the endpoint/)
    await simulator.checks.push('dinner', JSON.stringify(checkBody()))
    expect(await listening.until('stdout', /process the event/)).toContain(
      `\n    127.0.0.1:${receiver.port} did not respond within 0.5 s.`,
    )
    await interrupt(listening)
    await receiver.close()
  })

  test.runIf(isSoak)('answers 502 when the receiver is not running, and says so', async () => {
    const receiver = await startReceiver()
    await receiver.close()
    const service = await serve()
    const listening = await listen(service, '--forward-to', receiver.url)
    await push(service, 'a')
    const [failed] = await attempts(listening, 1)
    expect(failed?.attempt).toMatchObject({ outcome: 'bad_status', response_status: 502 })
    expect(failed?.attempt.response_body).toBe(
      `tabwire listen: http://127.0.0.1:${receiver.port} did not answer (ECONNREFUSED): no program listens there. Start the receiver, or correct --forward-to.\n`,
    )
    await interrupt(listening)
    await service.stop()
  })

  test.skipIf(process.platform === 'win32').each(sampled(['SIGINT', 'SIGTERM'] as const, 2))(
    'removes its endpoint after %s, and exits with 130',
    async (signal) => {
      const service = await serve()
      const listening = await listen(service, '--forward-to', app.url)
      expect(await endpoints(service)).toMatchObject([
        { id: listening.ready.forward[0]?.endpoint_id, status: 'enabled' },
      ])
      expect(await interrupt(listening, signal)).toMatchObject({ code: 130, stderr: '' })
      expect(await endpoints(service)).toEqual([])
      expect((await readdir(join(service.cwd, '.tabwire', 'listen'))).sort()).toEqual([
        '.gitignore',
        'secret',
      ])
      await service.stop()
    },
  )

  test.skipIf(process.platform === 'win32')(
    'removes the endpoint of a killed run, and keeps the endpoint of a running one',
    async () => {
      const service = await serve()
      const [killed, alive] = [
        await listen(service, '--forward-to', app.url),
        await listen(service, '--forward-to', app.url),
      ]
      await interrupt(killed, 'SIGKILL')
      expect(await endpoints(service)).toHaveLength(2)
      const folder = join(service.cwd, '.tabwire', 'listen')
      for (const name of await readdir(folder))
        if (name !== '.gitignore') await expectMode(join(folder, name), 0o600)
      const next = await listen(service, '--forward-to', app.url)
      expect(await next.until('stderr', /\n/)).toBe('Removed 1 endpoint of a killed `tabwire listen`.\n')
      const ids = (await endpoints(service)).map(({ id }) => id)
      expect(ids.sort()).toEqual([alive, next].map(({ ready }) => ready.forward[0]?.endpoint_id ?? '').sort())
      await Promise.all([interrupt(alive), interrupt(next)])
      expect(await endpoints(service)).toEqual([])
      await service.stop()
    },
  )

  test.runIf(isSoak)(
    'keeps its secret across runs in a file that only its owner can read, and --print-secret prints it',
    async () => {
      const service = await serve()
      const first = await listen(service, '--forward-to', app.url)
      await interrupt(first)
      const second = await listen(service, '--forward-to', app.url)
      expect(second.ready.signing_secret).toBe(first.ready.signing_secret)
      const printed = await service.run(['listen', '--print-secret'])
      expect(printed).toMatchObject({ code: 0, stderr: '', stdout: `${first.ready.signing_secret}\n` })
      expect(await (await service.call('GET', '/_sim/requests?limit=100')).text()).not.toContain(
        first.ready.signing_secret,
      )
      await interrupt(second)
      await service.stop()
    },
  )

  test.skipIf(process.platform === 'win32')(
    'reconnects when the service is back, and prints the attempts made meanwhile',
    async () => {
      const receiver = await startReceiver()
      const service = await startService()
      const listening = await listen(service, '--forward-to', receiver.url)
      await service.stop()
      await listening.until('stdout', /"disconnected"/)
      const again = await startService([], { cwd: service.cwd })
      await push(again, 'a')
      const text = await listening.until('stdout', /"reconnected".*\n/)
      const reconnected = text.split('\n').find((line) => line.includes('"reconnected"')) ?? ''
      expect(JSON.parse(reconnected)).toEqual({ type: 'reconnected', forward: listening.ready.forward })
      // Attempts of different checks can end in another order than they began.
      await attempts(listening, 1)
      await push(again, 'b')
      expect((await attempts(listening, 2)).map(({ external_check_id }) => external_check_id)).toEqual([
        'a',
        'b',
      ])
      expect(await endpoints(again)).toMatchObject([{ id: listening.ready.forward[0]?.endpoint_id }])
      await interrupt(listening)
      expect(await endpoints(again)).toEqual([])
      await again.stop()
      await receiver.close()
    },
  )

  test.runIf(isSoak)(
    'registers again, with the same secret, with a service in memory that has forgotten it',
    async () => {
      const receiver = await startReceiver()
      const service = await serve()
      const listening = await listen(service, '--forward-to', receiver.url)
      await service.stop()
      const again = await serve({ cwd: service.cwd })
      await listening.until(
        'stderr',
        /Reconnected to the service\. Registered 1 endpoint again, with the same secret\.\n/,
      )
      await push(again, 'a')
      const [request] = await receiver.received(1)
      const header = String(request?.headers['x-service-signature'])
      const { webhooks } = new Stripe('sk_test_unused')
      expect(
        webhooks.constructEvent(request?.body ?? '', header, listening.ready.signing_secret),
      ).toHaveProperty('type', 'check.created')
      await interrupt(listening)
      await again.stop()
      await receiver.close()
    },
  )

  test.runIf(isSoak)(
    'gives each target of tabwire.config.json an endpoint of its own, and --dotenv the secret',
    async () => {
      const [checks, all] = [await startReceiver(), await startReceiver({ answer: 503 })]
      const service = await serve()
      const forward = [
        { to: `${checks.url}checks`, events: ['check.closed'], headers: { 'X-Tenant': 'one' } },
        { to: `127.0.0.1:${all.port}` },
      ]
      await writeFile(join(service.cwd, 'tabwire.config.json'), JSON.stringify({ listen: { forward } }))
      await writeFile(join(service.cwd, '.env'), 'APP=1\n')
      const listening = await listen(service, '--dotenv', '.env')
      expect(listening.ready).not.toHaveProperty('signing_secret')
      expect(listening.ready.forward.map(({ event_types }) => event_types.length)).toEqual([1, 8])
      const { stdout: secret } = await service.run(['listen', '--print-secret'])
      expect(await readFile(join(service.cwd, '.env'), 'utf8')).toBe(
        `APP=1\nTABWIRE_SIGNING_SECRET=${secret}`,
      )
      await push(service, 'a', { status: 'closed' })
      const told = (await attempts(listening, 3)).map(
        ({ to, event_type, attempt }) => `${event_type} ${to} ${attempt.response_status}`,
      )
      expect(told.sort()).toEqual(
        [
          `check.closed ${all.url} 503`,
          `check.closed ${checks.url}checks 200`,
          `check.created ${all.url} 503`,
        ].sort(),
      )
      expect(checks.requests[0]?.rawHeaders).toContain('X-Tenant')
      await interrupt(listening)
      expect(await endpoints(service)).toEqual([])
      await service.stop()
      await Promise.all([checks.close(), all.close()])
    },
  )

  test.runIf(isSoak)('continues after a reset while one of its targets accepts deliveries', async () => {
    const [good, bad] = [await startReceiver(), await startReceiver({ answer: 500 })]
    const service = await serve({ disableAfter: 1 })
    const forward = [{ to: good.url }, { to: bad.url }]
    await writeFile(join(service.cwd, 'tabwire.config.json'), JSON.stringify({ listen: { forward } }))
    const listening = await listen(service)
    await push(service, 'a')
    await listening.until('stderr', /The service disabled the endpoint/)
    await service.run(['state', 'reset'])
    await listening.until('stdout', /"reset"/)
    await push(service, 'b')
    await listening.until('stderr', /(The service disabled the endpoint[^]*){2}/)
    await push(service, 'c')
    await good.received(3)
    const { code } = await interrupt(listening)
    expect(code).toBe(130)
    await service.stop()
    await Promise.all([good.close(), bad.close()])
  })

  test('exits with 1 when its endpoint is deleted', async () => {
    const service = await serve()
    const listening = await listen(service, '--forward-to', app.url)
    await service.json('endpoints', 'delete', listening.ready.forward[0]?.endpoint_id ?? '')
    await push(service, 'a')
    const { code, stdout } = await listening.ended
    expect(code).toBe(1)
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'endpoint_deleted' },
    })
    await service.stop()
  })

  test.runIf(isSoak)(
    'delivers also after the data directory and its authority were created again',
    async () => {
      const receiver = await startReceiver()
      const service = await startService()
      const listening = await listen(service, '--forward-to', receiver.url)
      await service.stop()
      await listening.until('stdout', /"disconnected"/)
      await rm(join(service.cwd, '.tabwire'), { recursive: true })
      const again = await startService([], { cwd: service.cwd })
      await listening.until('stdout', /"reconnected"/)
      await push(again, 'a')
      await receiver.received(1)
      await interrupt(listening)
      await again.stop()
      await receiver.close()
    },
  )

  test.runIf(isSoak)('exits with 1 and the reason when the service has disabled its endpoint', async () => {
    const receiver = await startReceiver({ answer: 500 })
    const service = await serve({ disableAfter: 1 })
    const listening = await listen(service, '--forward-to', receiver.url)
    await push(service, 'a')
    const { code, stdout } = await listening.ended
    expect(code).toBe(1)
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'endpoint_disabled' },
    })
    expect(await endpoints(service)).toEqual([])
    await service.stop()
    await receiver.close()
  })

  test.runIf(isSoak)(
    'says in the attempt what to do when the service does not trust its authority',
    async () => {
      const service = await serve()
      const elsewhere = await emptyDirectory()
      const connection = ['--url', service.url, '--api-key', service.key]
      const listening = await spawnTabwire(
        ['listen', '--json', '--forward-to', app.url, '--no-relay', ...connection],
        { cwd: elsewhere },
      )
      await listening.until('stdout', /"ready"/)
      await push(service, 'a')
      const [failed] = await attempts(listening, 1)
      expect(failed?.attempt).toMatchObject({ outcome: 'tls_error' })
      expect(failed?.attempt.error).toMatch(
        /issued by Tabwire local authority .* Run both with the same --data-dir, or start the service with --cacert and that authority's ca\.pem/,
      )
      await interrupt(listening)
      await service.stop()
    },
  )

  test('registers and writes nothing with invalid arguments or without a service', async () => {
    const cwd = await emptyDirectory()
    const nowhere = await tabwire(['listen'], { cwd })
    expect(nowhere).toMatchObject({ code: 2, stdout: '' })
    expect(nowhere.stderr).toBe(
      'Error: --forward-to is missing (no tabwire.config.json here). Example: tabwire listen --forward-to http://localhost:3000/webhooks\n',
    )
    expect(await tabwire(['listen', '--forward-to', 'ftp://localhost'], { cwd })).toMatchObject({ code: 2 })
    expect(await tabwire(['listen', '--forward-to', '3000', '-H', 'none'], { cwd })).toMatchObject({
      code: 2,
    })
    const framed = ['listen', '--forward-to', '3000', '-H', 'Content-Length: 3']
    expect(await tabwire(framed, { cwd })).toMatchObject({ code: 2 })
    expect(await readdir(cwd)).toEqual([])
    const refused = await tabwire(['listen', '--forward-to', '3000', '--url', 'http://127.0.0.1:1'], { cwd })
    expect(refused).toMatchObject({ code: 1 })
    expect(await readdir(cwd)).toEqual([])
    await writeFile(join(cwd, '.tabwire'), '')
    for (const command of [
      ['listen', '--print-secret'],
      ['certs', 'create', 'localhost'],
    ])
      expect(await tabwire(command, { cwd })).toMatchObject({
        code: 1,
        stderr:
          'Error: Cannot use .tabwire: it is a file, not a directory. Remove it, or choose another directory with --data-dir.\n',
      })
    await mkdir(join(cwd, 'there'))
    await writeFile(
      join(cwd, 'there', 'c.json'),
      '{"listen": {"forward": [{"to": "a", "event": ["check.closed"]}]}}',
    )
    expect((await tabwire(['listen', '--config', 'there/c.json'], { cwd })).stderr).toBe(
      `Error: there/c.json: listen.forward[0] has an unknown key: "event" (did you mean events?). Known keys are to, events, headers.\n`,
    )
  })
})
