import { postgresPrograms, SERVER_OF_RUN, startCluster } from './postgres.ts'

/** Starts one PostgreSQL server for `npm test` and `npm run soak`, and returns what ends it. Single files start their own. */
export default async function startServerOfRun(): Promise<(() => Promise<void>) | undefined> {
  const isWhole = ['suites', 'soak'].includes(process.env.npm_lifecycle_event ?? '')
  if (postgresPrograms === undefined || !isWhole) return undefined
  const { directory, stop } = await startCluster({ max_connections: '200' })
  process.env[SERVER_OF_RUN] = directory
  return stop
}
