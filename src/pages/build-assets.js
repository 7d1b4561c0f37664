/* Writes each page's stylesheet into dist/pages/assets, then compresses scripts and stylesheets there. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { transform } from 'lightningcss'

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

/** Rules of uPlot for a legend, titles and points, which the charts do not have. */
const legend = /(?<=\})[^{},]*\.u-(?:legend|inline|series|title|cursor-pt)[^{},]*\{[^}]*\}/g

mkdirSync(target, { recursive: true })
for (const [name, styles] of Object.entries(pages)) {
  const code = Buffer.from(styles.map((path) => readFileSync(path, 'utf8').replace(legend, '')).join(''))
  writeFileSync(`${target}${name}.css`, transform({ filename: `${name}.css`, code, minify: true }).code)
}

for (const file of readdirSync(target).filter((name) => /\.(css|js)$/.test(name))) {
  writeFileSync(`${target}${file}.br`, brotliCompressSync(readFileSync(target + file)))
  rmSync(target + file)
}
