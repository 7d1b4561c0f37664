import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A check that comes along with the package, named so that a shell in this directory finds it. */
export function exampleCheck(): string {
  const file = fileURLToPath(new URL('../../fixtures/checks/two-top-with-notes.json', import.meta.url))
  return relative('', file)
}
