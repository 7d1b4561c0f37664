import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** Variable by which the workers know the seed of the run. */
export const SEED_OF_RUN = 'SEED_OF_RUN'

/** Keeps the compiled code of commands (Node 22.1 and newer) in one folder for the whole run, and removes it at the end. */
export default async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  process.env[SEED_OF_RUN] = String(config.sequence.seed)
  const cache = await mkdtemp(join(tmpdir(), 'tabwire-cache-'))
  process.env.XDG_CACHE_HOME = cache
  return () => rm(cache, { recursive: true, force: true })
}
