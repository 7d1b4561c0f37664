import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { postgresPrograms, startCluster, type Cluster } from '../support/postgres.ts'

const run = promisify(execFile)

/** Suites of a single process that a shared store must pass, too. */
const suites = ['test/http', 'test/hostile', 'test/delivery']

describe.runIf(isSoak && postgresPrograms !== undefined)('with all simulators on PostgreSQL', () => {
  // A server of its own: to drop a database with thousands of sandboxes takes minutes.
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster({ max_connections: '200' })
  })
  afterAll(() => cluster.stop())

  test.each(suites)('%s passes', { timeout: 1_800_000 }, async (suite) => {
    const { stdout } = await run(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers=2', suite],
      {
        env: { ...process.env, TABWIRE_TEST_STORE: cluster.url, npm_lifecycle_event: 'test' },
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    expect(stdout).toMatch(/ 0 failed/)
  })
})
