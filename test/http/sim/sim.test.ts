import { describe, expect, it } from 'vitest'
import { deadUrl, errorOf, openReceiver, openSimulator } from '../../support/simulator.ts'

describe('GET /_sim/health', () => {
  it('needs no key, and returns the name in the signature header', async () => {
    const simulator = await openSimulator({ serviceName: 'Acme' })
    const answer = await simulator.call('GET /_sim/health', { key: null })
    expect(answer).toMatchObject({
      status: 200,
      json: { status: 'ok', started_at: expect.stringMatching(/Z$/) as string, service_name: 'Acme' },
    })
    expect(answer.text).not.toContain(simulator.apiKey)
  })
})

describe('events and deliveries', () => {
  it('are shown by id as in their lists, and can be filtered by check and event', async () => {
    const simulator = await openSimulator()
    const receiver = await openReceiver()
    const { id: dead } = await simulator.client.endpoints.create({
      url: deadUrl,
      event_types: ['check.created'],
    })
    const { id: alive } = await simulator.client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created'],
    })
    await simulator.push('a')
    await simulator.push('b')
    await simulator.idle()
    const { events, deliveries } = simulator.client
    const [newest] = (await events.list()).data
    expect(await events.get(newest?.id ?? '')).toEqual(newest)
    expect(JSON.parse(newest?.body ?? '')).toEqual({
      id: newest?.id,
      type: newest?.type,
      created_at: newest?.created_at,
      data: newest?.data,
    })
    const all = (await deliveries.list()).data
    expect(all).toHaveLength(4)
    for (const delivery of all) expect(await deliveries.get(delivery.id)).toEqual(delivery)
    const found = async (query: Record<string, string>) =>
      (await deliveries.list(query)).data.map(({ id }) => id)
    const those = (matches: (delivery: (typeof all)[number]) => boolean) =>
      all.filter(matches).map(({ id }) => id)
    expect(await found({ status: 'delivered' })).toEqual(those(({ endpoint_id }) => endpoint_id === alive))
    expect(await found({ endpoint_id: dead, status: 'pending' })).toEqual(
      those(({ endpoint_id }) => endpoint_id === dead),
    )
    expect(await found({ external_check_id: 'a' })).toEqual(
      those(({ external_check_id }) => external_check_id === 'a'),
    )
    expect(await found({ event_id: newest?.id ?? '' })).toEqual(
      those(({ event_id }) => event_id === newest?.id),
    )
    expect(await found({ type: 'check.closed' })).toEqual([])
    expect(errorOf(await simulator.call('GET /_sim/deliveries?status=lost')).code).toBe('invalid_query')
  })
})

describe('keys', () => {
  it('are created with scopes and a location, shown once, listed without their secret, and revoked', async () => {
    const simulator = await openSimulator()
    const [location] = (await simulator.client.locations.list()).data
    const body = { name: 'POS', scopes: ['write' as const], location_id: location?.id ?? '' }
    const { api_key, ...key } = await simulator.client.keys.create(body)
    expect(api_key).toMatch(/^twk_[\w-]{43}$/)
    expect(key).toMatchObject({ ...body, revoked_at: null })
    const list = await simulator.call('GET /_sim/keys')
    expect((list.json as { data: object[] }).data[0]).toEqual(key)
    expect(list.text).not.toMatch(/twk_|hash/)
    const revoked = await simulator.client.keys.revoke(key.id)
    expect(revoked).toEqual({ ...key, revoked_at: expect.stringMatching(/Z$/) as string })
    expect(await simulator.client.keys.revoke(key.id)).toEqual(revoked)
  })

  it('have all scopes and the location of their creator by default', async () => {
    const simulator = await openSimulator()
    const [own] = (await simulator.client.keys.list()).data
    expect(await simulator.client.keys.create({})).toMatchObject({
      scopes: ['read', 'write', 'simulate'],
      location_id: own?.location_id,
    })
  })

  it.each<[body: object, ...paths: string[]]>([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes[0]'],
    [{ scopes: ['read', 'read'] }, 'scopes'],
    [{ scopes: ['admin', 'read', 'read'] }, 'scopes[0]', 'scopes'],
    [{ name: '' }, 'name'],
    [{ location_id: 'loc_1' }, 'location_id'],
    [{ scope: 'read' }, 'body'],
  ])('are not created from %j', async (json, ...paths) => {
    const simulator = await openSimulator()
    const answer = await simulator.call('POST /_sim/keys', { json })
    expect(answer.status).toBe(422)
    expect(errorOf(answer)).toMatchObject({ issues: paths.map((path) => ({ path })) })
  })
})
