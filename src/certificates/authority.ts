import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivateFile } from '../private-file.ts'
import { makeDirectories, replaceFile } from '../replace-file.ts'
import { issueCertificate, makeAuthority, permittedHosts, requirePermitted, type KeyPair } from './issue.ts'

export { requireHosts, type KeyPair } from './issue.ts'

/** A local certificate authority, which only the service and Tabwire's commands trust (contract section 10). */
export interface Authority {
  certificatePem: string
  /**
   * Issues a certificate and key for these host names and IP addresses, and for those of `others` that the authority may
   * certify.
   * @throws TypeError for a host that is no host name or IP address, or when the authority may not certify one of `hosts`.
   */
  issue(hosts: readonly string[], others?: readonly string[]): Promise<KeyPair>
}

/** Creates an authority in memory, for this process. */
export async function createAuthority(): Promise<Authority> {
  return authorityOf(await makeAuthority())
}

/**
 * Loads the authority of `<directory>/ca`; creates it at the first call. A new one can certify `hosts` besides local
 * names.
 * @throws Error when its files are unusable.
 */
export async function openAuthority(directory: string, hosts: readonly string[] = []): Promise<Authority> {
  const kept = await readPair(directory)
  if (kept !== undefined) return authorityOf(kept)
  return authorityOf(await keep(directory, await makeAuthority(hosts)))
}

/** Returns the certificate of the authority in `<directory>/ca`, in PEM; `undefined` when there is none. */
export async function readAuthorityCertificate(directory: string): Promise<string | undefined> {
  return readIfThere(join(directory, 'ca', 'ca.pem'))
}

function authorityOf(pair: KeyPair): Authority {
  return {
    certificatePem: pair.cert,
    async issue(hosts, others = []) {
      await requirePermitted(pair, hosts)
      return issueCertificate(pair, [...hosts, ...(await permittedHosts(pair, others))])
    },
  }
}

/**
 * Both files appear at once, by renaming their folder: no reader sees half an authority, and one of two concurrent
 * writers wins.
 */
async function keep(directory: string, pair: KeyPair): Promise<KeyPair> {
  await makeDirectories(directory, 0o700)
  const draft = await mkdtemp(join(directory, 'ca-'))
  try {
    await writePrivateFile(join(draft, 'ca-key.pem'), pair.key)
    await writePrivateFile(join(draft, 'ca.pem'), pair.cert, { mode: 0o644 })
    // An empty folder, which Windows does not replace.
    await rmdir(join(directory, 'ca')).catch(() => {})
    // Retries: on Windows, a scanner may have the new files open.
    await replaceFile(draft, join(directory, 'ca'))
    return pair
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    const winner = await readPair(directory)
    if (winner !== undefined) return winner
    throw error
  }
}

async function readPair(directory: string): Promise<KeyPair | undefined> {
  const folder = join(directory, 'ca')
  const [cert, key] = await Promise.all([
    readIfThere(join(folder, 'ca.pem')),
    readIfThere(join(folder, 'ca-key.pem')),
  ])
  if (cert === undefined && key === undefined) return undefined
  if (cert !== undefined && key !== undefined && belongTogether(cert, key)) return { cert, key }
  throw new Error(
    `The local certificate authority in ${folder} is unusable: its files are damaged, or key and certificate do not match. Remove that folder to create a new authority. Receivers then need new certificates.`,
  )
}

function belongTogether(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
