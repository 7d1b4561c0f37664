/* Writes each page's stylesheet into dist/pages/assets. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const packaged = (path) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url))
const target = here('../../dist/pages/assets/')

const style = (name) => here(`style/${name}.css`)
const pages = {
  guest: [style('tokens'), style('guest')],
  docs: [style('tokens'), style('docs')],
  inspector: [
    style('tokens'),
    packaged('uplot/dist/uPlot.min.css'),
    style('inspector/base'),
    style('inspector/list'),
    style('inspector/detail'),
    style('inspector/views'),
    style('inspector/narrow'),
    style('inspector/print'),
  ],
}

mkdirSync(target, { recursive: true })
for (const [name, styles] of Object.entries(pages))
  writeFileSync(`${target}${name}.css`, styles.map((path) => compact(readFileSync(path, 'utf8'))).join('\n'))

/** Removes comments, except licences, and indentation: a tenth of the guest page's compressed style. */
function compact(css) {
  return css.replace(/\/\*[^!][\s\S]*?\*\//g, '').replace(/\s*\n\s*/g, '\n')
}
