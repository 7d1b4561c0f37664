// `npm run --silent release-notes [version]` prints what CHANGELOG.md says of a version; of the package's own by default.
import { readFileSync } from 'node:fs'

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const wanted = (process.argv[2] ?? JSON.parse(read('package.json')).version).replace(/^v(?=\d)/, '')
// Links of versions stand at the end of the file, and are no notes.
const [, ...sections] = read('CHANGELOG.md')
  .replace(/^\[[^\]]+\]: .*$/gm, '')
  .split(/^## /m)
const nameOf = (section) => /^\[?([^\]\s]+)/.exec(section)?.[1] ?? ''
const found = sections.find((section) => nameOf(section).toLowerCase() === wanted.toLowerCase())
const notes = found?.replace(/^.*\n/, '').trim() ?? ''

if (notes !== '') process.stdout.write(`${notes}\n`)
else {
  const names = sections.map(nameOf).join(', ')
  process.stderr.write(`CHANGELOG.md has no section ${wanted}. Sections: ${names}.\n`)
  process.exitCode = 1
}
