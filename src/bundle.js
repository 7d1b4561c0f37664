import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'
import { dropUnreachableDeclarations, flattenDeclarations } from './bundle/declarations.js'
import { passLicencesOn } from './bundle/licences.js'
import {
  clientOfUndici,
  isExternal,
  isPackaged,
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
    codeSplitting: { groups: [{ name: 'packages', test: isPackaged, entriesAware: true }] },
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
