import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { authorityFile } from '../../data-directory.ts'
import { isThisMachine } from '../running-service.ts'

/**
 * Returns the certificate file of the local authority, relative to the working directory, for a client of an HTTPS URL of
 * this machine; `undefined` for other URLs, and where there is no local authority.
 */
export function localAuthority(url: string, directory: string): string | undefined {
  const { protocol, hostname } = new URL(url)
  const file = authorityFile(directory)
  return protocol === 'https:' && isThisMachine(hostname) && existsSync(file) ? relative('', file) : undefined
}
