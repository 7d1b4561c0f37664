import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'
import {
  clientOfUndici,
  isExternal,
  isPackaged,
  passLicencesOn,
  patchOclif,
  shrinkPackages,
  withoutNeverAsked,
  withoutSchemaValidator,
  withoutUnusedPlots,
} from './bundle/packages.js'

/*
 * Builds the JavaScript of dist. Hundreds of small files take longer to load than most commands take to run. So each
 * command is one file, with chunks for shared code.
 */

const commands = readdirSync('src/commands', { recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('commands', file.slice(0, -'.ts'.length)).replaceAll('\\', '/'))

/** Number of commands from which on a chunk is one that most commands load. */
const most = commands.length / 2

/** Entry points by their path in dist, without extension. Tests that watch system calls load the store alone. */
const entries = [
  ...commands,
  'cli/program',
  'cli/unknown-command',
  'cli/help',
  'client',
  'index',
  'msw/index',
  'store/file-store',
  'vitest/index',
]

/** Makes bundled packages use the timers of `src/timers.ts`, which fake timers of tests do not replace. */
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
  plugins: [
    clientOfUndici,
    withoutNeverAsked,
    withoutSchemaValidator,
    patchOclif,
    shrinkPackages,
    passLicencesOn('chunks/LICENSES.txt'),
  ],
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
    codeSplitting: {
      groups: [
        { name: 'packages', test: isPackaged, entriesAware: true },
        // The command line's part of most commands is one file; what it shares with the library is beside it.
        { name: 'common', test: /[\\/]src[\\/](?!cli[\\/])/, minShareCount: most, entriesAware: true },
        { name: 'cli', minShareCount: most },
      ],
    },
    comments: { legal: true, annotation: true, jsdoc: false },
  },
}

/** Builds one file each, which loads no other: an ES module, and CommonJS, which Jest loads by default. */
const signature = (name, platform) =>
  [
    { file: `dist/signature/${name}.js`, format: 'esm' },
    { file: `dist/signature/${name}.cjs`, format: 'cjs' },
  ].map((output) => ({ input: `src/signature/${name}.ts`, platform, output }))

/** Bundles for browsers. */
const page = (name, input) => ({
  input,
  platform: 'browser',
  plugins: [withoutUnusedPlots, passLicencesOn(`${name}.js.LICENSE.txt`)],
  output: {
    file: `dist/pages/assets/${name}.js`,
    format: 'esm',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  },
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

/** Removes declarations that no export reaches: users cannot name their types. */
function dropUnreachableDeclarations() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const reached = new Set()
  const waiting = Object.values(exports).flatMap(({ types, import: { types: ofModule = types } = {} }) =>
    ofModule === undefined ? [] : [join(ofModule)],
  )
  for (const path of waiting) {
    if (reached.has(path)) continue
    reached.add(path)
    removeBareImports(path)
    waiting.push(...importsOf(path))
  }
  for (const file of readdirSync('dist', { recursive: true })) {
    const path = join('dist', file)
    if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path)
  }
}

/** Removes imports without names from declarations, because they declare nothing. */
function removeBareImports(path) {
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^import ['"]\.[^'"]+['"];?\n/gm, ''))
}

/** Returns the files that a declaration imports names from. */
function importsOf(path) {
  const names = readFileSync(path, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)
  return [...names].map(([, name]) => join(path, '..', name.replace(/(?<!\.d)\.ts$/, '.d.ts')))
}

/**
 * Writes the declarations of `entry` and all that it imports into one file, `<entry>.d.cts`: a declaration of CommonJS may
 * not import those of ES modules. Every name is declared once among them, which the compiler checks in a test.
 */
function flattenDeclarations(entry) {
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
