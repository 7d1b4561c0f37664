import { readFile } from 'node:fs/promises'
import { packageFile } from '../package-file.ts'

/** Returns the version of this package. */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string }
  return version
}
