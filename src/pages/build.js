/* Bundles what the pages load into dist/pages/assets: a script and a style for each, with nothing left to fetch. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const packaged = (path) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url))
const target = here('../../dist/pages/assets/')

const style = (name) => here(`style/${name}.css`)
const inspectorStyles = [
  'base',
  'buttons',
  'locked',
  'bar',
  'list',
  'badge',
  'detail',
  'timeline',
  'controls',
  'dialog',
  'chart',
  'narrow',
]

const pages = {
  guest: { script: here('browser/main.ts'), styles: [style('tokens'), here('guest.css')] },
  inspector: {
    script: here('browser/inspector/main.tsx'),
    styles: [
      style('tokens'),
      packaged('uplot/dist/uPlot.min.css'),
      ...inspectorStyles.map((name) => style(`inspector/${name}`)),
    ],
  },
}

mkdirSync(target, { recursive: true })
for (const [name, { script, styles }] of Object.entries(pages)) {
  await build({
    input: script,
    platform: 'browser',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    output: { file: `${target}${name}.js`, format: 'esm', minify: true },
    logLevel: 'silent',
  })
  writeFileSync(`${target}${name}.css`, styles.map((path) => readFileSync(path, 'utf8')).join('\n'))
}

// The reference page is a component that comes as one file already.
copyFileSync(packaged('openapi-explorer/dist/browser/openapi-explorer.min.js'), `${target}reference.js`)
copyFileSync(packaged('openapi-explorer/LICENSE'), `${target}reference.js.LICENSE.txt`)
copyFileSync(here('reference.css'), `${target}reference.css`)
