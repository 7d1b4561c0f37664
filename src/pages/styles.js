/* Writes each page's stylesheet, and the script of the API reference, into dist/pages/assets. */
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

// The explorer component is published as one bundled file.
copyFileSync(packaged('openapi-explorer/dist/browser/openapi-explorer.min.js'), `${target}reference.js`)
writeFileSync(
  `${target}reference.js.LICENSE.txt`,
  licencesOf([...withDependencies('openapi-explorer')], false),
)

/** Removes comments, except licences, and indentation: a tenth of the guest page's compressed style. */
function compact(css) {
  return css.replace(/\/\*[^!][\s\S]*?\*\//g, '').replace(/\s*\n\s*/g, '\n')
}

/** Returns the directories of a package and its installed dependencies, all of which its bundled file may contain. */
function withDependencies(name, known = new Set()) {
  const directory = packaged(name)
  if (known.has(directory) || !existsSync(directory)) return known
  known.add(directory)
  const { dependencies = {} } = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8'))
  for (const dependency of Object.keys(dependencies)) withDependencies(dependency, known)
  return known
}
