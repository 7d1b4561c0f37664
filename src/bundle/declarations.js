import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Removes declarations that no export reaches: users cannot name their types. */
export function dropUnreachableDeclarations() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const reached = new Set()
  const waiting = Object.values(exports).flatMap(({ types, import: { types: ofModule = types } = {} }) =>
    ofModule === undefined ? [] : [join(ofModule)],
  )
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

/** Removes imports without names from declarations: they declare nothing. */
function importsOf(path) {
  const text = readFileSync(path, 'utf8').replace(/^import ['"]\.[^'"]+['"];?\n/gm, '')
  writeFileSync(path, text)
  const names = text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)
  return [...names].map(([, name]) => join(path, '..', name.replace(/(?<!\.d)\.ts$/, '.d.ts')))
}

/**
 * Writes the declarations of `entry` and all that it imports into one file, `<entry>.d.cts`: a declaration of CommonJS may
 * not import those of ES modules. Every name is declared once among them, which the compiler checks in a test.
 */
export function flattenDeclarations(entry) {
  const waiting = [`${entry}.d.ts`]
  const texts = new Map()
  for (const path of waiting) {
    if (texts.has(path)) continue
    texts.set(path, readFileSync(path, 'utf8'))
    waiting.push(...importsOf(path))
  }
  const [[, first], ...others] = texts
  const declared = others.map(([, text]) => text.replace(/^(import|export) .*? from .*;\n/gm, ''))
  const exported = [...first.matchAll(/^export (type )?(?:\{ (.*) \}|\*) from '(.*)';$/gm)].flatMap(
    ([, type = '', names, from]) =>
      (names?.split(', ') ?? namesOf(texts.get(join(entry, '..', from.replace(/\.ts$/, '.d.ts'))))).map(
        (name) => type + name,
      ),
  )
  writeFileSync(
    `${entry}.d.cts`,
    `${declared.join('').replace(/^export (?=declare|interface|type)/gm, '')}export { ${exported.join(', ')} };\n`,
  )
}

function namesOf(text) {
  return [...text.matchAll(/^export (?:declare )?\w+ (\w+)/gm)].map(([, name]) => name)
}
