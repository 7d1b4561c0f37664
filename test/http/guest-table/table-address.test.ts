import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorOf, openSimulator, temporaryDirectory } from '../../support/simulator.ts'

describe('GET /_sim/tables/{number}', () => {
  it('returns the URL of a table, even before a check is pushed', async () => {
    const { call, client, url } = await openSimulator()
    const [location] = (await client.locations.list()).data.slice(-1)
    const { status, json } = await call('GET /_sim/tables/12')
    expect([status, json]).toEqual([
      200,
      { number: '12', location_id: location?.id, url: expect.stringContaining(`${url}/t/12/`) as string },
    ])
    expect(await client.tables.address('12')).toEqual(json)
  })

  it('gives each location a page of its own', async () => {
    const { call, client, key } = await openSimulator()
    const [second] = (await client.locations.list()).data
    const other = await call('GET /_sim/tables/12', { key: await key(['simulate'], second?.id) })
    expect(other.json).toMatchObject({ location_id: second?.id })
    expect((other.json as { url: string }).url).not.toBe((await client.tables.address('12')).url)
  })

  it('accepts any number that a check can have', async () => {
    const { client } = await openSimulator()
    expect((await client.tables.address('Bar/7 ü')).number).toBe('Bar/7 ü')
    expect((await client.tables.address('🍷'.repeat(64))).number).toBe('🍷'.repeat(64))
  })

  it('refuses numbers that no check can have, and keys without the scope simulate', async () => {
    const { call, key } = await openSimulator()
    const tooLong = await call(`GET /_sim/tables/${'1'.repeat(65)}`)
    expect([tooLong.status, errorOf(tooLong).code]).toEqual([400, 'invalid_path'])
    expect((await call('GET /_sim/tables/12', { key: await key(['read', 'write']) })).status).toBe(403)
  })

  it('stays the same after a restart, by a secret stored beside the API key', async () => {
    const dataDirectory = await temporaryDirectory()
    const path = async () => {
      const { client, close } = await openSimulator({ dataDirectory })
      const { pathname } = new URL((await client.tables.address('12')).url)
      await close()
      return pathname
    }
    expect(await path()).toBe(await path())
    const kept = JSON.parse(await readFile(join(dataDirectory, 'credentials.json'), 'utf8')) as object
    expect(kept).toMatchObject({ table_secret: expect.stringMatching(/^[\w-]{43}$/) as string })
  })

  it('follows from the seed of a seeded run', async () => {
    const path = async (seed: number) => {
      const { client } = await openSimulator({ seed })
      return new URL((await client.tables.address('12')).url).pathname
    }
    expect(await path(7)).toBe(await path(7))
    expect(await path(7)).not.toBe(await path(8))
  })

  it('names an address of this machine when the service listens on all of them', async () => {
    const { client, port } = await openSimulator({ host: '0.0.0.0' })
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    const outside = own.filter(({ family, internal }) => family === 'IPv4' && !internal)
    const { hostname, port: told } = new URL((await client.tables.address('12')).url)
    expect(told).toBe(String(port))
    expect(outside.length > 0 ? outside.map(({ address }) => address) : ['127.0.0.1']).toContain(hostname)
  })
})
