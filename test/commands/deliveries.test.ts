import { beforeAll, describe, expect, test } from 'vitest'
import type { List, PingReport } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { EventType } from '../../src/model/event.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

let service: RunningService
let good: Receiver
let bad: Receiver
const ids = { good: '', bad: '' }

beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true })
  good = await startReceiver({ answer: 204 })
  bad = await startReceiver({
    answer: (response) => response.writeHead(500).end('out of\n\u001b[2Jcheese'),
  })
  ids.good = await register(good.url, ['check.created', 'check.closed'])
  ids.bad = await register(bad.url, ['check.created'])
  await service.call('PUT', '/v1/checks/external/dinner', checkBody())
  await service.call('PUT', '/v1/checks/external/dinner', checkBody({ status: 'closed' }))
  await firstAttempts(3)
  return async () => {
    await service.stop()
    await Promise.all([good.close(), bad.close()])
  }
})

async function register(url: string, event_types: EventType[]): Promise<string> {
  const answer = await service.call('POST', '/v1/webhook-endpoints', { url, event_types })
  return ((await answer.json()) as { id: string }).id
}

/** Resolves when this many deliveries have an attempt. */
async function firstAttempts(count: number): Promise<void> {
  for (;;) {
    const { data } = (await (await service.call('GET', '/_sim/deliveries')).json()) as List<Delivery>
    if (data.filter(({ attempts }) => attempts.length > 0).length >= count) return
  }
}

test('a key that may not see endpoints may list and show deliveries', async () => {
  const answer = await service.call('POST', '/_sim/keys', { scopes: ['simulate'] })
  const { api_key } = (await answer.json()) as { api_key: string }
  const options = { env: { TABWIRE_API_KEY: api_key } }
  const list = await service.run(['deliveries', 'list', '--endpoint', ids.good], options)
  expect(list).toMatchObject({ code: 0, stderr: '' })
  const [, id = ''] = /(dlv_\w{26})/.exec(list.stdout) ?? []
  const shown = await service.run(['deliveries', 'show', id], options)
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain(`\nendpoint      ${good.url}  ${ids.good}\n`)
})

test.each(['1h30m', '500000ms', '999999999999d'])('--since accepts %s', async (since) => {
  const list = await service.run(['deliveries', 'list', '--endpoint', ids.good, '--since', since])
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(list.stdout).toContain('dlv_')
})

