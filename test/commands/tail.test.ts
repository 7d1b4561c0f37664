import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { AttemptMessage, RequestView } from '../../src/client.ts'
import {
  checkBody,
  spawnTabwire,
  serve,
  startService,
  type Running,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

let good: Receiver
let bad: Receiver
beforeAll(async () => {
  good = await startReceiver()
  bad = await startReceiver({ answer: 503 })
})
afterAll(async () => {
  await Promise.all([good.close(), bad.close()])
})

const push = (service: RunningService, id: string, changes = {}) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody(changes))

async function register(service: RunningService, { url }: Receiver): Promise<string> {
  const body = { url, event_types: ['check.created', 'check.closed'] }
  return ((await (await service.call('POST', '/v1/webhook-endpoints', body)).json()) as { id: string }).id
}

/** A `tail` that listens already, and ends with the service. */
async function tail(service: RunningService, ...args: string[]): Promise<Running> {
  const running = await spawnTabwire(['tail', '--no-reconnect', ...args], { cwd: service.cwd })
  await running.until('stderr', /Listening/)
  return running
}

async function attempts(running: Running): Promise<AttemptMessage[]> {
  const { stdout } = await running.ended
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AttemptMessage]))
}

describe.concurrent('tabwire tail', () => {
  test.runIf(isSoak)('says when all data was replaced, and continues', async () => {
    const service = await serve({ allowHttpLoopback: true })
    const running = await tail(service, '--json')
    await service.call('POST', '/_sim/reset')
    await running.until('stderr', /All data was replaced/)
    await register(service, good)
    await push(service, 'a')
    await running.until('stdout', /"check\.created"/)
    await service.stop()
    expect(await attempts(running)).toHaveLength(1)
  })

  test('prints each attempt that matches its filters until the service stops, with the reason of failures', async () => {
    const service = await serve({ allowHttpLoopback: true })
    const [ok, failing] = [await register(service, good), await register(service, bad)]
    const all = await tail(service, '--json')
    const [people, closed, failed, toOne] = await Promise.all([
      tail(service),
      tail(service, '--json', '--type', 'check.closed'),
      tail(service, '--json', '--failed'),
      tail(service, '--json', '--endpoint', ok),
    ])
    await push(service, 'lunch')
    await push(service, 'lunch', { status: 'closed' })
    await all.until('stdout', /^(.+\n){4}$/)
    const read = await people.until('stdout', /(.+\n){6}/)
    await service.stop()
    expect(await people.ended).toMatchObject({ code: 0 })
    expect(read).toMatch(
      /^✓ \d\d:\d\d:\d\d {2}check\.created {2}lunch {2}200 {2}[\d.]+ ms {2}dlv_\w{26} {2}→ :\d+$/m,
    )
    expect(read).toMatch(
      /^✗ \d\d:\d\d:\d\d {2}check\.created {2}lunch {2}503 {2}[\d.]+ ms {2}attempt 1 {2}dlv_\w{26} {2}→ :\d+\n {4}The receiver returned 503\. .* \(next attempt \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)$/m,
    )
    expect(await all.ended).toMatchObject({
      code: 0,
      stderr: 'Listening for deliveries. Press Ctrl-C to stop.\nThe service has stopped.\n',
    })
    const told = (list: AttemptMessage[]) =>
      list
        .map(
          ({ event_type, endpoint_id, attempt }) => `${event_type} ${endpoint_id} ${attempt.response_status}`,
        )
        .sort()
    const [created, close] = ['check.created', 'check.closed']
    expect(told(await attempts(all))).toEqual(
      [
        `${created} ${ok} 200`,
        `${created} ${failing} 503`,
        `${close} ${ok} 200`,
        `${close} ${failing} 503`,
      ].sort(),
    )
    expect(told(await attempts(closed))).toEqual([`${close} ${ok} 200`, `${close} ${failing} 503`].sort())
    expect(told(await attempts(failed))).toEqual([`${close} ${failing} 503`, `${created} ${failing} 503`])
    expect(told(await attempts(toOne))).toEqual([`${close} ${ok} 200`, `${created} ${ok} 200`])
  })

  test('--requests prints API requests too, without keys', async () => {
    const service = await serve()
    const [people, json] = await Promise.all([
      tail(service, '--requests'),
      tail(service, '--requests', '--json'),
    ])
    await push(service, 'a')
    await push(service, 'a')
    await service.call('GET', '/v1/checks/external/b')
    const text = await people.until('stdout', /404/)
    const line = (rest: string) =>
      new RegExp(`^→ \\d\\d:\\d\\d:\\d\\d {2}${rest} {2}[\\d.]+ ms {2}req_\\w{26}$`, 'm')
    expect(text).toMatch(line('PUT /v1/checks/external/a {2}201 {2}created'))
    expect(text).toMatch(line('PUT /v1/checks/external/a {2}200 {2}unchanged'))
    expect(text).toMatch(line('GET /v1/checks/external/b {2}404'))
    await service.stop()
    const { stdout } = await json.ended
    const requests = stdout
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one) as RequestView)
    expect(requests.map(({ method, status }) => [method, status])).toEqual([
      ['PUT', 201],
      ['PUT', 200],
      ['GET', 404],
    ])
    expect(stdout).not.toContain(service.key)
  })

  test.skipIf(process.platform === 'win32')(
    'exits with 0 when its reader closes the pipe, with 130 on Ctrl-C, and with 1 when the service is killed',
    async () => {
      const service = await startService(['--in-memory'])
      const [leaving, interrupted, cut] = await Promise.all([
        tail(service, '--requests', '--json'),
        tail(service),
        tail(service),
      ])
      leaving.child.stdout?.destroy()
      while (leaving.child.exitCode === null) await push(service, 'a')
      expect(await leaving.ended).toMatchObject({
        code: 0,
        stderr: 'Listening for deliveries. Press Ctrl-C to stop.\n',
      })
      interrupted.child.kill('SIGINT')
      expect(await interrupted.ended).toMatchObject({ code: 130, stdout: '' })
      await service.stop('SIGKILL')
      expect(await cut.ended).toMatchObject({ code: 1, stdout: '' })
      expect((await cut.ended).stderr).toContain(
        'Error: The service closed the stream. Start the service with `tabwire start`.\n',
      )
    },
  )
})
