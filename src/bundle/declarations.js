import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Removes the declarations that none of the exports leads to: nobody could name what they declare. */
export function dropUnreachableDeclarations() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const reached = new Set()
  const waiting = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(types)]))
  for (const path of waiting) {
    if (reached.has(path)) continue
    reached.add(path)
    waiting.push(...importsOf(path))
  }
  for (const file of readdirSync('dist', { recursive: true })) {
    const path = join('dist', file)
    if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path)
  }
}

/** What is imported to be loaded, and not for a name, declares nothing: such imports are taken out. */
function importsOf(path) {
  const text = readFileSync(path, 'utf8').replace(/^import ['"]\.[^'"]+['"];?\n/gm, '')
  writeFileSync(path, text)
  const names = text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)
  return [...names].map(([, name]) => join(path, '..', name.replace(/(?<!\.d)\.ts$/, '.d.ts')))
}
