import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { install } from '../bench/peers/install.ts'
import { isSoak } from '../soak/seeded.ts'
import { root } from './packed.ts'

/**
 * Fetches packages that only a soak suite needs, with npm, before the tests of the calling suite, so that their time limits
 * do not include it. Returns the directory that has them in `node_modules`. A set is fetched once into
 * `node_modules/.cache`; each range must be exact enough to stay the same.
 */
export function fetched(...packages: readonly string[]): string {
  const name = createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16)
  const directory = join(root, 'node_modules/.cache/tabwire-fetched', name)
  const isThere = (wanted: string) =>
    existsSync(join(directory, 'node_modules', wanted.replace(/(.)@.*$/, '$1')))
  if (isSoak)
    beforeAll(async () => {
      if (!packages.every(isThere)) await install(directory, packages, false)
    }, 300_000)
  return directory
}
