import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The certificate of the local authority, which deliveries trust; none as long as there is none. */
export async function localAuthority(directory: string): Promise<string[]> {
  return readFile(join(directory, 'ca', 'ca.pem'), 'utf8').then(
    (pem) => [pem],
    () => [],
  )
}
