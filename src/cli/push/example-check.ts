import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../package-file.ts'

/** A check that comes along with the package, named so that a shell in this directory finds it. */
export function exampleCheck(): string {
  const file = fileURLToPath(packageFile('fixtures/checks/two-top-with-notes.json'))
  return relative('', file)
}
