import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { WebhookEndpointView } from '../../src/model/webhook-endpoint.ts'
import { checkBody, serve, type RunningService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'

/** Pushes so many new checks, and returns when what is due of them has been attempted: the clock is frozen. */
async function fail(service: RunningService, name: string, times: number): Promise<void> {
  const files = Array.from({ length: times }, (_, index) => `${name}-${index + 1}.json`)
  for (const file of files) await writeFile(join(service.cwd, file), JSON.stringify(checkBody()))
  const { code, stdout, stderr } = await service.run(['push', ...files])
  if (code !== 0) throw new Error(stdout + stderr)
  await service.json('clock', 'advance', '1ms')
}

const show = (service: RunningService, id: string) =>
  service.json<WebhookEndpointView>('endpoints', 'show', id)
const register = (service: RunningService, url: string) =>
  service.json<WebhookEndpointView & { signing_secret: string }>(
    ...['endpoints', 'create', url, '--events', 'check.created'],
  )
const list = async (service: RunningService, ...args: string[]) =>
  (await service.json<List<Delivery>>('deliveries', 'list', '--limit', '100', ...args)).data

describe('an endpoint, controlled only by commands,', () => {
  test('is disabled by ten failed deliveries in a row, counted from 0 after a 2xx, and works when registered again', async () => {
    const receiver = await startReceiver({ answer: 500 })
    const service = await serve({ allowHttpLoopback: true })
    await service.json('clock', 'freeze')
    const old = await register(service, receiver.url)

    await fail(service, 'early', 9)
    expect((await show(service, old.id)).status).toBe('enabled')
    receiver.answer(200)
    await fail(service, 'accepted', 1)
    receiver.answer(500)
    await fail(service, 'late', 9)
    expect((await show(service, old.id)).status).toBe('enabled')
    expect(await list(service, '--status', 'pending')).toHaveLength(18)

    await fail(service, 'last', 1)
    expect(await show(service, old.id)).toMatchObject({
      status: 'disabled',
      disabled_reason: '10 consecutive deliveries failed',
    })
    const dead = await list(service, '--status', 'dead')
    expect(dead).toHaveLength(19)
    for (const delivery of dead)
      expect(delivery).toMatchObject({ dead_reason: 'endpoint_disabled', next_attempt_at: null })
    expect(await list(service, '--status', 'pending')).toEqual([])
    // No resend is suggested: the endpoint gets no further delivery.
    expect(await service.run(['deliveries', 'show', dead[0]?.id ?? ''])).toMatchObject({
      code: 0,
      stderr: '',
    })

    const ping = await service.run(['ping', old.id, '--json'])
    expect(ping.code).toBe(1)
    expect(JSON.parse(ping.stdout)).toMatchObject({ error: { code: 'endpoint_disabled' } })
    expect((await service.call('POST', `/v1/webhook-endpoints/${old.id}/test`)).status).toBe(409)
    await service.json('clock', 'advance', '35h')
    expect(receiver.requests).toHaveLength(20)

    receiver.answer(200)
    const fresh = await register(service, receiver.url)
    expect([fresh.id, fresh.signing_secret]).not.toEqual([old.id, old.signing_secret])
    expect((await service.run(['ping', fresh.id])).code).toBe(0)
    await fail(service, 'again', 1)
    const [delivered] = await list(service, '--status', 'delivered')
    expect(delivered).toMatchObject({ external_check_id: 'again-1', endpoint_id: fresh.id })
    expect((await show(service, old.id)).status).toBe('disabled')
    await service.stop()
    await receiver.close()
  })
})
