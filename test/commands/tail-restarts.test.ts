import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptMessage } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { sampled } from '../soak/seeded.ts'
import {
  checkBody,
  emptyDirectory,
  serve,
  spawnTabwire,
  startService,
  type Running,
  type RunningService,
} from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver({
    answer: (response) => response.writeHead(500).end('{"reason":"no \u001b[2J table"}'),
  })
})
afterAll(() => receiver.close())

const start = (cwd: string, ...args: string[]) => startService(['--allow-http-loopback', ...args], { cwd })
/** In the process of the test. */
const inMemory = (cwd: string) => serve({ cwd, allowHttpLoopback: true })
const push = (service: RunningService, id: string) =>
  service.call('PUT', `/v1/checks/external/${id}`, checkBody())
const register = (service: RunningService, event_types = ['check.created']) =>
  service.call('POST', '/v1/webhook-endpoints', { url: receiver.url, event_types })

/** Attempts all that is due, too. */
const advance = (service: RunningService, duration: string) =>
  service.call('POST', '/_sim/clock', { advance: duration })

/** Pushes, and returns when the attempt is on record. */
async function attempted(service: RunningService, id: string): Promise<void> {
  await push(service, id)
  await advance(service, '1ms')
}

async function tail(cwd: string, ...args: string[]): Promise<Running> {
  const running = await spawnTabwire(['tail', '--json', ...args], { cwd })
  await running.until('stderr', /Listening/)
  return running
}

/** The lines told so far, once there is one about this check. */
async function lines(
  running: Running,
  check: string,
): Promise<(AttemptMessage & Delivery & { event_body?: string })[]> {
  const text = await running.until('stdout', new RegExp(`"external_check_id":"${check}".*\n`))
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AttemptMessage & Delivery)
}

const names = (told: readonly AttemptMessage[]) =>
  told.map(({ external_check_id, attempt }) => `${external_check_id ?? ''} ${attempt.number}`)

/** Ends a `tail` as a person does. */
async function interrupt({ child, ended }: Running) {
  child.kill('SIGINT')
  return ended
}

describe('tabwire tail over restarts of the service', () => {
  test.skipIf(process.platform === 'win32').each(sampled(['SIGKILL', 'SIGTERM'] as const, 2))(
    'prints each line exactly once after %s, even with another port and deliveries made meanwhile',
    async (signal) => {
      const cwd = await emptyDirectory()
      const first = await start(cwd)
      await register(first)
      await attempted(first, 'before-tail')
      const running = await tail(cwd)
      await attempted(first, 'seen')
      await lines(running, 'seen')
      await first.stop(signal)
      await running.until('stderr', /Lost the connection to the service\. Reconnecting/)
      // Too busy to see the service come back before something has happened there.
      running.child.kill('SIGSTOP')
      const second = await start(cwd)
      await attempted(second, 'later')
      running.child.kill('SIGCONT')
      await running.until('stderr', /Reconnected to the service\.\n/)
      await lines(running, 'later')
      await push(second, 'last')
      expect(names(await lines(running, 'last'))).toEqual(['seen 1', 'later 1', 'last 1'])
      expect(await interrupt(running)).toMatchObject({ code: 130 })
      await second.stop()
    },
  )

  test('prints the deliveries of a new in-memory service, although its clock is behind', async () => {
    const cwd = await emptyDirectory()
    const first = await serve({ cwd, startAt: new Date('2030-01-01T00:00:00Z') })
    const running = await tail(cwd)
    await first.stop()
    await running.until('stderr', /Lost the connection/)
    const second = await inMemory(cwd)
    await register(second)
    await push(second, 'new')
    expect(names(await lines(running, 'new'))).toEqual(['new 1'])
    await interrupt(running)
    await second.stop()
  })

  test('with --no-reconnect exits with 0 when the service stops, and with 1 when none answers at the start', async () => {
    const cwd = await emptyDirectory()
    const service = await inMemory(cwd)
    const running = await tail(cwd, '--no-reconnect')
    await service.stop()
    const ended = await running.ended
    expect(ended).toMatchObject({ code: 0, stdout: '' })
    expect(ended.stderr).toMatch(/The service has stopped\.\n$/)
    const none = await spawnTabwire(['tail', '--url', 'http://127.0.0.1:1'], { cwd })
    expect(await none.ended).toMatchObject({ code: 1 })
  })
})

