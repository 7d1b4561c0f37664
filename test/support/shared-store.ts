import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startCluster, type Cluster } from './postgres.ts'

/** A PostgreSQL server for the tests of one `describe`, and a sandbox for each of them. Call it within the `describe`. */
export function sharedStore() {
  let cluster: Cluster | undefined
  let tests = 0
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    tests += 1
  })
  return {
    get cluster(): Cluster {
      if (cluster === undefined) throw new Error('The server starts before the first test.')
      return cluster
    },
    /** Name of the sandbox of the running test. */
    get sandbox(): string {
      return `sandbox_${tests}`
    },
  }
}
