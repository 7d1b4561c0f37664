import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'

/** Compiles the sources file by file: the packed ones share chunks. Returns their folder. */
export function compileSources(name: string): string {
  const compiled = resolve(`node_modules/.cache/tabwire-bench-${name}`)
  rmSync(compiled, { recursive: true, force: true })
  execFileSync(
    process.execPath,
    [
      'node_modules/typescript-native/bin/tsc',
      ...['--outDir', compiled, '--declaration', 'false', '--emitDeclarationOnly', 'false'],
      ...['--noEmit', 'false', '--rewriteRelativeImportExtensions', 'true'],
    ],
    { stdio: 'inherit' },
  )
  return compiled
}
