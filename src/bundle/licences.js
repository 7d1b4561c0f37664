import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPackaged } from './packages.js'

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
