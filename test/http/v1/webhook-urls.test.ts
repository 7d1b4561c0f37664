import { describe, expect, it } from 'vitest'
import type { ValidationIssue } from '../../../src/model/validation.ts'
import type { WebhookEndpointView } from '../../../src/model/webhook-endpoint.ts'
import { errorOf, openSimulator, type TestSimulator } from '../../support/simulator.ts'

const register = (simulator: TestSimulator, json: unknown) =>
  simulator.call('POST /v1/webhook-endpoints', { json })

describe('a url', () => {
  it.each([
    'https://127.0.0.1:9/hooks',
    'https://127.0.0.1/',
    'https://localhost:9/hooks?tenant=1&x=%20',
    'HTTPS://LOCALHOST/',
    'https://10.0.0.1/hooks',
    'https://192.168.1.10:8443/hooks',
    'https://[::1]:8443/hooks',
    `https://127.0.0.1/${'x'.repeat(2048 - 'https://127.0.0.1/'.length)}`,
  ])('%s is accepted, and shown as it is called', async (address) => {
    const simulator = await openSimulator()
    const { status, json } = await register(simulator, { url: address, event_types: ['check.created'] })
    expect(status).toBe(201)
    expect((json as WebhookEndpointView).url).toBe(new URL(address).href)
  })

  it.each<[url: unknown, message: string]>([
    [undefined, 'is required'],
    [null, 'must be a string'],
    ['', 'at least 1 character'],
    ['example.com/hooks', 'must be an absolute URL'],
    ['https://a b/', 'must be an absolute URL'],
    ['https://127.0.0.1\\@example.com/', 'must be an absolute URL'],
    ['http://example.com/hooks', 'must be an https: URL'],
    ['http://127.0.0.1/hooks', '--allow-http-loopback'],
    ['ftp://example.com/', 'must be an https: URL'],
    ['https://user:pass@127.0.0.1/', 'user name'],
    ['https://127.0.0.1/#top', 'fragment'],
    ['https://169.254.169.254/latest', 'link-local'],
    ['https://0xa9.0xfe.0xa9.0xfe/', 'link-local'],
    ['https://0.0.0.0/', 'unspecified'],
    ['https://224.0.0.1/', 'multicast'],
    ['https://255.255.255.255/', 'broadcast'],
    ['https://100.100.100.200/', 'metadata'],
    [`https://127.0.0.1/${'x'.repeat(2048)}`, '2048 characters'],
    [`https://127.0.0.1/${'é'.repeat(1000)}`, '2048 characters long, percent-encoded'],
  ])('%s is 422: %s', async (address, message) => {
    const simulator = await openSimulator()
    const answer = await register(simulator, { url: address, event_types: ['check.created'] })
    expect(answer.status).toBe(422)
    const { issues } = errorOf(answer)
    expect(issues).toHaveLength(1)
    const [issue] = issues as ValidationIssue[]
    expect(issue).toMatchObject({ path: 'url', message: expect.stringContaining(message) as string })
    expect((await simulator.client.endpoints.list()).data).toEqual([])
  })

  it('of the service itself is refused', async () => {
    const simulator = await openSimulator()
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '[::1]']) {
      const own = `https://${host}:${simulator.port}/v1`
      const answer = await register(simulator, { url: own, event_types: ['check.created'] })
      expect(errorOf(answer).message).toContain('this service itself')
    }
  })

  it('with http: is accepted only for loopback hosts, with --allow-http-loopback', async () => {
    const simulator = await openSimulator({ allowHttpLoopback: true })
    const statusOf = async (address: string) =>
      (await register(simulator, { url: address, event_types: ['check.created'] })).status
    expect(await statusOf('http://127.0.0.1:9/')).toBe(201)
    expect(await statusOf('http://localhost:9/')).toBe(201)
    expect(await statusOf('http://192.168.1.1:9/')).toBe(422)
  })

  it('with http: is accepted for the hosts that --allow-http-host names, and no others', async () => {
    const simulator = await openSimulator({
      allowHttpHost: ['Host.Docker.Internal', '10.0.0.1'],
      network: 'loopback',
    })
    const statusOf = async (address: string) =>
      (await register(simulator, { url: address, event_types: ['check.created'] })).status
    expect(await statusOf('http://host.docker.internal:9/')).toBe(201)
    expect(await statusOf('http://HOST.docker.internal./')).toBe(201)
    expect(await statusOf('http://10.0.0.1/')).toBe(201)
    for (const other of ['docker.internal', 'x.host.docker.internal', '10.0.0.2', '127.0.0.1', 'localhost'])
      expect([other, await statusOf(`http://${other}:9/`)]).toEqual([other, 422])
  })

  it('of a private or loopback address is refused with --deny-private', async () => {
    const simulator = await openSimulator({ denyPrivate: true })
    for (const address of [
      'https://127.0.0.1/',
      'https://localhost/',
      'https://10.0.0.1/',
      'https://[fd00::1]/',
    ])
      expect(await register(simulator, { url: address, event_types: ['check.created'] })).toMatchObject({
        status: 422,
      })
  })
})
