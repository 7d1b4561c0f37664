import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { AttemptMessage } from '../../src/client.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import {
  checkBody,
  emptyDirectory,
  spawnTabwire,
  serve,
  startService,
  type Running,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

interface Ready {
  signing_secret: string
  forward: { endpoint_id: string; url: string; to: string }[]
}

const push = (service: RunningService, id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))

const endpoints = async (service: RunningService) =>
  (await service.json<{ data: WebhookEndpointView[] }>('endpoints', 'list')).data

/** A `listen --json --relay` that is ready, as on another machine: without the data directory of the service. */
async function listen(
  service: RunningService,
  ...args: string[]
): Promise<Running & { ready: Ready; cwd: string }> {
  const cwd = await emptyDirectory()
  const connection = ['--url', service.url, '--api-key', service.key]
  const running = await spawnTabwire(['listen', '--json', '--relay', ...connection, ...args], { cwd })
  const [line = ''] = (await running.until('stdout', /\n/)).split('\n')
  return { ...running, cwd, ready: JSON.parse(line) as Ready }
}

async function interrupt({ child, ended }: Running, signal: NodeJS.Signals = 'SIGINT') {
  child.kill(signal)
  return ended
}

/** The first `n` attempts that were printed. */
async function attempts(running: Running, n: number): Promise<AttemptMessage[]> {
  const text = await running.until('stdout', new RegExp(`^(?:[^]*?"type":"attempt"){${n}}[^]*\n$`))
  const lines = text.trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line) as AttemptMessage & { type: string })
    .filter(({ type }) => type === 'attempt')
}

describe('tabwire listen --relay', () => {
  test.skipIf(process.platform === 'win32')(
    'forwards exact bytes and headers, makes no certificate, and removes the endpoint at the end',
    async () => {
      const receiver = await startReceiver()
      const service = await serve({ denyPrivate: true })
      const listening = await listen(
        service,
        '--forward-to',
        `${receiver.url}hooks?a=1`,
        '-H',
        'x-tenant: one',
      )
      const { ready } = listening
      expect(ready.forward.map(({ url }) => url)).toEqual([
        expect.stringMatching(/^https:\/\/[\da-f]{32}\.listen\.invalid\/1$/),
      ])
      const items = [{ external_id: 'ü', name: '寿司 🍣 "\\u0041"', quantity: 1, price_cents: 1850 }]
      for (const id of ['a', 'b', 'c']) await push(service, id, { items })
      const { webhooks } = new Stripe('sk_test_unused')
      for (const { method, url, headers, rawHeaders, body } of await receiver.received(3)) {
        expect([method, url]).toEqual(['POST', '/hooks?a=1'])
        const header = String(headers['x-service-signature'])
        expect(webhooks.constructEvent(body, header, ready.signing_secret).type).toBe('check.created')
        expect(rawHeaders).toEqual(
          expect.arrayContaining(['X-Service-Signature', 'Content-Type', 'x-tenant']),
        )
        expect(headers).toMatchObject({
          host: `127.0.0.1:${receiver.port}`,
          'user-agent': 'Service-Webhooks/1.0',
          'content-length': String(body.length),
        })
      }
      expect((await attempts(listening, 3)).map(({ attempt }) => attempt.outcome)).toEqual(
        Array.from({ length: 3 }, () => 'succeeded'),
      )
      expect(await readdir(join(listening.cwd, '.tabwire'))).toEqual([
        '.gitignore',
        'installation.json',
        'listen',
      ])
      expect(await endpoints(service)).toHaveLength(1)
      expect(await interrupt(listening)).toMatchObject({ code: 130, stderr: '' })
      expect(await endpoints(service)).toEqual([])
      expect(receiver.requests).toHaveLength(3)
      await service.stop()
      await receiver.close()
    },
  )

  test('is the default for a service on a loopback address that has another data directory', async () => {
    const receiver = await startReceiver()
    const service = await serve()
    const cwd = await emptyDirectory()
    const args = ['--url', service.url, '--api-key', service.key, '--forward-to', receiver.url]
    const running = await spawnTabwire(['listen', '--json', ...args], { cwd })
    expect(await running.until('stdout', /\n/)).toContain('.listen.invalid/1"')
    await push(service, 'a')
    expect((await attempts(running, 1))[0]?.attempt.outcome).toBe('succeeded')
    await interrupt(running)
    await service.stop()
    await receiver.close()
  })

  test('reports responses and failures unchanged, and gets the retries on schedule', async () => {
    const receiver = await startReceiver({
      answer: (response, _received, index) => {
        if (index > 0) return void response.writeHead(204, { 'X-Again': 'yes' }).end()
        response.writeHead(500, { 'X-Mine': 'ä' }).end(`${'é'.repeat(2047)}€€`)
      },
    })
    const service = await serve()
    const listening = await listen(service, '--forward-to', receiver.url)
    await push(service, 'a')
    const [failed] = await attempts(listening, 1)
    expect(failed?.attempt).toMatchObject({
      outcome: 'bad_status',
      response_status: 500,
      // 4,096 bytes, without the part of a character.
      response_body: 'é'.repeat(2047),
    })
    expect(failed?.attempt.response_headers).toContainEqual({ name: 'X-Mine', value: 'ä' })
    await service.run(['clock', 'advance', '1m'])
    const [, retried] = await attempts(listening, 2)
    expect(retried).toMatchObject({ id: failed?.id, status: 'delivered', attempt: { number: 2 } })
    await receiver.close()
    await push(service, 'b')
    const [, , refused] = await attempts(listening, 3)
    expect(refused?.attempt).toMatchObject({
      outcome: 'connection_refused',
      response_status: null,
      error: `tabwire listen: http://127.0.0.1:${receiver.port} did not answer (ECONNREFUSED): no program listens there. Start the receiver, or correct --forward-to.`,
    })
    await interrupt(listening)
    await service.stop()
  })

  test.runIf(isSoak)(
    'registers again after an in-memory service was restarted, and removes the endpoint of a killed run',
    async () => {
      const receiver = await startReceiver()
      const service = await serve()
      const killed = await listen(service, '--forward-to', receiver.url)
      await interrupt(killed, 'SIGKILL')
      expect(await endpoints(service)).toHaveLength(1)
      const args = ['listen', '--relay', '--json', '--forward-to', receiver.url]
      const connection = ['--url', service.url, '--api-key', service.key]
      const next = await spawnTabwire([...args, ...connection], { cwd: killed.cwd })
      await next.until('stdout', /"ready"/)
      expect(await next.until('stderr', /\n/)).toBe('Removed 1 endpoint of a killed `tabwire listen`.\n')
      expect(await endpoints(service)).toHaveLength(1)
      await interrupt(next)
      const local = await spawnTabwire(args, { cwd: service.cwd })
      await local.until('stdout', /"ready"/)
      await service.stop()
      const again = await serve({ cwd: service.cwd })
      await local.until('stderr', /Registered 1 endpoint again, with the same secret\.\n/)
      await push(again, 'a')
      await receiver.received(1)
      await interrupt(local)
      await again.stop()
      await receiver.close()
    },
  )
})

