import { beforeAll, describe, expect, test } from 'vitest'
import type { List } from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import { verify } from '../../src/signature/index.ts'
import { checkBody, spawnProcess, serve, type RunningService } from '../support/cli.ts'
import { startReceiver, type Receiver } from '../support/https-receiver.ts'
import { deadUrl } from '../support/simulator.ts'
import { isInstalled } from '../support/programs.ts'

let service: RunningService
let receiver: Receiver
let id: string
let secret: string
let body: string

beforeAll(async () => {
  service = await serve({ allowHttpLoopback: true })
  receiver = await startReceiver()
  const registration = { url: `${receiver.url}hooks?a=1&b='2'`, event_types: ['check.created'] }
  const registered = await service.call('POST', '/v1/webhook-endpoints', registration)
  secret = ((await registered.json()) as { signing_secret: string }).signing_secret
  const items = [{ external_id: '1', name: "Crème 'brûlée' \\n %s\u200f", quantity: 1, price_cents: 780 }]
  await service.call('PUT', '/v1/checks/external/dinner', checkBody({ items }))
  const [received] = await receiver.received(1)
  body = received?.body.toString() ?? ''
  const { data } = await service.json<List<Delivery>>('deliveries', 'list')
  id = data[0]?.id ?? ''
  return async () => {
    await service.stop()
    await receiver.close()
  }
})

/** As at a narrow terminal, which must not wrap the command. */
const exported = (...args: string[]) =>
  service.run(['deliveries', 'export', id, ...args], { env: { COLUMNS: '60' } })

describe('tabwire deliveries export', () => {
  test.skipIf(process.platform === 'win32' || !isInstalled('curl'))(
    'prints a curl command that sends the same request again with a new signature',
    async () => {
      const { code, stdout, stderr } = await exported('--secret', secret)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const shell = await spawnProcess('sh', ['-c', stdout], {})
      expect(await shell.ended).toMatchObject({ code: 0, stderr: '' })
      const [first, again] = await receiver.received(2)
      expect(again?.body).toEqual(first?.body)
      expect(again?.url).toBe(first?.url)
      for (const name of ['content-type', 'user-agent'])
        expect(again?.headers[name]).toBe(first?.headers[name])
      const header = String(again?.headers['x-service-signature'])
      expect(verify({ payload: again?.body ?? '', header, secret, now: new Date() }).ok).toBe(true)
    },
  )

  test('--as http prints a request that ends with the last byte of its body', async () => {
    const { code, stdout } = await exported('--as', 'http', '--secret', secret, '--service-name', 'Acme')
    expect(code).toBe(0)
    const [head = '', ...rest] = stdout.split('\n\n')
    const lines = head.split('\n')
    expect(lines.slice(0, 3)).toEqual([
      `POST ${receiver.url}hooks?a=1&b=%272%27 HTTP/1.1`,
      'Content-Type: application/json',
      'User-Agent: Acme-Webhooks/1.0',
    ])
    expect(rest.join('\n\n')).toBe(body)
    const header = lines[3]?.replace('X-Acme-Signature: ', '')
    expect(verify({ payload: body, header, secret, now: new Date() }).ok).toBe(true)
  })

  test('without --secret prints a placeholder for the signature, and says so', async () => {
    for (const as of ['curl', 'http']) {
      const { code, stdout, stderr } = await exported('--as', as)
      expect(code).toBe(0)
      expect(stdout).toContain('X-Service-Signature: t=<unix_seconds>,v1=<hex_hmac_sha256>')
      expect(stderr).toMatch(
        /^The signature is the placeholder .*\. To sign, pass --secret with the signing secret of the endpoint\./,
      )
    }
  })

  test('--json prints the parts of the request, whatever --as says', async () => {
    const { stdout } = await exported('--as', 'http', '--json')
    expect(JSON.parse(stdout)).toEqual({
      method: 'POST',
      url: `${receiver.url}hooks?a=1&b=%272%27`,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Service-Webhooks/1.0',
        'X-Service-Signature': 't=<unix_seconds>,v1=<hex_hmac_sha256>',
      },
      body,
    })
  })

  test('prints the URL of an endpoint that was deleted', async () => {
    const registration = { url: deadUrl, event_types: ['check.closed'] }
    const registered = await service.call('POST', '/v1/webhook-endpoints', registration)
    const endpoint = (await registered.json()) as { id: string }
    await service.call('PUT', '/v1/checks/external/dinner', checkBody({ status: 'closed' }))
    const list = ['deliveries', 'list', '--endpoint', endpoint.id]
    const { data } = await service.json<List<Delivery>>(...list)
    await service.call('DELETE', `/_sim/webhook-endpoints/${endpoint.id}`)
    expect(await service.json('deliveries', 'export', data[0]?.id ?? '')).toMatchObject({ url: deadUrl })
  })

  test('exits with 2 for an empty secret, and with 1 for an unknown delivery', async () => {
    expect((await exported('--secret', ' ')).code).toBe(2)
    const none = await service.run(['deliveries', 'export', 'dlv_none'])
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(none.stderr).toMatch(/^Error: 404 not_found: No delivery with this id/)
  })
})