describe.concurrent('tabwire deliveries', () => {
  test('list prints time, event, check, status, last and next attempt, and endpoint', async () => {
    const { code, stdout } = await service.run(['deliveries', 'list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^DELIVERY {24}TIME \(UTC\) {11}EVENT {10}CHECK {3}STATUS {5}TRIES {2}LAST {2}NEXT \(UTC\) {11}ENDPOINT\n/,
    )
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`
    const row = String.raw`^dlv_\w{26} {2}${time} {2}check\.created {2}dinner {2}pending {4}1 {6}500 {3}${time} {2}`
    expect(stdout).toMatch(new RegExp(`${row}${bad.url}$`, 'm'))
  })

  test.each([60, 80, 120])('list fits %i columns, with whole ids and the endpoint', async (columns) => {
    const { data } = await service.json<List<Delivery>>('deliveries', 'list', '--check', 'dinner')
    const { stdout } = await service.run(['deliveries', 'list', '--check', 'dinner'], {
      env: { COLUMNS: String(columns) },
    })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(1 + 2 * data.length)
    expect(lines.filter((line) => line.length > columns)).toEqual([])
    for (const { id } of data)
      expect(lines.filter((line) => line.startsWith(`  ${id}  http`))).toHaveLength(1)
  })

  test('list filters by status, type, endpoint and check', async () => {
    const narrowed = async (...args: string[]) =>
      (await service.json<List<Delivery>>('deliveries', 'list', ...args)).data
    const pending = await narrowed('--status', 'pending', '--check', 'dinner')
    expect(pending.map(({ endpoint_id, event_type }) => [endpoint_id, event_type])).toEqual([
      [ids.bad, 'check.created'],
    ])
    expect(
      await narrowed('--type', 'check.closed', '--endpoint', ids.good, '--check', 'dinner'),
    ).toHaveLength(1)
    expect(await narrowed('--check', 'lunch')).toEqual([])
  })

  test('list exits with 2 and names the valid types for an unknown type', async () => {
    const { code, stderr } = await service.run(['deliveries', 'list', '--type', 'check.close'])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^Error: --type must be one of check\.created, .*, ping, got "check\.close"\. Did you mean check\.closed\? Run/,
    )
  })

  test('show prints the reason of each failed attempt, and the response cannot control the terminal', async () => {
    const [delivery] = (
      await service.json<List<Delivery>>('deliveries', 'list', '--status', 'pending', '--check', 'dinner')
    ).data
    const { stdout } = await service.run(['deliveries', 'show', delivery?.id ?? ''])
    expect(stdout).toMatch(
      /^delivery {6}dlv_\w+\nevent {9}check\.created {2}evt_\w+\nendpoint {6}http:\S+ {2}we_\w+\ncheck {9}dinner\n/,
    )
    expect(stdout).toMatch(
      /\nATTEMPT {2}STARTED \(UTC\) {8}OUTCOME {5}STATUS {2}TOOK\n1 {8}\S+ \S+ {2}bad_status {2}500 {5}[\d.]+ ms\n/,
    )
    expect(stdout).toContain('attempt 1: The receiver returned 500. Only 2xx counts as delivered.\n')
    expect(stdout).toContain('  response: out of \u241b[2Jcheese\n')
    expect(await service.json('deliveries', 'show', delivery?.id ?? '')).toEqual(delivery)
  })

  test('show exits with 1 for an unknown id', async () => {
    const { code, stderr } = await service.run(['deliveries', 'show', 'dlv_none'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Error: 404 not_found: No delivery with this id/)
  })
})

describe.concurrent('tabwire ping', () => {
  test('exits with 0 when the receiver answers 2xx', async () => {
    const { code, stdout } = await service.run(['ping', ids.good])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ ping answered 204 in [\d.]+ ms {2}dlv_\w{26}\n$/)
  })

  test('exits with 1 and prints the reason when the receiver does not answer 2xx', async () => {
    const { code, stdout, stderr } = await service.run(['ping', ids.bad])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/^✗ ping failed: The receiver returned 500\. .* ms {2}dlv_\w{26}\n$/)
    const asJson = await service.run(['ping', ids.bad, '--json'])
    expect(asJson.code).toBe(1)
    const report = JSON.parse(asJson.stdout) as PingReport
    expect(report).toMatchObject({ outcome: 'bad_status', response_status: 500 })
  })

  test('takes the URL of an endpoint, or no argument when there is only one endpoint', async () => {
    const byUrl = await service.run(['ping', good.url])
    expect(byUrl).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✓ ping answered 204/) as string })
    const several = await service.run(['ping'])
    expect(several.stderr).toMatch(/^Error: ENDPOINT is missing: 2 endpoints are registered\./)
    expect(several.stderr).toContain(`${ids.good}  ${good.url}`)
    expect(several.code).toBe(2)
    const unknown = await service.run(['ping', 'https://nowhere.example/'])
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No endpoint has the URL https://nowhere.example/.') as string,
    })
    const own = await serve({ allowHttpLoopback: true })
    const none = await own.run(['ping'])
    expect(none.stderr).toContain('No endpoint is registered. Register one with: tabwire endpoints create')
    await own.json('endpoints', 'create', good.url)
    expect(await own.run(['ping'])).toMatchObject({ code: 0 })
    await own.stop()
  })

  test('exits with 1 for an unknown endpoint', async () => {
    const { code, stdout, stderr } = await service.run(['ping', 'we_none'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      /^Error: 404 not_found: Webhook endpoint we_none not found at this key's location\./,
    )
  })
})
