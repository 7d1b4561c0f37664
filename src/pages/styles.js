/* Puts into dist/pages/assets what the pages load beside their scripts: one style for each. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { licencesOf } from '../bundle/licences.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const packaged = (path) => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url))
const target = here('../../dist/pages/assets/')

const style = (name) => here(`style/${name}.css`)
const pages = {
  guest: [style('tokens'), style('guest')],
  reference: [style('tokens'), style('reference')],
  inspector: [
    style('tokens'),
    packaged('uplot/dist/uPlot.min.css'),
    style('inspector/base'),
    style('inspector/list'),
    style('inspector/detail'),
    style('inspector/narrow'),
  ],
}

mkdirSync(target, { recursive: true })
for (const [name, styles] of Object.entries(pages))
  writeFileSync(`${target}${name}.css`, styles.map((path) => compact(readFileSync(path, 'utf8'))).join('\n'))

// The reference page is a component that comes as one file already.
copyFileSync(packaged('openapi-explorer/dist/browser/openapi-explorer.min.js'), `${target}reference.js`)
writeFileSync(
  `${target}reference.js.LICENSE.txt`,
  licencesOf([...withDependencies('openapi-explorer')], false),
)

/** Removes comments, but no licences, and white space around lines: a tenth of the guest page's style over the wire. */
function compact(css) {
  return css.replace(/\/\*[^!][\s\S]*?\*\//g, '').replace(/\s*\n\s*/g, '\n')
}

/** The directories of a package and of all that it depends on, as far as it is installed: any of it may be in its one file. */
function withDependencies(name, known = new Set()) {
  const directory = packaged(name)
  if (known.has(directory) || !existsSync(directory)) return known
  known.add(directory)
  const { dependencies = {} } = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8'))
  for (const dependency of Object.keys(dependencies)) withDependencies(dependency, known)
  return known
}
