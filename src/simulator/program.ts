import { readFileSync } from 'node:fs'
import type { Bundle } from '../model/simulator/bundle.ts'
import { packageFile } from '../package-file.ts'

/** Returns the versions of this program, of Node.js and of the system. Reads synchronously: it is one small file. */
export function programVersions(): Pick<Bundle, 'tabwire' | 'node' | 'platform'> {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  return { tabwire: version, node: process.version, platform: `${process.platform} ${process.arch}` }
}
