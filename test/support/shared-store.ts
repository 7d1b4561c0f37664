import { afterAll, beforeAll, beforeEach } from 'vitest'
import { openTestDatabase, type Database } from './postgres.ts'

/** A PostgreSQL database for the tests of one `describe`, and a sandbox for each of them. Call it within the `describe`. */
export function sharedStore() {
  let database: Database | undefined
  let tests = 0
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database?.stop())
  beforeEach(() => {
    tests += 1
  })
  return {
    get database(): Database {
      if (database === undefined) throw new Error('The database is created before the first test.')
      return database
    },
    /** Name of the sandbox of the running test. */
    get sandbox(): string {
      return `sandbox_${tests}`
    },
  }
}
