import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const sha256Of = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Writes `SHA256SUMS` for all files of a directory, in the form that `sha256sum --check` reads. */
export function writeChecksums(directory) {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile())
  const lines = files.map(({ name }) => `${sha256Of(join(directory, name))}  ${name}\n`)
  writeFileSync(join(directory, 'SHA256SUMS'), lines.toSorted().join(''))
}
