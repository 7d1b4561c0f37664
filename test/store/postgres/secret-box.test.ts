import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { put } from '../../../src/model/records.ts'
import {
  checkDatabase,
  openPostgresStore,
  type PostgresStore,
} from '../../../src/store/postgres/postgres-store.ts'
import { createSecretBox } from '../../../src/store/postgres/secret-box.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../../support/postgres.ts'

const newKey = () => randomBytes(32).toString('base64')

describe('the box for secrets', () => {
  test('opens what it sealed, in its place only, and never seals twice to the same text', () => {
    const box = createSecretBox(newKey(), 'one')
    const sealed = box.seal('whsec_ö', 'endpoints/we_1')
    expect(sealed).toMatch(/^aes-256-gcm:[\w+/=]+$/)
    expect(box.seal('whsec_ö', 'endpoints/we_1')).not.toBe(sealed)
    expect(box.open(sealed, 'endpoints/we_1')).toBe('whsec_ö')
    expect(() => box.open(sealed, 'endpoints/we_2')).toThrow('encrypted with another key')
    expect(() => box.open(sealed.replace(/.{4}$/, 'AAAA'), 'endpoints/we_1')).toThrow('another key')
  })

  test('without a key stores texts as they are; with one, it opens such texts', () => {
    const plain = createSecretBox(undefined, 'one')
    expect(plain.seal('text', 'place')).toBe('text')
    expect(createSecretBox(newKey(), 'one').open('text', 'place')).toBe('text')
  })
})

const endpoint = {
  id: 'we_1',
  location_id: 'loc_1',
  url: 'https://a.test/',
  event_types: ['check.created' as const],
  status: 'enabled' as const,
  signing_secret: 'whsec_secret',
  consecutive_failures: 0,
  created_at: '2026-01-01T00:00:00.000Z',
  disabled_at: null,
  disabled_reason: null,
}

describe.skipIf(postgresPrograms === undefined)('a sandbox with --store-key', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.stop())

  test('has no secret in the database, and opens with its key only', async () => {
    const storeKey = newKey()
    const open = (key?: string) =>
      openPostgresStore({ url: database.url, sandbox: 'sealed', ...(key !== undefined && { storeKey: key }) })
    const [one, other] = [await open(storeKey), await open(storeKey)]
    await one.transact({}, () => ({ writes: [put('endpoints', endpoint)] }))
    await one.values.update('credentials', () => ({ value: { api_key: 'twk_secret' }, reply: 0 }))
    expect(await other.get('endpoints', 'we_1')).toEqual(endpoint)
    expect(other.values.get('credentials')).toEqual({ api_key: 'twk_secret' })
    const inDatabase = async () => {
      const rows = await one.database.query<{ doc: string }>(
        'SELECT doc FROM sealed.changes UNION ALL SELECT doc FROM sealed.records',
      )
      return rows.map(({ doc }) => doc)
    }
    expect((await inDatabase()).length).toBeGreaterThanOrEqual(2)
    expect((await inDatabase()).join()).not.toMatch(/whsec_secret|twk_secret/)
    await one.replace((all) => all)
    expect((await inDatabase()).join()).not.toMatch(/whsec_secret|twk_secret/)
    await Promise.all([one.close(), other.close()])

    const target = { url: database.url, sandbox: 'sealed' }
    const without =
      '--store: the sandbox sealed has encrypted secrets. Pass their key: TABWIRE_STORE_KEY or --store-key-file.'
    await expect(open()).rejects.toThrow(without)
    expect(await checkDatabase(target)).toBe(without)
    const another =
      '--store: the secrets of the sandbox sealed are encrypted with another key. Pass the key of the other instances: TABWIRE_STORE_KEY or --store-key-file.'
    await expect(open(newKey())).rejects.toThrow(another)
    expect(await checkDatabase({ ...target, storeKey: newKey() })).toBe(another)
    expect(await checkDatabase({ ...target, storeKey })).toBeUndefined()
    const again = await open(storeKey)
    expect(await again.get('endpoints', 'we_1')).toEqual(endpoint)
    await again.close()
  })

  test('refuses reads and writes of an instance with another key, and says what to pass', async () => {
    const open = () => openPostgresStore({ url: database.url, sandbox: 'two_keys', storeKey: newKey() })
    const [one, other] = [await open(), await open()]
    const write = (store: PostgresStore) =>
      store.transact({}, () => ({ writes: [put('endpoints', endpoint)] }))
    await write(one)
    const refusal = {
      code: 'storage_unavailable',
      message:
        '--store: the secrets of the sandbox two_keys are encrypted with another key. Pass the key of the other instances: TABWIRE_STORE_KEY or --store-key-file.',
    }
    await expect(other.get('endpoints', 'we_1')).rejects.toMatchObject(refusal)
    await expect(write(other)).rejects.toMatchObject(refusal)
    await Promise.all([one.close(), other.close()])
  })
})
