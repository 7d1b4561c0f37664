import { link, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readJsonFile, writePrivately } from '../../data-directory.ts'
import { newSecret, newToken } from '../../ids.ts'

/**
 * The signing secret of everything that `listen` registers from this data directory, made at the first call. It stays
 * the same, or the application under test would have to be told anew at each start.
 */
export async function listenSecret(directory: string): Promise<string> {
  const path = join(directory, 'listen', 'secret')
  const kept = await readSecret(path)
  if (kept !== undefined) return kept
  const draft = `${path}.${newToken()}`
  const made = newSecret()
  await writePrivately(draft, { signing_secret: made })
  // Of two that make one at once, the second finds the first one's; a damaged one is replaced.
  await link(draft, path).catch(async () => (await readSecret(path)) ?? rename(draft, path))
  await rm(draft, { force: true })
  return (await readSecret(path)) ?? made
}

async function readSecret(path: string): Promise<string | undefined> {
  const secret = (await readJsonFile<{ signing_secret: unknown }>(path))?.signing_secret
  return typeof secret === 'string' && /^whsec_[\w-]{43}$/.test(secret) ? secret : undefined
}
