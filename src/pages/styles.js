/* Puts into dist/pages/assets what the pages load beside their scripts: one style for each. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
  guest: [style('tokens'), here('guest.css')],
  reference: [style('tokens'), here('reference.css')],
  inspector: [
    style('tokens'),
    packaged('uplot/dist/uPlot.min.css'),
    ...inspectorStyles.map((name) => style(`inspector/${name}`)),
  ],
}

mkdirSync(target, { recursive: true })
for (const [name, styles] of Object.entries(pages))
  writeFileSync(`${target}${name}.css`, styles.map((path) => readFileSync(path, 'utf8')).join('\n'))

// The reference page is a component that comes as one file already.
copyFileSync(packaged('openapi-explorer/dist/browser/openapi-explorer.min.js'), `${target}reference.js`)
copyFileSync(packaged('openapi-explorer/LICENSE'), `${target}reference.js.LICENSE.txt`)
