import { beforeAll, describe, expect, test } from 'vitest'
import type { List } from '../../src/client.ts'
import type { ApiKeyView } from '../../src/model/api-key.ts'
import { serve, type RunningService } from '../support/cli.ts'

let service: RunningService
beforeAll(async () => {
  service = await serve()
  return async () => {
    await service.stop()
  }
})

/** Made over HTTP, which takes less time. */
async function made(...scopes: string[]): Promise<ApiKeyView & { api_key: string }> {
  const answer = await service.call('POST', '/_sim/keys', scopes.length > 0 ? { scopes } : {})
  return (await answer.json()) as ApiKeyView & { api_key: string }
}
const create = (...args: string[]) =>
  service.json<ApiKeyView & { api_key: string }>('keys', 'create', ...args)

describe.concurrent('tabwire keys', () => {
  test('create prints the key once, on stdout; list and the log never show it', async () => {
    const env = { TABWIRE_SCOPES: 'read, write' }
    const { code, stdout, stderr } = await service.run(['keys', 'create', '--name', 'kiosk'], { env })
    expect(code).toBe(0)
    expect(stderr).toBe('Store the key now: it is not shown again.\n')
    const [, id = '', key = ''] =
      /^key {7}(key_\w{26})\nname {6}kiosk\nscopes {4}read write\nlocation {2}loc_\w{26}\nstate {5}valid\napi key {3}(twk_\S{43})\n$/.exec(
        stdout,
      ) ?? []
    const listed = await service.run(['keys', 'list'])
    expect(listed.stdout).toMatch(/^KEY {29}NAME {3,}SCOPES {15}(LOCATION {24})?CREATED \(UTC\) {8}STATE\n/)
    expect(listed.stdout).toMatch(new RegExp(`^${id} {2}kiosk +read write .* valid$`, 'm'))
    expect(listed.stdout).not.toContain(key)
    expect(await (await service.call('GET', '/_sim/requests')).text()).not.toContain(key)
  })

  test('create makes a key with all scopes by default, and --location makes one for another location', async () => {
    const { data } = await service.json<List<{ id: string }>>('locations')
    const [location = ''] = data.map(({ id }) => id)
    const first = await service.json<List<ApiKeyView>>('keys', 'list', '--limit', '100')
    expect(new Set(first.data.map(({ location_id }) => location_id))).not.toContain(location)
    expect(await create('--location', location)).toMatchObject({
      scopes: ['read', 'write', 'simulate'],
      location_id: location,
      revoked_at: null,
    })
    const { stdout } = await service.run(['keys', 'list', '--limit', '100'])
    expect(stdout).toMatch(new RegExp(`^key_\\w+ +\\S+ +read write simulate +${location} `, 'm'))
    const { code, stderr } = await service.run(['keys', 'create', '--location', 'loc_none'])
    expect(code).toBe(2)
    expect(stderr).toContain(
      'Error: --location must be the id of a location, got loc_none. `tabwire locations` lists them.',
    )
  })

  test('a command exits with 4 and names the scope when its key lacks it', async () => {
    const { api_key } = await made('read')
    const options = { env: { TABWIRE_API_KEY: api_key } }
    expect(await service.run(['checks', 'list'], options)).toMatchObject({ code: 0 })
    const refused = await service.run(
      ['endpoints', 'create', 'https://localhost/', '--events', 'all'],
      options,
    )
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(/^Error: .*write.*\n {2}X-Request-Id/)
    const asJson = await service.run(['deliveries', 'list', '--json'], options)
    expect(asJson).toMatchObject({ code: 4, stderr: '' })
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: 'insufficient_scope' } })
  })

  test('push succeeds with a key that cannot read the log', async () => {
    const { api_key } = await made('write')
    const input =
      '{"table":{"number":"1"},"status":"open","items":[],"totals":{"subtotal_cents":0,"tax_cents":0,"total_cents":0}}'
    const { code, stdout } = await service.run(['push', '-', '--id', 'plain', '--api-key', api_key], {
      input,
    })
    expect(code).toBe(0)
    expect(stdout).toBe('created  plain  table 1  open  0 items  total 0.00\n')
  })

  test('a command exits with 4 for a revoked key, and list shows the key as revoked', async () => {
    const { id, api_key } = await made()
    expect(await service.json('keys', 'revoke', id)).toMatchObject({
      id,
      revoked_at: expect.any(String) as string,
    })
    const refused = await service.run(['locations', '--api-key', api_key])
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    const listed = await service.run(['keys', 'list', '--limit', '100'])
    expect(listed.stdout).toMatch(
      new RegExp(`^${id} .* revoked \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$`, 'm'),
    )
  })

  test('revoke says when it was the key of the command', async () => {
    const { id, api_key } = await made()
    const other = await service.run(['keys', 'revoke', (await made()).id])
    expect(other).toMatchObject({ code: 0, stderr: '' })
    const own = await service.run(['keys', 'revoke', id, '--api-key', api_key])
    expect(own).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^This command used the revoked key\. Pass another one/) as string,
    })
  })

  test('an unknown key id and an unknown scope are refused', async () => {
    const unknown = await service.run(['keys', 'revoke', 'key_none'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toMatch(/^Error: 404 not_found: Key key_none not found\./)
    const { code, stderr } = await service.run(['keys', 'create', '--scopes', 'admin'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^Error: --scopes must be one or more of read, write, simulate, got "admin"\. Run/)
  })
})
