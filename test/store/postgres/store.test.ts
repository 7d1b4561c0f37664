import { afterAll, beforeAll, describe } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { postgresPrograms, startCluster, type Cluster } from '../../support/postgres.ts'
import { storeSuite } from '../store-suite.ts'

describe.skipIf(postgresPrograms === undefined)('PostgreSQL', () => {
  let cluster: Cluster
  let opened = 0
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  storeSuite('the store in PostgreSQL', () =>
    openPostgresStore({ url: cluster.url, sandbox: `sandbox_${++opened}` }),
  )
})
