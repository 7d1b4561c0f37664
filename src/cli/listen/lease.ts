import { readdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readJsonFile, readReplaceable, writePrivately } from '../../data-directory.ts'
import { isRunning, ownIdentity, pidNamespace, type ProcessIdentity } from '../../process-identity.ts'
import { newSecret } from '../../ids.ts'
import { createPrivateFile } from '../../private-file.ts'
import { removeWhenFree } from '../../replace-file.ts'
import { signingSecretPattern } from '../../model/webhook-endpoint.ts'

/**
 * Record of a running `listen` in the data directory, written before it registers endpoints, so that a later one can
 * clean up after a kill. Endpoints are identified by URLs with a random part, since their ids are not known yet.
 */
interface Lease extends ProcessIdentity {
  /** Machine and container of the process; earlier versions did not write them. */
  hostname?: string
  namespace?: string
  /** Origin of the service. */
  service: string
  urls: readonly string[]
}

/** A lease with its file. */
export interface KeptLease extends Lease {
  file: string
}

/** Writes the lease of this process; `token` is its file's name. */
export async function takeLease(
  directory: string,
  token: string,
  lease: Pick<Lease, 'service' | 'urls'>,
): Promise<KeptLease> {
  const file = join(folderOf(directory), `${token}.json`)
  const namespace = pidNamespace === undefined ? {} : { namespace: pidNamespace }
  const taken: Lease = { ...ownIdentity, hostname: hostname(), ...namespace, ...lease }
  await writePrivately(file, taken)
  return { ...taken, file }
}

export async function dropLease({ file }: KeptLease): Promise<void> {
  await removeWhenFree(file)
}

/** Returns the leases of processes that have ended. Process ids of other machines and containers say nothing. */
export async function deadLeases(directory: string): Promise<KeptLease[]> {
  const names = await readdir(folderOf(directory)).catch(() => [])
  const files = names.filter((name) => name.endsWith('.json')).map((name) => join(folderOf(directory), name))
  const leases = await Promise.all(files.map(read))
  const isHere = ({ hostname: host, namespace }: Lease) =>
    host === undefined || (host === hostname() && namespace === pidNamespace)
  return leases.flat().filter((lease) => isHere(lease) && !isRunning(lease))
}

async function read(file: string): Promise<KeptLease[]> {
  const found = await readJsonFile<Lease>(file)
  const { pid, started, service, urls } = found ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string' || typeof service !== 'string') return []
  return Array.isArray(urls) ? [{ ...found, pid, started, service, urls: urls.map(String), file }] : []
}

function folderOf(directory: string): string {
  return join(directory, 'listen')
}

/**
 * Returns the signing secret of all endpoints that `listen` registers from this data directory; makes it at the first
 * call. It stays the same, so that the application under test keeps its settings.
 */
export async function listenSecret(directory: string): Promise<string> {
  const path = join(folderOf(directory), 'secret')
  const kept = await readSecret(path)
  if (kept !== undefined) return kept
  const made = newSecret()
  // Of two concurrent processes, the second uses the secret of the first; a damaged file is replaced.
  await createPrivateFile(
    path,
    (draft) => writePrivately(draft, { signing_secret: made }),
    async () => (await readSecret(path)) !== undefined,
  )
  return (await readSecret(path)) ?? made
}

async function readSecret(path: string): Promise<string | undefined> {
  const secret = (await readReplaceable<{ signing_secret: unknown }>(path))?.signing_secret
  return typeof secret === 'string' && signingSecretPattern.test(secret) ? secret : undefined
}
