import { beforeAll, describe, expect, test } from 'vitest'
import type { List } from '../../src/client.ts'
import type { EventView } from '../../src/model/event-view.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'

let service: RunningService
let receiver: Receiver
let secret: string

beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true })
  receiver = await startReceiver()
  const body = { url: receiver.url, event_types: ['check.created'] }
  const registered = await service.call('POST', '/v1/webhook-endpoints', body)
  secret = ((await registered.json()) as { signing_secret: string }).signing_secret
  const items = [{ external_id: 'é', name: 'Crème brûlée ✓ \u009b2J', quantity: 1, price_cents: 780 }]
  await service.call('PUT', '/v1/checks/external/dinner', checkBody({ items }))
  await service.call('PUT', '/v1/checks/external/dinner', checkBody({ items, status: 'closed' }))
  await service.call('PUT', '/v1/checks/external/lunch', checkBody())
  await receiver.received(2)
  return async () => {
    await service.stop()
    await receiver.close()
  }
})

const list = async (...args: string[]) =>
  (await service.json<List<EventView>>('events', 'list', ...args)).data

describe.concurrent('tabwire events', () => {
  test('list shows the newest first', async () => {
    const { code, stdout, stderr } = await service.run(['events', 'list'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`
    expect(stdout).toMatch(
      new RegExp(
        String.raw`^EVENT {27}TYPE {11}CREATED \(UTC\) {8}CHECK\nevt_\w{26} {2}check\.created {2}${time} {2}lunch\nevt_\w{26} {2}check\.closed {3}${time} {2}dinner\n`,
      ),
    )
  })

  test('list filters by type and check, and pages', async () => {
    const types = (events: EventView[]) => events.map(({ type }) => type)
    expect(types(await list('--check', 'dinner'))).toEqual(['check.closed', 'check.created'])
    expect(types(await list('--type', 'check.closed'))).toEqual(['check.closed'])
    expect(await list('--type', 'check.closed', '--check', 'lunch')).toEqual([])
    const page = await service.json<List<EventView>>('events', 'list', '--limit', '2')
    expect(page.data).toHaveLength(2)
    expect(await list('--cursor', page.next_cursor ?? '')).toHaveLength(1)
  })

  test('list says when no events match', async () => {
    expect((await service.run(['events', 'list', '--check', 'none'])).stdout).toBe('No events match.\n')
    expect((await service.run(['deliveries', 'list', '--check', 'none'])).stdout).toBe(
      'No deliveries match.\n',
    )
  })

  test('show prints an event, and its text cannot control the terminal', async () => {
    const [event] = await list('--type', 'check.closed')
    const { stdout } = await service.run(['events', 'show', event?.id ?? ''])
    expect(stdout).toMatch(
      /^event {4}evt_\w{26}\ntype {5}check\.closed\ncreated {2}\S+ \S+ UTC\ncheck {4}dinner\nbody {5}\d+ bytes \(--body prints them\)\n\n\{\n/,
    )
    expect(stdout).toContain('"name": "Crème brûlée ✓ <U+009B>2J"')
    expect(await service.json('events', 'show', event?.id ?? '')).toEqual(event)
  })

  test('show --body prints exactly the bytes that receivers get, so that their signature is valid', async () => {
    const [event] = await list('--type', 'check.created', '--check', 'dinner')
    const [received] = receiver.requests.filter(({ body }) => body.includes('dinner'))
    const { code, stdout, stderr } = await service.run(['events', 'show', event?.id ?? '', '--body'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(received?.body.toString())
    const header = String(received?.headers['x-service-signature'])
    const verified = await service.run(['verify', '--secret', secret, '--header', header], { input: stdout })
    expect(verified.code).toBe(0)
    const asJson = await service.run(['events', 'show', event?.id ?? '', '--body', '--json'])
    expect(asJson.stdout).toBe(stdout)
  })

  test('show exits with 1 for an unknown event, with and without --body', async () => {
    for (const args of [[], ['--body']]) {
      const { code, stdout, stderr } = await service.run(['events', 'show', 'evt_none', ...args])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^Error: 404 not_found: No event with this id/)
    }
  })
})
