import { afterAll, beforeAll, describe } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../../support/postgres.ts'
import { storeSuite } from '../store-suite.ts'

describe.skipIf(postgresPrograms === undefined)('PostgreSQL', () => {
  let database: Database
  let opened = 0
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.stop())

  storeSuite('the store in PostgreSQL', () =>
    openPostgresStore({ url: database.url, sandbox: `sandbox_${++opened}` }),
  )
})
