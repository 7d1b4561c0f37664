import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Keeps the compiled code of commands (Node 22.1 and newer) in one folder for the whole run, and removes it at the end. */
export default async function setup(): Promise<() => Promise<void>> {
  const cache = await mkdtemp(join(tmpdir(), 'tabwire-cache-'))
  process.env.XDG_CACHE_HOME = cache
  return () => rm(cache, { recursive: true, force: true })
}
