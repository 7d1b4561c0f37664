/* Writes oclif.manifest.json, by which oclif knows every command without loading it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { execute } from '@oclif/core'

const file = 'oclif.manifest.json'

await execute({
  dir: fileURLToPath(new URL('../../node_modules/oclif/bin', import.meta.url)),
  // Without a path, oclif would take one from standard input, which in a pipeline may be any file.
  args: ['manifest', '.'],
})
// Every command reads the manifest first, so it is written without white space, and without the defaults of flags.
const withoutDefaults = (key, value) =>
  value === false && ['allowNo', 'hasDynamicHelp', 'multiple'].includes(key) ? undefined : value
writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), withoutDefaults))
