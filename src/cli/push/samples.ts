import { readdir } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMeanSentence } from '../../model/text/advice.ts'
import { packageFile } from '../../package-file.ts'
import { usageError } from '../errors.ts'
import { readInput } from '../files/input.ts'
import type { PushBody } from './bodies.ts'

/** Purpose of each built-in sample, by name: the base name of its file, or of the folder with its pushes. */
const purposes: Readonly<Record<string, string>> = {
  'two-top': 'Two guests, four items, two notes',
  'just-seated': 'No items yet',
  'bar-tab': 'A bar tab that grows with each push',
  close: 'An open check, then closed',
  void: 'An item is removed',
  'move-to-another-table': 'The check moves to another table',
  'tax-exclusive': 'Tax on top of the prices',
  'tax-inclusive': 'Prices include tax',
  'tax-inclusive-net-subtotal': 'Prices include tax; the subtotal does not',
  'discount-line': 'A discount as an item with a negative price',
  'comped-item': 'An item at no charge',
  'service-charge-as-line': 'A service charge as an item',
  'service-charge-outside-lines': 'A service charge in the total only',
  'weighed-goods': 'Fractional quantities',
  'banquet-of-120-lines': 'A large check',
  'names-in-arabic': 'Arabic names',
  'names-in-japanese': 'Japanese names',
  'names-with-emoji': 'Names with emoji',
}

/** A built-in check: one push, or several of the same check in order. */
export interface Sample {
  name: string
  purpose: string
  /** Absolute paths of the pushes, in order. */
  files: string[]
}

const folder = fileURLToPath(packageFile('fixtures/checks/'))

/** Returns true for the name of a built-in sample. */
export function isSample(name: string): boolean {
  return Object.hasOwn(purposes, name)
}

/** Returns the built-in samples, simple ones first. */
export function readSamples(): Promise<Sample[]> {
  return Promise.all(
    Object.entries(purposes).map(async ([name, purpose]) => ({ name, purpose, files: await filesOf(name) })),
  )
}

/**
 * Returns a sample by name; `given` is the argument that errors name.
 * @throws CommandError (usage) with the names of all samples.
 */
export async function readSample(name: string, given: 'NAME' | '--sample'): Promise<Sample> {
  const purpose = isSample(name) ? purposes[name] : undefined
  if (purpose !== undefined) return { name, purpose, files: await filesOf(name) }
  const names = Object.keys(purposes)
  throw usageError(
    `${given} must be a built-in sample, got ${JSON.stringify(name)}.${didYouMeanSentence(name, names)} Samples: ${names.join(', ')}.`,
  )
}

/** Returns the body of a plain check, the sample `two-top`. */
export async function readExampleCheck(): Promise<PushBody> {
  const text = await readInput(relative('', `${folder}two-top.json`))
  const { $schema: _schema, ...body } = JSON.parse(text.toString()) as PushBody & { $schema: string }
  return body
}

async function filesOf(name: string): Promise<string[]> {
  const entries = await readdir(folder)
  if (!entries.includes(name)) return [`${folder}${name}.json`]
  const pushes = await readdir(`${folder}${name}`)
  return pushes.sort().map((file) => `${folder}${name}/${file}`)
}