describe('tabwire tail', () => {
  test('--since prints matching missed deliveries first, by the clock of the service', async () => {
    const cwd = await emptyDirectory()
    const service = await inMemory(cwd)
    await service.call('POST', '/_sim/clock', { freeze: true })
    await register(service)
    await attempted(service, 'long-ago')
    await advance(service, '50s')
    await attempted(service, 'just-now')
    const [ago, time, none, other] = await Promise.all([
      tail(cwd, '--since', '40s'),
      tail(cwd, '--since', '2000-01-01'),
      tail(cwd),
      tail(cwd, '--since', '1d', '--type', 'check.closed'),
    ])
    await lines(ago, 'just-now')
    await lines(time, 'just-now')
    await push(service, 'next')
    expect(names(await lines(ago, 'next'))).toEqual(['just-now 1', 'next 1'])
    expect(names(await lines(time, 'next'))).toEqual(['long-ago 1', 'just-now 1', 'next 1'])
    expect(names(await lines(none, 'next'))).toEqual(['next 1'])
    expect(await interrupt(other)).toMatchObject({ stdout: '' })
    await Promise.all([ago, time, none].map(interrupt))
    await service.stop()
  })

  test('--bodies prints both bodies indented and printable, and the exact body with --json', async () => {
    const cwd = await emptyDirectory()
    const service = await inMemory(cwd)
    await register(service)
    const [json, people] = [
      await tail(cwd, '--bodies'),
      await spawnTabwire(['tail', '--bodies', '--requests'], { cwd }),
    ]
    await people.until('stderr', /Listening/)
    await push(service, 'a')
    const [told] = await lines(json, 'a')
    expect(told?.event_body).toBe(
      receiver.requests.find(({ body }) => String(body) === told?.event_body)?.body.toString(),
    )
    expect(told?.attempt.response_body).toBe('{"reason":"no \u001b[2J table"}')
    const text = await people.until('stdout', /table"\}?\n/)
    expect(text).toMatch(
      /^→ .* PUT .*\n {4}request:\n {4}│ \{\n {4}│ {3}"table": \{\n[^]*\n {4}response:\n {4}│ \{\n/m,
    )
    expect(text).toMatch(/\n {4}event:\n {4}│ \{\n {4}│ {3}"id": "evt_\w{26}",\n/)
    expect(text).toMatch(/\n {4}response:\n[^]*no .*\[2J table"/)
    expect(text).not.toContain('\u001b[2J')
    await Promise.all([json, people].map(interrupt))
    await service.stop()
  })

  test('prints deliveries that die without an attempt', async () => {
    const cwd = await emptyDirectory()
    const service = await inMemory(cwd)
    const { id } = (await (await register(service)).json()) as { id: string }
    await service.call('PUT', '/_sim/faults', { faults: [{ on: 'deliveries', delay: 1 }] })
    const people = await spawnTabwire(['tail', '--failed'], { cwd })
    await people.until('stderr', /Listening/)
    const json = await tail(cwd, '--endpoint', id)
    await push(service, 'doomed')
    await service.call('DELETE', `/_sim/webhook-endpoints/${id}`)
    expect(await lines(json, 'doomed')).toMatchObject([{ status: 'dead', attempts: [] }])
    expect(await people.until('stdout', /\n/)).toMatch(
      /^✗ check\.created {2}doomed {2}dead, never attempted: the endpoint is disabled or deleted {2}dlv_\w{26}\n$/,
    )
    await Promise.all([json, people].map(interrupt))
    await service.stop()
  })
})