test('an attempt in flight when the service stops is forwarded once, and recorded with its response', async () => {
  let answer = () => {}
  const receiver = await startReceiver({
    answer: (response) => void (answer = () => response.writeHead(202).end()),
  })
  const service = await startService()
  const args = ['listen', '--json', '--relay', '--forward-to', receiver.url]
  const listening = await spawnTabwire(args, { cwd: service.cwd })
  await listening.until('stdout', /"ready"/)
  await push(service, 'a')
  await receiver.received(1)
  await service.stop()
  answer()
  const again = await startService([], { cwd: service.cwd })
  const [attempted] = await attempts(listening, 1)
  expect(attempted).toMatchObject({ status: 'delivered', attempt: { number: 1, response_status: 202 } })
  expect(receiver.requests).toHaveLength(1)
  await interrupt(listening)
  await again.stop()
  await receiver.close()
})

test.skipIf(process.platform === 'win32')(
  'the endpoint is registered again when the data is replaced',
  async () => {
    const receiver = await startReceiver()
    const service = await serve()
    const listening = await listen(service, '--forward-to', receiver.url)
    await push(service, 'a')
    await attempts(listening, 1)
    const state = await service.call('GET', '/_sim/state')
    await service.run(['state', 'reset'])
    await listening.until(
      'stderr',
      /^The data was replaced\. Registered 1 endpoint again, with the same secret\.\n$/,
    )
    const [made] = await endpoints(service)
    const lines = (await listening.until('stdout', /"reset".*\n/)).split('\n')
    const reset = lines.find((line) => line.includes('"reset"')) ?? ''
    const [known] = listening.ready.forward
    expect(made?.id).not.toBe(known?.endpoint_id)
    expect(JSON.parse(reset)).toEqual({ type: 'reset', forward: [{ ...known, endpoint_id: made?.id }] })
    await push(service, 'b')
    expect(await attempts(listening, 2)).toMatchObject([
      { external_check_id: 'a' },
      { external_check_id: 'b', attempt: { number: 1, outcome: 'succeeded' } },
    ])
    // A loaded state has the endpoint, and attempts that were shown.
    await service.call('PUT', '/_sim/state', await state.json())
    await listening.until('stderr', /The data was replaced\.\n$/)
    await push(service, 'c')
    expect((await attempts(listening, 3))[2]).toMatchObject({ external_check_id: 'c' })
    await interrupt(listening)
    expect(await endpoints(service)).toEqual([])
    await service.stop()
    await receiver.close()
  },
)

test('a tunnel that is refused suggests --relay, and ends', async () => {
  const service = await serve({ denyPrivate: true })
  const { code, stderr } = await service.run(['listen', '--forward-to', '3000'])
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^Error: The service refuses to send deliveries to this machine: the URL must not point to a loopback address, .* pass --relay\.\n$/,
  )
  expect(await endpoints(service)).toEqual([])
  await service.stop()
})
