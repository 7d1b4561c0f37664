import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The pushes of a POS in one situation, in order. */
export interface Situation {
  name: string
  bodies: readonly unknown[]
}

export const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const folder = join(fixtures, 'checks')

/** `fixtures/checks/<situation>.json` and `fixtures/checks/<situation>/<number>-<step>.json`. */
export const situations: readonly Situation[] = readdirSync(folder, { withFileTypes: true })
  .map((entry) => {
    const path = join(folder, entry.name)
    const files = entry.isDirectory() ? filesOf(path) : [path]
    return { name: basename(entry.name, '.json'), bodies: files.map(readJson) }
  })
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** Paths of all pushes. */
export const situationFiles: readonly string[] = readdirSync(folder, { withFileTypes: true }).flatMap(
  (entry) => (entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]),
)

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function filesOf(path: string): string[] {
  return readdirSync(path)
    .toSorted()
    .map((name) => join(path, name))
}
