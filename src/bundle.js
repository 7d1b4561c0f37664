import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'
import {
  clientOfUndici,
  isExternal,
  isPackaged,
  shrinkPackages,
  withoutNeverAsked,
} from './bundle/packages.js'

/*
 * What is built into dist, besides declarations: a program of hundreds of small files takes longer to load than to do what
 * it is asked for, so each command comes as one file with what it shares with others beside it.
 */

const commands = readdirSync('src/commands', { recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('commands', file.slice(0, -'.ts'.length)).replaceAll('\\', '/'))

/** By their path in dist, without the ending. The store is loaded alone by tests that watch its calls of the system. */
const entries = [
  ...commands,
  'cli/program',
  'cli/unknown-command',
  'cli/help/help',
  'client',
  'index',
  'msw/index',
  'store/file-store',
  'vitest/index',
]

/** Packages that are built in use the timers of `src/timers.ts`: those that were there before a test replaced them. */
const realTimers = {
  define: {
    'process.nextTick': '$timers.nextTick',
    setTimeout: '$timers.setTimeout',
    clearTimeout: '$timers.clearTimeout',
    setInterval: '$timers.setInterval',
    clearInterval: '$timers.clearInterval',
    setImmediate: '$timers.setImmediate',
    clearImmediate: '$timers.clearImmediate',
    queueMicrotask: '$timers.queueMicrotask',
  },
  inject: { $timers: [resolve('src/timers.ts'), 'timers'] },
}

const program = {
  input: Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`])),
  platform: 'node',
  external: isExternal,
  plugins: [clientOfUndici, withoutNeverAsked, shrinkPackages, passLicencesOn('chunks/LICENSES.txt')],
  transform: realTimers,
  treeshake: {
    moduleSideEffects: [
      { test: /[\\/]zod[\\/]/, sideEffects: false },
      // Its only side effect is loading a library early, which the library requires.
      { test: /[\\/]http[\\/]listen\.ts$/, sideEffects: true },
    ],
  },
  // The declarations carry the doc comments.
  output: {
    dir: 'dist',
    format: 'esm',
    // rolldown names a chunk of packages after all its importers.
    chunkFileNames: ({ name }) => `chunks/${name.split('~', 1)[0]}-[hash].js`,
    codeSplitting: { groups: [{ name: 'packages', test: isPackaged, entriesAware: true }] },
    comments: { legal: true, annotation: true, jsdoc: false },
  },
}

/** One file each, so that loaded alone it reads no other: an ES module, and one of CommonJS, which Jest loads by default. */
const signature = (name, platform) =>
  [
    { file: `dist/signature/${name}.js`, format: 'esm' },
    { file: `dist/signature/${name}.cjs`, format: 'cjs' },
  ].map((output) => ({ input: `src/signature/${name}.ts`, platform, output }))

/** Bundles for browsers. */
const page = (name, input) => ({
  input,
  platform: 'browser',
  plugins: [passLicencesOn(`${name}.js.LICENSE.txt`)],
  output: { file: `dist/pages/assets/${name}.js`, format: 'esm', minify: true },
})

await build([
  program,
  ...signature('node', 'node'),
  ...signature('web', 'neutral'),
  page('guest', 'src/pages/browser/guest/main.tsx'),
  page('inspector', 'src/pages/browser/inspector/main.tsx'),
])

dropUnreachableDeclarations()
for (const name of ['node', 'web']) flattenDeclarations(`dist/signature/${name}`)

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/

/** Writes the licences of bundled packages, which require it: each text once, below the packages that it covers. */
export const passLicencesOn = (fileName) => ({
  name: 'pass-licences-on',
  generateBundle(_options, bundle) {
    const ids = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds.filter(isPackaged))
    const directories = new Set(ids.flatMap((id) => PACKAGE.exec(id) ?? []))
    this.emitFile({ type: 'asset', fileName, source: licencesOf([...directories]) })
  },
})

/**
 * Returns the licences of packages in these directories: each text once. Packages without a text are listed by the
 * `license` field, unless they need a text.
 */
export function licencesOf(directories, needsText = true) {
  const holders = {}
  for (const { holder, terms } of directories
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((directory) => licenceOf(directory, needsText)))
    (holders[terms] ??= []).push(holder)
  const texts = Object.entries(holders).map(([terms, packages]) => `${packages.join('\n')}\n\n${terms}\n`)
  return texts.join('\n\n')
}

/** Returns a licence's copyright holder and terms, without differences in line breaks. */
function licenceOf(directory, needsText) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const file = readdirSync(directory).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined && !needsText)
    return { holder: `${name} ${version}`, terms: `${license ?? 'No licence is named.'}` }
  if (file === undefined) throw new Error(`${name} is built in and has no licence to pass on.`)
  const paragraphs = readFileSync(join(directory, file), 'utf8').split(/\n\s*\n/)
  const texts = paragraphs.map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
  const rights = texts.filter((text) => /^copyright\b/i.test(text))
  const terms = texts.filter(
    (text) => !rights.includes(text) && !/^(the )?(mit|isc) licen[cs]e( \(.*\))?$/i.test(text),
  )
  return { holder: [`${name} ${version}`, ...rights].join('. '), terms: terms.join('\n\n').trim() }
}

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
