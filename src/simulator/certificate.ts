import { openAuthority } from '../certificates.ts'
import type { Parts } from './parts.ts'

/**
 * Returns the service's certificate, issued by the local authority, when it runs on HTTPS.
 * @throws TypeError without a directory.
 */
export async function ownCertificate(
  { https, dataDirectory, authorityDirectory = dataDirectory }: Parts,
  host: string,
) {
  if (https !== true) return undefined
  if (authorityDirectory === undefined)
    throw new TypeError('HTTPS needs a directory where the local authority is kept.')
  const hosts = [...new Set(['localhost', '127.0.0.1', '::1', host])]
  const authority = await openAuthority(authorityDirectory, hosts)
  return { ...(await authority.issue(hosts)), authority: authority.certificatePem }
}
