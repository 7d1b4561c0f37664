import { readdirSync, readFileSync, rmSync } from 'node:fs'
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

function importsOf(path) {
  const names = readFileSync(path, 'utf8').matchAll(/(?:from |import[ (])['"](\.[^'"]+)['"]/g)
  return [...names].map(([, name]) => join(path, '..', name.replace(/(?<!\.d)\.ts$/, '.d.ts')))
}
